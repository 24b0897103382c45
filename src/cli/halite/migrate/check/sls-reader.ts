// Reads state declarations and function calls from SLS and template text, without rendering it: both branches of every
// condition count. Also used by scripts/survey.

type IsFunction = (name: string) => boolean;

interface Line {
  readonly indent: number;
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

/** A name of a function and the line where it stands. */
export interface Named {
  readonly name: string;
  readonly line: number;
}

export interface Declaration {
  readonly fun: string;
  readonly line: number;
  readonly body: readonly Line[];
  readonly id: string;
}

const blankLines = (found: string): string => found.replace(/[^\n]/g, '');

/** The text without its Jinja: comments and statements blank (both branches of an `if` stay), expressions one word. */
function blankJinja(text: string): string {
  return text
    .replace(/\{#[\s\S]*?#\}/g, blankLines)
    .replace(/\{%[\s\S]*?%\}/g, (found) => found.replace(/[^\n]/g, ' '))
    .replace(/\{\{[\s\S]*?\}\}/g, (found) => `JINJA${blankLines(found)}`)
    .replace(/^[^\S\n]*#.*$/gm, '');
}

/** The line of a place in a text that is asked for in rising order. */
function lineCounter(text: string): (at: number) => number {
  let line = 1;
  let done = 0;
  return (at) => {
    for (; done < at; done++) if (text.charCodeAt(done) === 10) line++;
    return line;
  };
}

/** Lines with something in them, without the bodies of block scalars (`contents: |`), which are data. */
function structure(text: string): Line[] {
  const lines: Line[] = [];
  let scalar = -1;
  for (const [at, raw] of blankJinja(text).split('\n').entries()) {
    const line = raw.trimEnd();
    if (line === '') continue;
    const indent = line.length - line.trimStart().length;
    if (scalar >= 0 && indent > scalar) continue;
    scalar = /[:-]\s+[|>][-+0-9]*(\s+#.*)?$/.test(line) ? indent : -1;
    lines.push({ indent, text: line.trim().replace(/\s+#.*$/, ''), line: at + 1 });
  }
  return lines;
}

/** The lines that belong to the key at `at`: deeper lines, and list items at the key's own depth. */
function bodyOf(lines: readonly Line[], at: number): Line[] {
  const body: Line[] = [];
  const own = lines[at]?.indent ?? 0;
  for (const next of lines.slice(at + 1)) {
    if (next.indent < own || (next.indent === own && !next.text.startsWith('- '))) break;
    body.push(next);
  }
  return body;
}

const unquote = (text: string): string => text.replace(/^(['"])(.*)\1$/, '$2');

/** The key of a declaration: its ID. */
function idOf(lines: readonly Line[], at: number): string {
  const own = lines[at]?.indent ?? 0;
  for (let i = at - 1; i >= 0; i--) {
    const { indent, text } = lines[i] as Line;
    if (indent < own && !text.startsWith('- ')) return unquote(text.replace(/:$/, ''));
  }
  return '';
}

const keyed = /^['"]?([a-z0-9_]+\.[a-zA-Z0-9_]+)['"]?:?(\s*\[\s*\])?$/;
const short = /^\S.*?:\s+['"]?([a-z0-9_]+\.[a-z0-9_]+)['"]?$/;
const chosen = /^['"]?[a-z0-9_]+\.[a-z0-9_]*JINJA['"]?:?$/;

/** Functions of the old form: `pkg:` with a bare `- installed` among its items. */
function splitForm(body: readonly Line[], module: string, isState: IsFunction): string | undefined {
  const depth = Math.min(...body.map(({ indent }) => indent));
  for (const { indent, text } of body) {
    const item = indent === depth ? /^- ['"]?([a-z0-9_]+)['"]?$/.exec(text) : null;
    if (item && isState(`${module}.${item[1]}`)) return `${module}.${item[1]}`;
  }
  return undefined;
}

/** Every declaration; `unresolved` are those whose function Jinja chooses. */
export function declarations(
  text: string,
  isState: IsFunction,
): { readonly found: Declaration[]; readonly unresolved: Named[] } {
  const lines = structure(text);
  const found: Declaration[] = [];
  const unresolved: Named[] = [];
  for (const [at, { indent, text: said, line }] of lines.entries()) {
    if (said.startsWith('- ')) continue;
    if (chosen.test(said)) unresolved.push({ name: said.replace(/:$/, '').replace('JINJA', '{{…}}'), line });
    const name = keyed.exec(said)?.[1] ?? (indent === 0 ? short.exec(said)?.[1] : undefined);
    const bare = /^([a-z0-9_]+):$/.exec(said)?.[1];
    const body = bodyOf(lines, at);
    // At the outermost level a key is an ID, even when it looks like a function.
    const fun =
      name !== undefined && (indent > 0 || short.test(said))
        ? name
        : bare === undefined
          ? undefined
          : splitForm(body, bare, isState);
    if (fun !== undefined && isState(fun)) found.push({ fun, line, body, id: idOf(lines, at) });
  }
  return { found, unresolved };
}

const callers = new Set(['module.run', 'module.wait', 'module.watch', 'salt.function']);

/** Execution functions that states name: `module.run`, `module.wait` and `salt.function`, in every form. */
export function namedByStates(found: readonly Declaration[], isFunction: IsFunction): Named[] {
  return found.flatMap(({ fun, body, id, line }) => {
    if (!callers.has(fun)) return [];
    const own = body.flatMap((item): Named[] => {
      const name = /^- (?:(?:m_)?name:\s*)?['"]?([a-z0-9_]+\.[a-zA-Z0-9_]+)['"]?:?$/.exec(item.text)?.[1];
      return name !== undefined && isFunction(name) ? [{ name, line: item.line }] : [];
    });
    return own.length > 0 ? own : isFunction(id) ? [{ name: id, line }] : [];
  });
}

function allOf(text: string, pattern: RegExp): Named[] {
  const lineAt = lineCounter(text);
  return [...text.matchAll(pattern)].map((match) => ({
    name: match.slice(1).find((part) => part !== undefined) ?? '',
    line: lineAt(match.index),
  }));
}

/** Execution functions in the `fun:` form of `unless` and `onlyif`, and in slots. */
export function namedByConditions(text: string, isFunction: IsFunction): Named[] {
  return [
    ...allOf(blankJinja(text), /^[^\S\n]*-[^\S\n]+fun:[^\S\n]*['"]?([a-z0-9_]+\.[a-zA-Z0-9_]+)['"]?[^\S\n]*$/gm),
    ...allOf(text, /__slot__:salt:([a-z0-9_]+\.[a-zA-Z0-9_]+)\(/g),
  ].filter(({ name }) => isFunction(name));
}

/** Execution functions called from Jinja: `salt['x.y']`, `salt.x.y(`, `salt.get('x.y')`. */
export function calledFromJinja(text: string, isFunction: IsFunction): Named[] {
  const plain = text.replace(/\{#[\s\S]*?#\}/g, blankLines);
  const lineAt = lineCounter(plain);
  const called: Named[] = [];
  for (const tag of plain.matchAll(/\{[{%][\s\S]*?[}%]\}/g)) {
    const first = lineAt(tag.index);
    const inside = [
      ...allOf(tag[0], /\bsalt\s*(?:\[\s*['"]([\w.]+)['"]\s*\]|\.get\(\s*['"]([\w.]+)['"])/g),
      ...allOf(tag[0], /\bsalt\.([a-z0-9_]+\.[a-zA-Z0-9_]+)\s*\(/g),
    ];
    for (const { name, line } of inside) if (isFunction(name)) called.push({ name, line: first + line - 1 });
  }
  return called;
}

/** The same for SLS written in Python (`#!py`): keys of dictionaries, and calls through `__salt__`. */
export function pythonSls(
  text: string,
  isState: IsFunction,
  isFunction: IsFunction,
): { readonly states: Named[]; readonly modules: Named[] } {
  return {
    states: allOf(text, /['"]([a-z0-9_]+\.[a-z0-9_]+)['"]\s*[:,]/g).filter(({ name }) => isState(name)),
    modules: allOf(text, /__salt__\[\s*['"]([\w.]+)['"]\s*\]/g).filter(({ name }) => isFunction(name)),
  };
}
