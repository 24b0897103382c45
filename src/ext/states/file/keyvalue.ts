// `file.keyvalue`: lines like `Key=Value`.

import {
  type ArgsOf,
  dictEntries,
  isDict,
  newDict,
  p,
  pyStr,
  pyTypeName,
  type StateContext,
  type StateResult,
  state,
  type Value,
} from 'halite/sdk';
import { expandUser, readFileSync, writeFileSync } from 'halite/sdk/fs';
import { partition } from 'halite/sdk/text';
import * as common from './params.ts';

const params = {
  name: common.name,
  key: p.scalar({ default: null, doc: 'one key' }),
  value: p.scalar({ default: null, doc: 'and its value' }),
  key_values: p.oneOf(['bool', 'dict', 'list', 'string'], { default: null, doc: 'several keys and values' }),
  separator: p.string({ default: '=', doc: 'separator between key and value' }),
  append_if_not_found: p.bool({ default: false, doc: 'add missing keys at the end' }),
  prepend_if_not_found: p.bool({ default: false, doc: 'add missing keys at the beginning' }),
  search_only: p.bool({ default: false, doc: 'accepted' }),
  show_changes: common.showChanges,
  ignore_if_missing: p.bool({ default: false, doc: 'a missing file is not a failure' }),
  count: p.int({ default: 1, doc: 'how many lines of a key are kept; 0 removes them, -1 keeps all' }),
  uncomment: p.scalar({ default: null, doc: 'comment signs to remove from needed lines' }),
  key_ignore_case: p.bool({ default: false, doc: 'ignore the case of keys' }),
  value_ignore_case: p.bool({ default: false, doc: 'ignore the case of values' }),
};
type Args = ArgsOf<typeof params>;

interface Wanted {
  readonly key: string;
  readonly value: Value;
  left: number;
}

/** Python's lstrip(characters); without characters, white space. */
function stripLeft(text: string, characters: Value): string {
  if (characters === null) return text.replace(/^\s+/, '');
  const set = pyStr(characters);
  let at = 0;
  while (at < text.length && set.includes(text.charAt(at))) at++;
  return text.slice(at);
}

interface Edited {
  readonly line: string;
  readonly diff: string[];
}

/** Compares one line with one key: the new line, or undefined when it is unchanged. */
function edit(line: string, original: string, wanted: Wanted, args: Args): Edited | undefined {
  const bare = stripLeft(original, args.uncomment);
  const uncommented = original.length > bare.length;
  const fold = (text: string): string => (args.key_ignore_case ? text.toLowerCase() : text);
  if (!fold(bare).startsWith(fold(wanted.key))) return undefined;
  const [key, separator, rest] = partition(uncommented ? bare : original, args.separator);
  if (separator !== args.separator || fold(key) !== fold(wanted.key)) return undefined;
  const same = (text: string): string => (args.value_ignore_case ? text.trim().toLowerCase() : text.trim());
  const equal = same(rest) === same(pyStr(wanted.value));
  // A commented line is only used while the key is missing.
  const needed = uncommented ? wanted.left > 0 : wanted.left === 0 || !equal;
  const made: Edited | undefined = needed ? renewed(line, key, separator, wanted) : undefined;
  if (wanted.left > 0) wanted.left--;
  return made;
}

function renewed(line: string, key: string, separator: string, wanted: Wanted): Edited {
  const diff = [`- ${line}`];
  if (wanted.left === 0) return { line: '', diff };
  const text = `${key}${separator}${pyStr(wanted.value)}`;
  diff.push(
    typeof wanted.value === 'string' ? `+ ${text}\n` : `+ ${text.trimEnd()} (from ${pyTypeName(wanted.value)} type)\n`,
  );
  return { line: `${text}\n`, diff };
}

interface Outcome {
  readonly lines: string[];
  readonly diff: string[];
  readonly changes: number;
}

function rework(text: string, wanted: Wanted[], args: Args): Outcome {
  const lines: string[] = [];
  const diff: string[] = [];
  let changes = 0;
  for (const original of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    let line = original;
    for (const item of wanted) {
      const made = edit(line, original, item, args);
      if (!made) continue;
      line = made.line;
      diff.push(...made.diff);
      changes++;
    }
    lines.push(line);
  }
  const missing = wanted
    .filter((item) => item.left > 0)
    .map((item) => `${item.key}${args.separator}${pyStr(item.value)}\n`);
  if (args.append_if_not_found && missing.length > 0) {
    diff.push('- <EOF>\n', ...missing.map((line) => `+ ${line}`), '+ <EOF>\n');
    lines.push(...missing);
    changes += missing.length;
  } else if (args.prepend_if_not_found && missing.length > 0) {
    diff.unshift('  <SOF>\n', ...missing.toReversed().map((line) => `+ ${line}`));
    lines.unshift(...missing.toReversed());
    changes += missing.length;
  }
  return { lines, diff, changes };
}

function wantedOf(args: Args): Wanted[] | string {
  const { key, value, key_values: all, count } = args;
  if (key !== null && value !== null) {
    if (isDict(all)) return 'file.keyvalue can not combine key_values with key and value';
    return [{ key: pyStr(key), value, left: count }];
  }
  const list = isDict(all) ? dictEntries(all) : [];
  if (list.length > 0) return list.map(([name, item]) => ({ key: pyStr(name), value: item, left: count }));
  const empty = all === null || all === '' || all === false || isDict(all) || (Array.isArray(all) && all.length === 0);
  return `file.keyvalue key and value not supplied and key_values ${empty ? 'is empty' : 'is not a dictionary'}`;
}

function store(name: string, made: Outcome, args: Args, ctx: StateContext): Promise<StateResult> | StateResult {
  const changes = args.show_changes ? newDict([['diff', made.diff.join('')]]) : newDict();
  const predicted = args.show_changes ? `\nPredicted diff:\n\r\t\t${made.diff.join('\r\t\t')}` : '';
  return ctx.change(changes, `Changed ${made.changes} lines`, {
    test: `File ${name} is set to be changed (${made.changes} lines)${predicted}`,
    apply() {
      try {
        writeFileSync(name, made.lines.join(''));
        return undefined;
      } catch {
        return ctx.fail(`${name} not writable`, { changes });
      }
    },
  });
}

export const keyvalue = state({
  doc: 'Keys and values of a file that has one pair in a line.',
  examples: [
    "/etc/ssh/sshd_config:\n  file.keyvalue:\n    - key_values:\n        PermitRootLogin: 'no'\n    - separator: ' '\n    - uncomment: '# '",
  ],
  params,
  async run(args, ctx) {
    const name = expandUser(args.name);
    if (!name) return ctx.fail('Must provide name to file.keyvalue', { name });
    const wanted = wantedOf(args);
    if (typeof wanted === 'string') return ctx.fail(wanted, { name });
    let text: string;
    try {
      text = readFileSync(name, 'utf8');
    } catch {
      return ctx.result({ name, result: args.ignore_if_missing, comment: `unable to open ${name}` });
    }
    const made = rework(text, wanted, args);
    if (made.changes === 0) return ctx.ok('', { name });
    return Object.assign(await store(name, made, args, ctx), { name });
  },
});
