// Python's re.sub: replacement texts with \1, \g<name> and escapes, and flags as numbers or names.

import { pyStr } from '../../../base/codec/python/repr.ts';
import { oneOrMore, type Value } from '../../../base/codec/value.ts';
import { pyRegexSearch } from '../../../base/util/pyregex.ts';
import { commandError, pythonError } from '../errors.ts';

const flagBits: Readonly<Record<string, readonly [number, string]>> = {
  IGNORECASE: [2, 'i'],
  I: [2, 'i'],
  LOCALE: [4, ''],
  L: [4, ''],
  MULTILINE: [8, 'm'],
  M: [8, 'm'],
  DOTALL: [16, 's'],
  S: [16, 's'],
  UNICODE: [32, ''],
  U: [32, ''],
  VERBOSE: [64, 'x'],
  X: [64, 'x'],
  ASCII: [256, 'a'],
  A: [256, 'a'],
};

/** Flags as Salt's functions accept them (a number, a name, a list of names) → Python's letters. */
export function flagLetters(flags: Value): string {
  if (typeof flags === 'number') {
    return Object.entries(flagBits)
      .filter(([name, [bit]]) => name.length === 1 && (flags & bit) !== 0)
      .map(([, [, letter]]) => letter)
      .join('');
  }
  if (typeof flags !== 'string' && !Array.isArray(flags)) {
    throw commandError(
      `Invalid re flags: "${pyStr(flags)}", must be given either as a single flag string, a list of strings, as an integer, or as an re flag`,
    );
  }
  const names = oneOrMore(flags).map((flag) => pyStr(flag));
  return names
    .map((name) => {
      const known = flagBits[name.toUpperCase()];
      if (!known) throw commandError(`Invalid re flag given: ${name}`);
      return known[1];
    })
    .join('');
}

const controls: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\\': '\\',
};

/** The expanded replacement text for one match. */
function expand(template: string, match: RegExpExecArray): string {
  const group = (name: string): string => {
    const value = /^\d+$/.test(name) ? match[Number(name)] : match.groups?.[name];
    if (value === undefined && !(/^\d+$/.test(name) ? Number(name) in match : match.groups && name in match.groups)) {
      throw pythonError('re.error', `invalid group reference ${name}`);
    }
    return value ?? '';
  };
  return template.replace(
    /\\(?:g<([^>]+)>|([1-9]\d?)|(0[0-7]{0,2})|([\s\S])|$)/g,
    (_, named, number, octal, letter) => {
      if (named !== undefined) return group(named);
      if (number !== undefined) return group(number);
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      if (letter !== undefined && Object.hasOwn(controls, letter)) return controls[letter] as string;
      if (letter === undefined || /[a-zA-Z]/.test(letter))
        throw pythonError('re.error', `bad escape \\${letter ?? ''}`);
      return `\\${letter}`;
    },
  );
}

export interface Substitution {
  readonly text: string;
  readonly count: number;
}

/** re.subn(pattern, replacement, text, limit); a literal replacement has no escapes. */
export function pySub(
  pattern: string,
  flags: string,
  replacement: string,
  text: string,
  limit = 0,
  literal = false,
): Substitution {
  const compiled = pyRegexSearch(pattern, flags);
  const global = new RegExp(compiled.source, `${compiled.flags}g`);
  let count = 0;
  let last = 0;
  let made = '';
  for (const match of text.matchAll(global)) {
    if (limit > 0 && count >= limit) break;
    made += text.slice(last, match.index) + (literal ? replacement : expand(replacement, match));
    last = match.index + match[0].length;
    count++;
  }
  return { text: made + text.slice(last), count };
}

/** re.escape. */
export function pyEscape(text: string): string {
  return text.replace(/[()[\]{}?*+\-|^$\\.&~# \t\n\r\v\f]/g, '\\$&');
}
