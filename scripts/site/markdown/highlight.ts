// Code with a little colour: comments, texts, names, and the prompts of terminals.
import { escapeHtml } from './inline.ts';

const shell = new Set(['sh', 'bash', 'shell']);
const words: Readonly<Record<string, string>> = {
  ts: 'import export from const let function return interface type class extends new await async if else for of in readonly default throw true false null undefined',
  python: 'import from def return class if else elif for in not and or None True False with as raise try except',
  sql: 'SELECT FROM WHERE GROUP BY ORDER AND OR AS count INSERT INTO VALUES CREATE TABLE LIMIT',
  json: 'true false null',
  yaml: 'true false null True False',
};
const aliases: Readonly<Record<string, string>> = {
  js: 'ts',
  typescript: 'ts',
  javascript: 'ts',
  py: 'python',
  yml: 'yaml',
  sls: 'yaml',
};

const mark = (name: string, text: string): string => `<span class="${name}">${escapeHtml(text)}</span>`;

/** `$ salt …` and `# salt …` are typed, everything else in the block is printed. */
const isTerminal = (text: string): boolean => /^\$ /m.test(text) || /^# (salt|halite|systemctl|apt|dnf)/m.test(text);

export function codeHtml(language: string, text: string): string {
  const name = aliases[language] ?? language;
  const terminal = (name === '' || shell.has(name) || name === 'console') && isTerminal(text);
  const inside = terminal ? terminalHtml(text) : textHtml(name, text);
  return `<div class="code"><pre tabindex="0"><code>${inside}</code></pre></div>`;
}

/** A line that ends with a backslash goes on in the next one. */
function terminalHtml(text: string): string {
  let goesOn = false;
  return text
    .split('\n')
    .map((line) => {
      const typed = /^([$#] )(.*)$/.exec(line);
      if (!typed && !goesOn) return mark('out', line);
      goesOn = line.endsWith('\\');
      const [prompt, command] = typed ? [typed[1]!, typed[2]!] : ['', line];
      return `${prompt === '' ? '' : mark('prompt', prompt)}<span class="typed">${commandHtml(command)}</span>`;
    })
    .join('\n');
}

function commandHtml(command: string): string {
  const [, before = command, comment = ''] = /^(.*?)(\s{2,}#.*|\s#\s.*)?$/.exec(command) ?? [];
  return escapeHtml(before) + (comment === '' ? '' : mark('comment', comment));
}

function textHtml(language: string, text: string): string {
  if (language === '' || shell.has(language)) return text.split('\n').map(commandLine).join('\n');
  if (language === 'yaml') return text.split('\n').map(yamlLine).join('\n');
  const known = words[language];
  return known === undefined ? escapeHtml(text) : tokensHtml(text, new Set(known.split(' ')), language);
}

const commandLine = (line: string): string => (/^\s*#/.test(line) ? mark('comment', line) : commandHtml(line));

function yamlLine(line: string): string {
  const [, before = line, comment = ''] = /^(.*?)((?:^|\s)#.*)?$/.exec(line) ?? [];
  const key = /^(\s*(?:- )*)((?:[^\s:'"{}[\]#][^:{}'"]*|'[^']*'|"[^"]*"))(:)(?=\s|$)(.*)$/.exec(before);
  const inside = key ? `${escapeHtml(key[1]!)}${mark('name', key[2]!)}:${escapeHtml(key[4]!)}` : escapeHtml(before);
  return inside + (comment === '' ? '' : mark('comment', comment));
}

const pieces =
  /(\/\*[\s\S]*?\*\/|\/\/[^\n]*)|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|([A-Za-z_]\w*)|(#[^\n]*)/g;

function tokensHtml(text: string, keywords: ReadonlySet<string>, language: string): string {
  let html = '';
  let at = 0;
  for (const found of text.matchAll(pieces)) {
    const [all, comment, quoted, word] = found;
    html += escapeHtml(text.slice(at, found.index));
    at = found.index + all.length;
    if (comment !== undefined) html += language === 'python' ? escapeHtml(all) : mark('comment', all);
    else if (quoted !== undefined) html += mark('text', all);
    else if (word !== undefined) html += keywords.has(word) ? mark('word', all) : escapeHtml(all);
    else html += language === 'python' ? mark('comment', all) : escapeHtml(all);
  }
  return html + escapeHtml(text.slice(at));
}
