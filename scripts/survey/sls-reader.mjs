// Reads state declarations and function calls from SLS and template text, without rendering it.

/** The text without its Jinja: comments and statements blank (both branches of an `if` stay), expressions one word. */
export function blankJinja(text) {
  return text
    .replace(/\{#[\s\S]*?#\}/g, (found) => found.replace(/[^\n]/g, ''))
    .replace(/\{%[\s\S]*?%\}/g, (found) => found.replace(/[^\n]/g, ' '))
    .replace(/\{\{[\s\S]*?\}\}/g, (found) => `JINJA${found.replace(/[^\n]/g, '')}`)
    .replace(/^\s*#.*$/gm, '');
}

const indentOf = (line) => line.length - line.trimStart().length;

/** Lines with something in them, without the bodies of block scalars (`contents: |`), which are data. */
function structure(text) {
  const lines = [];
  let scalar = -1;
  for (const raw of blankJinja(text).split('\n')) {
    const line = raw.trimEnd();
    if (line === '') continue;
    const indent = indentOf(line);
    if (scalar >= 0 && indent > scalar) continue;
    scalar = /[:-]\s+[|>][-+0-9]*(\s+#.*)?$/.test(line) ? indent : -1;
    lines.push({ indent, text: line.trim().replace(/\s+#.*$/, '') });
  }
  return lines;
}

/** The lines that belong to the key at `at`: deeper lines, and list items at the key's own depth. */
function bodyOf(lines, at) {
  const body = [];
  for (let i = at + 1; i < lines.length; i++) {
    const { indent, text } = lines[i];
    if (indent < lines[at].indent || (indent === lines[at].indent && !text.startsWith('- '))) break;
    body.push(lines[i]);
  }
  return body;
}

const unquote = (text) => text.replace(/^(['"])(.*)\1$/, '$2');

/** The key of a declaration: its ID. */
function idOf(lines, at) {
  for (let i = at - 1; i >= 0; i--) {
    if (lines[i].indent < lines[at].indent && !lines[i].text.startsWith('- '))
      return unquote(lines[i].text.replace(/:$/, ''));
  }
  return '';
}

const keyed = /^['"]?([a-z0-9_]+\.[a-zA-Z0-9_]+)['"]?:?(\s*\[\s*\])?$/;
const short = /^\S.*?:\s+['"]?([a-z0-9_]+\.[a-z0-9_]+)['"]?$/;
const chosen = /^['"]?[a-z0-9_]+\.[a-z0-9_]*JINJA['"]?:?$/;

/** Functions of the old form: `pkg:` with a bare `- installed` among its items. */
function splitForm(lines, at, module, isState) {
  const body = bodyOf(lines, at);
  const depth = Math.min(...body.map(({ indent }) => indent));
  for (const { indent, text } of body) {
    const item = indent === depth && /^- ['"]?([a-z0-9_]+)['"]?$/.exec(text);
    if (item && isState(`${module}.${item[1]}`)) return `${module}.${item[1]}`;
  }
  return undefined;
}

/** Every declaration: `{fun, body, id}`; `unresolved` counts those whose function Jinja chooses. */
export function declarations(text, isState) {
  const lines = structure(text);
  const found = [];
  let unresolved = 0;
  for (const [at, { indent, text: line }] of lines.entries()) {
    if (line.startsWith('- ')) continue;
    if (chosen.test(line)) unresolved += 1;
    const name = keyed.exec(line)?.[1] ?? (indent === 0 ? short.exec(line)?.[1] : undefined);
    const bare = /^([a-z0-9_]+):$/.exec(line)?.[1];
    // At the outermost level a key is an ID, even when it looks like a function.
    const fun = name && (indent > 0 || short.test(line)) ? name : bare && splitForm(lines, at, bare, isState);
    if (fun && isState(fun)) found.push({ fun, body: bodyOf(lines, at), id: idOf(lines, at) });
  }
  return { found, unresolved };
}

const callers = new Set(['module.run', 'module.wait', 'module.watch', 'salt.function']);

/** Execution functions that states name: `module.run`, `module.wait` and `salt.function`, in every form. */
export function namedByStates(found, isFunction) {
  const named = [];
  for (const { fun, body, id } of found) {
    if (!callers.has(fun)) continue;
    const own = body
      .map(({ text }) => /^- (?:(?:m_)?name:\s*)?['"]?([a-z0-9_]+\.[a-zA-Z0-9_]+)['"]?:?$/.exec(text)?.[1])
      .filter((name) => name && isFunction(name));
    named.push(...(own.length > 0 ? own : [id].filter(isFunction)));
  }
  return named;
}

/** Execution functions in the `fun:` form of `unless` and `onlyif`, and in slots. */
export function namedByConditions(text, isFunction) {
  const found = [...blankJinja(text).matchAll(/^\s*-\s+fun:\s*['"]?([a-z0-9_]+\.[a-zA-Z0-9_]+)['"]?\s*$/gm)];
  found.push(...text.matchAll(/__slot__:salt:([a-z0-9_]+\.[a-zA-Z0-9_]+)\(/g));
  return found.map(([, name]) => name).filter(isFunction);
}

/** Execution functions called from Jinja: `salt['x.y']`, `salt.x.y(`, `salt.get('x.y')`. */
export function calledFromJinja(text, isFunction) {
  const called = [];
  for (const [tag] of text.replace(/\{#[\s\S]*?#\}/g, '').matchAll(/\{[{%][\s\S]*?[}%]\}/g)) {
    for (const [, a, b] of tag.matchAll(/\bsalt\s*(?:\[\s*['"]([\w.]+)['"]\s*\]|\.get\(\s*['"]([\w.]+)['"])/g)) {
      called.push(a ?? b);
    }
    for (const [, name] of tag.matchAll(/\bsalt\.([a-z0-9_]+\.[a-zA-Z0-9_]+)\s*\(/g)) called.push(name);
  }
  return called.filter(isFunction);
}

/** The same for SLS written in Python (`#!py`): keys of dictionaries, and calls through `__salt__`. */
export function pythonSls(text, isState, isFunction) {
  const all = (pattern) => [...text.matchAll(pattern)].map(([, name]) => name);
  return {
    states: all(/['"]([a-z0-9_]+\.[a-z0-9_]+)['"]\s*[:,]/g).filter(isState),
    modules: all(/__salt__\[\s*['"]([\w.]+)['"]\s*\]/g).filter(isFunction),
  };
}
