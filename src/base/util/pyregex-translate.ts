// The translation itself: one pass over the pattern, each construct written out in JavaScript's own terms.
import { classEscape, parseClass, parseEscape, readLiteral, WORD } from './pyregex-class.ts';
import { bad, type Cursor, type Flags } from './pyregex-cursor.ts';

export interface Translated {
  readonly source: string;
  readonly ignoreCase: boolean;
}

const SCOPED_CASE = /\(\?(?:[aLmsux]*i[aiLmsux]*(?:-[imsx]+)?|[aLmsux]*-[msx]*i[imsx]*):/;

export function translatePython(pattern: string, flagText: string): Translated {
  const flags: Flags = { i: false, m: false, s: false, x: false, a: false };
  setFlags(flags, flagText, true);
  const leading = /^\(\?([aiLmsux]+)\)/.exec(pattern);
  if (leading) setFlags(flags, leading[1] as string, true);
  const body = leading ? pattern.slice(leading[0].length) : pattern;
  const expandCase = SCOPED_CASE.test(body);
  const cursor: Cursor = { text: [...body], at: 0, flags, expandCase, groups: [], names: new Set(), count: 0 };
  const source = alternatives(cursor, 0);
  if (cursor.at < cursor.text.length) throw bad(cursor, 'unbalanced parenthesis');
  return { source, ignoreCase: flags.i && !expandCase };
}

function setFlags(flags: Flags, letters: string, value: boolean): void {
  for (const letter of letters) {
    if (letter in flags) flags[letter as keyof Flags] = value;
  }
}

const MAX_NESTING = 100;

/** Everything up to the closing parenthesis or the end. */
function alternatives(cursor: Cursor, depth: number): string {
  if (depth > MAX_NESTING) throw bad(cursor, 'too many nested groups');
  let out = '';
  while (cursor.at < cursor.text.length) {
    const character = cursor.text[cursor.at] as string;
    if (character === ')') return out;
    if (character === '|') {
      cursor.at++;
      out += '|';
      continue;
    }
    if (cursor.flags.x && skipVerbose(cursor)) continue;
    const before = cursor.count;
    const piece = atom(cursor, depth);
    out += piece === '' ? '' : quantified(cursor, piece, before);
  }
  return out;
}

/** In verbose mode, space and comments mean nothing. */
function skipVerbose(cursor: Cursor): boolean {
  const character = cursor.text[cursor.at] as string;
  if (/[ \t\n\r\f\v]/.test(character)) {
    cursor.at++;
    return true;
  }
  if (character !== '#') return false;
  while (cursor.at < cursor.text.length && cursor.text[cursor.at] !== '\n') cursor.at++;
  return true;
}

function atom(cursor: Cursor, depth: number): string {
  const character = cursor.text[cursor.at++] as string;
  switch (character) {
    case '.':
      // Not `[^]`: with the flag v a repeated one matches nothing in the V8 of Node 20.
      return cursor.flags.s ? '[\\s\\S]' : '[^\\n]';
    case '^':
      return cursor.flags.m ? '(?:^|(?<=\\n))' : '(?:^)';
    case '$':
      return cursor.flags.m ? '(?=\\n|$)' : '(?=\\n?$)';
    case '[':
      return parseClass(cursor);
    case '(':
      return group(cursor, depth);
    case '\\':
      return backslash(cursor);
    case '*':
    case '+':
    case '?':
      cursor.at--;
      throw bad(cursor, 'nothing to repeat');
    case '{':
      cursor.at--;
      if (readCounts(cursor)) throw bad(cursor, 'nothing to repeat');
      cursor.at++;
      return '\\{';
    default:
      return readLiteral(cursor, character);
  }
}

function backslash(cursor: Cursor): string {
  const character = cursor.text[cursor.at];
  if (character === undefined) throw bad(cursor, 'bad escape (end of pattern)');
  if (/[1-9]/.test(character)) return backReference(cursor);
  cursor.at++;
  const word = WORD(cursor.flags.a);
  switch (character) {
    case 'A':
      return '(?:^)';
    case 'Z':
      return '(?:$)';
    case 'b':
      return `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`;
    case 'B':
      return `(?:(?<=${word})(?=${word})|(?<!${word})(?!${word})(?!^$))`;
    default: {
      const wide = classEscape(character, cursor.flags.a);
      if (wide) return wide;
      cursor.at--;
      return readLiteral(cursor, parseEscape(cursor));
    }
  }
}

function backReference(cursor: Cursor): string {
  const digits = cursor.text.slice(cursor.at, cursor.at + 3).join('');
  const octal = /^[0-3][0-7][0-7]/.exec(digits);
  if (octal) {
    cursor.at += 3;
    return readLiteral(cursor, String.fromCodePoint(Number.parseInt(octal[0], 8)));
  }
  const number = /^\d\d?/.exec(digits)?.[0] as string;
  const group = cursor.groups[Number(number) - 1];
  if (group === undefined) throw bad(cursor, `invalid group reference ${number}`);
  cursor.at += number.length;
  return `(?:\\${group})`;
}

function group(cursor: Cursor, depth: number): string {
  if (cursor.text[cursor.at] !== '?') {
    cursor.count++;
    const index = cursor.groups.push(0) - 1;
    const number = cursor.count;
    const inside = closed(cursor, depth);
    cursor.groups[index] = number;
    return `(${inside})`;
  }
  const rest = cursor.text.slice(cursor.at, cursor.at + 80).join('');
  const plain = /^\?(?::|=|!|<=|<!)/.exec(rest);
  if (plain) {
    cursor.at += plain[0].length;
    return `(${plain[0]}${closed(cursor, depth)})`;
  }
  const special = specialGroup(cursor, rest, depth);
  if (special === undefined) throw bad(cursor, 'unknown extension');
  return special;
}

function specialGroup(cursor: Cursor, rest: string, depth: number): string | undefined {
  const named = /^\?P<([\p{L}_][\p{L}\p{N}_]*)>/u.exec(rest);
  if (named) return namedGroup(cursor, named[1] as string, depth);
  const same = /^\?P=([\p{L}_][\p{L}\p{N}_]*)\)/u.exec(rest);
  if (same) {
    if (!cursor.names.has(same[1] as string)) throw bad(cursor, `unknown group name ${same[1]}`);
    cursor.at += [...same[0]].length;
    return `(?:\\k<${same[1]}>)`;
  }
  if (rest.startsWith('?#')) {
    const end = cursor.text.indexOf(')', cursor.at);
    if (end < 0) throw bad(cursor, 'missing ), unterminated comment');
    cursor.at = end + 1;
    return '';
  }
  if (rest.startsWith('?>')) {
    cursor.at += 2;
    return atomic(cursor, () => closed(cursor, depth));
  }
  const flagged = /^\?([aiLmsux]*)(?:-([imsx]+))?:/.exec(rest);
  if (flagged) {
    cursor.at += flagged[0].length;
    const outer = cursor.flags;
    cursor.flags = { ...outer };
    setFlags(cursor.flags, flagged[1] as string, true);
    setFlags(cursor.flags, flagged[2] ?? '', false);
    const inside = closed(cursor, depth);
    cursor.flags = outer;
    return `(?:${inside})`;
  }
  if (rest.startsWith('?(')) throw bad(cursor, 'conditional groups are not supported');
  return undefined;
}

function namedGroup(cursor: Cursor, name: string, depth: number): string {
  if (cursor.names.has(name)) throw bad(cursor, `redefinition of group name ${name}`);
  cursor.names.add(name);
  cursor.at += [...name].length + 4;
  cursor.count++;
  const index = cursor.groups.push(0) - 1;
  const number = cursor.count;
  const inside = closed(cursor, depth);
  cursor.groups[index] = number;
  return `(?<${name}>${inside})`;
}

/** JavaScript has no atomic groups: a lookahead that captures, and the capture taken, does the same. */
function atomic(cursor: Cursor, inside: () => string): string {
  cursor.count++;
  const number = cursor.count;
  return `(?=(${inside()}))\\${number}`;
}

function closed(cursor: Cursor, depth: number): string {
  const inside = alternatives(cursor, depth + 1);
  if (cursor.text[cursor.at] !== ')') throw bad(cursor, 'missing ), unterminated subpattern');
  cursor.at++;
  return inside;
}

/** The atom with its quantifier, if one follows. `before` is the group count before the atom. */
function quantified(cursor: Cursor, piece: string, before: number): string {
  while (cursor.flags.x && cursor.at < cursor.text.length && skipVerbose(cursor));
  const character = cursor.text[cursor.at];
  let counts: string;
  if (character === '*' || character === '+' || character === '?') {
    cursor.at++;
    counts = character;
  } else {
    const read = character === '{' ? readCounts(cursor) : undefined;
    if (!read) return piece;
    cursor.at += read.length;
    counts = read.text;
  }
  // An assertion or back reference written in several parts must be repeated as a whole.
  const whole = /^\(\?(?:=|<)/.test(piece) ? `(?:${piece})` : piece;
  const next = cursor.text[cursor.at];
  if (next === '?') {
    cursor.at++;
    return `${whole}${counts}?`;
  }
  if (next === '*' || next === '{' ? next === '*' || readCounts(cursor) !== undefined : false)
    throw bad(cursor, 'multiple repeat');
  if (next !== '+') return `${whole}${counts}`;
  cursor.at++;
  if (cursor.count > before) throw bad(cursor, 'possessive repeats of groups are not supported');
  return atomic(cursor, () => `${whole}${counts}`);
}

/** `{2}`, `{2,}`, `{,5}` or `{2,5}` at the cursor; anything else in braces is plain text. */
function readCounts(cursor: Cursor): { text: string; length: number } | undefined {
  const rest = cursor.text.slice(cursor.at, cursor.at + 24).join('');
  const found = /^\{(\d*)(,?)(\d*)\}/.exec(rest);
  if (!found || (found[1] === '' && found[3] === '' && found[2] === '')) return undefined;
  if (found[2] === '' && found[1] === '') return undefined;
  return { text: `{${found[1] || '0'}${found[2]}${found[3]}}`, length: found[0].length };
}
