// Execution module `logrotate`: reads and changes the configuration of logrotate.

import { join } from 'node:path';
import {
  defineModule,
  dictGet,
  fn,
  invocationError,
  isDict,
  isTruthy,
  newDict,
  type PlainDict,
  p,
  pyStr,
  pythonError,
  type Value,
} from 'halite/sdk';
import { osError, readdirSync, readFileSync } from 'halite/sdk/fs';
import { words } from 'halite/sdk/text';

const standard = '/etc/logrotate.conf';
/** Directives that start a script, up to `endscript`. */
const scripts = new Set(['firstaction', 'lastaction', 'prerotate', 'postrotate', 'preremove']);

const settingOf = (parts: readonly string[]): Value => {
  if (parts.length > 2) return parts.slice(1).join(' ');
  const value = parts[1];
  if (value === undefined) return true;
  return /^[-+]?\d+$/.test(value) ? Number(value) : value;
};

/** Files of an included folder add their settings, and are listed with what they set. */
function include(folder: string, into: PlainDict): void {
  into['include files'] ??= newDict();
  const files = into['include files'] as PlainDict;
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    throw osError(error, folder);
  }
  for (const name of names) {
    const found = parse(join(folder, name));
    files[name] = [...((files[name] as Value[] | undefined) ?? []), ...Object.keys(found)];
    Object.assign(into, found);
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw osError(error, path);
  }
}

/** Settings by name; those in braces as a map below each name before the brace. */
function parse(path: string): PlainDict {
  const all = newDict();
  let block: { names: readonly string[]; settings: PlainDict } | undefined;
  let before: string[] = [];
  let script: { name: string; lines: string[] } | undefined;
  for (const line of textOf(path)
    .split('\n')
    .map((row) => row.trim())) {
    const target = block?.settings ?? all;
    if (script) {
      if (line === 'endscript') {
        target[script.name] = script.lines;
        script = undefined;
      } else script.lines.push(line);
      continue;
    }
    if (line === '' || line.startsWith('#')) continue;
    const parts = words(line);
    const first = parts[0] as string;
    if (line.includes('{') && !line.includes('}')) {
      block = { names: parts.length === 1 && before.length > 0 ? before : parts.slice(0, -1), settings: newDict() };
    } else if (line.includes('}')) {
      for (const name of block?.names ?? []) all[name] = block!.settings;
      block = undefined;
    } else if (scripts.has(first) && parts.length === 1) script = { name: first, lines: [] };
    else {
      if (first === 'include') include(parts[1] ?? '', all);
      before = parts;
      target[first] = settingOf(parts);
    }
  }
  return all;
}

function stanzaText(key: string, stanza: PlainDict): string {
  const rows = Object.entries(stanza).flatMap(([name, value]) => {
    if (scripts.has(name) && Array.isArray(value))
      return [`    ${name}\n`, ...value.map((line) => `        ${pyStr(line)}\n`), '    endscript\n'];
    return [`    ${name} ${value === true ? '' : pyStr(value)}\n`];
  });
  return `${key} {\n${rows.join('')}}`;
}

/** Sets a value inside braces: the whole block is rewritten. Undefined when nothing changes. */
function changedStanza(key: string, name: string, setting: Value, current: Value): PlainDict | undefined {
  if (current && !isDict(current)) {
    throw invocationError('Error: A setting for a dict was declared, but the configuration line given is not a dict');
  }
  const stanza = newDict(isDict(current) ? (Object.entries(current) as [string, Value][]) : []);
  if ((stanza[name] ?? false) === setting) return undefined;
  if (isTruthy(setting)) stanza[name] = setting;
  else if (name in stanza) delete stanza[name];
  else throw pythonError('KeyError', `'${name}'`);
  return newDict([
    ['pattern', `^${key}.*?{.*?}`],
    ['flags', 24],
    ['append_if_not_found', true],
    ['repl', stanzaText(key, stanza)],
  ]);
}

function changedLine(key: string, value: Value, current: Value): PlainDict | undefined {
  if (isDict(current)) {
    throw invocationError(`Error: ${key} includes a dict, and a specific setting inside the dict was not declared`);
  }
  if (value === current) return undefined;
  return newDict([
    ['pattern', `^${key}.*`],
    ['flags', 8],
    ['prepend_if_not_found', true],
    ['repl', value === true ? key : isTruthy(value) ? `${key} ${pyStr(value)}` : ''],
  ]);
}

const conf = p.path({ default: standard, doc: 'the configuration file' });

export default defineModule({
  name: 'logrotate',
  doc: 'Reads and changes the configuration of logrotate.',
  reads: ['show_conf', 'get'],
  functions: {
    show_conf: fn({
      doc: 'The whole configuration, included files too.',
      examples: ["salt '*' logrotate.show_conf"],
      params: { conf_file: conf },
      run: (args) => parse(args.conf_file),
    }),
    get: fn({
      doc: 'One setting, or one inside braces; False when it is not set.',
      examples: ["salt '*' logrotate.get rotate", "salt '*' logrotate.get /var/log/wtmp rotate"],
      params: {
        key: p.string(),
        value: p.string({ default: null, falsy: null, doc: 'name inside braces' }),
        conf_file: conf,
      },
      run(args): Value {
        const stanza = parse(args.conf_file)[args.key] ?? false;
        return args.value && isDict(stanza) ? (dictGet(stanza, args.value) ?? false) : stanza;
      },
    }),
    set: fn({
      doc: 'Sets a line, or a setting inside braces, in the file that has it; True when it is already set.',
      examples: ["salt '*' logrotate.set rotate 2", "salt '*' logrotate.set /var/log/wtmp rotate 2"],
      params: {
        key: p.string(),
        value: p.scalar({ nullable: true }),
        setting: p.scalar({ default: null }),
        conf_file: conf,
      },
      async run(args, ctx): Promise<Value> {
        const all = parse(args.conf_file);
        const included = all['include files'];
        if (!isDict(included)) throw pythonError('KeyError', "'include files'");
        const file = Object.entries(included).find(([, keys]) => (keys as Value[]).includes(args.key))?.[0];
        const path = file === undefined ? args.conf_file : join(pyStr(all['include'] ?? ''), file);
        const current = all[args.key] ?? false;
        const change =
          args.setting === null
            ? changedLine(args.key, args.value, current)
            : changedStanza(args.key, pyStr(args.value), args.setting, current);
        if (!change) return true;
        const rest = { path, backup: false, show_changes: false };
        return ctx.callWith('file.replace', [], newDict([...Object.entries(change), ...Object.entries(rest)]));
      },
    }),
  },
});
