// Parses Python's `re` syntax in one pass.
import { bad, type Cursor, type Flags } from './cursor.ts';
import { classEscape, parseClass, parseEscape, readLiteral } from './sets.ts';
import { type AssertKind, type Node, type Parsed, sequence, unbounded, widthOf } from './tree.ts';

const scopedCase = /\(\?(?:[aLmsux]*i[aiLmsux]*(?:-[imsx]+)?|[aLmsux]*-[msx]*i[imsx]*):/;
const maxNesting = 100;

export function parsePython(pattern: string, flagText: string): Parsed {
  const flags: Flags = { i: false, m: false, s: false, x: false, a: false };
  setFlags(flags, flagText, true);
  const leading = /^\(\?([aiLmsux]+)\)/.exec(pattern);
  if (leading) setFlags(flags, leading[1] as string, true);
  const body = leading ? pattern.slice(leading[0].length) : pattern;
  const expandCase = scopedCase.test(body);
  const cursor: Cursor = {
    text: [...body],
    at: 0,
    flags,
    expandCase,
    closed: new Map(),
    names: new Map(),
    count: 0,
  };
  const tree = alternatives(cursor, 0);
  if (cursor.at < cursor.text.length) throw bad(cursor, 'unbalanced parenthesis');
  return { tree, ignoreCase: flags.i && !expandCase, groups: cursor.count };
}

function setFlags(flags: Flags, letters: string, value: boolean): void {
  for (const letter of letters) {
    if (letter in flags) flags[letter as keyof Flags] = value;
  }
}

/** Everything up to the closing parenthesis or the end. */
function alternatives(cursor: Cursor, depth: number): Node {
  if (depth > maxNesting) throw bad(cursor, 'too many nested groups');
  const options: Node[] = [];
  let items: Node[] = [];
  while (cursor.at < cursor.text.length) {
    const character = cursor.text[cursor.at] as string;
    if (character === ')') break;
    if (cursor.flags.x && skipVerbose(cursor)) continue;
    if (character === '|') {
      cursor.at++;
      options.push(sequence(items));
      items = [];
      continue;
    }
    const counts = readCounts(cursor);
    if (counts) {
      items.push(repeated(cursor, items.pop(), counts));
      continue;
    }
    const piece = atom(cursor, depth);
    if (piece) items.push(piece);
  }
  options.push(sequence(items));
  return options.length === 1 ? (options[0] as Node) : { type: 'choice', options };
}

/** In verbose mode, space and comments are ignored. */
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

function atom(cursor: Cursor, depth: number): Node | undefined {
  const character = cursor.text[cursor.at++] as string;
  const { flags } = cursor;
  switch (character) {
    case '.':
      // Not `[^]`: with the flag v a repeated one matches nothing in the V8 of Node 20.
      return { type: 'set', source: flags.s ? '[\\s\\S]' : '[^\\n]' };
    case '^':
      return assertion(cursor, flags.m ? 'line-start' : 'start');
    case '$':
      return assertion(cursor, flags.m ? 'line-end' : 'before-last-newline');
    case '[':
      return { type: 'set', source: parseClass(cursor) };
    case '(':
      return group(cursor, depth);
    case '\\':
      return backslash(cursor);
    default:
      return { type: 'set', source: readLiteral(cursor, character) };
  }
}

const assertion = (cursor: Cursor, kind: AssertKind): Node => ({ type: 'assert', kind, ascii: cursor.flags.a });
const assertions: Readonly<Record<string, AssertKind>> = { A: 'start', Z: 'end', b: 'boundary', B: 'inside' };

function backslash(cursor: Cursor): Node {
  const character = cursor.text[cursor.at];
  if (character === undefined) throw bad(cursor, 'bad escape (end of pattern)');
  if (/[1-9]/.test(character)) return backReference(cursor);
  const kind = assertions[character];
  const wide = kind ? undefined : classEscape(character, cursor.flags.a);
  if (kind || wide) cursor.at++;
  if (kind) return assertion(cursor, kind);
  return { type: 'set', source: wide ?? readLiteral(cursor, parseEscape(cursor)) };
}

function backReference(cursor: Cursor): Node {
  const digits = cursor.text.slice(cursor.at, cursor.at + 3).join('');
  const octal = /^[0-3][0-7][0-7]/.exec(digits);
  if (octal) {
    cursor.at += 3;
    return { type: 'set', source: readLiteral(cursor, String.fromCodePoint(Number.parseInt(octal[0], 8))) };
  }
  const number = /^\d\d?/.exec(digits)?.[0] as string;
  const same = sameAs(cursor, Number(number));
  cursor.at += number.length;
  return same;
}

function sameAs(cursor: Cursor, number: number): Node {
  if (number > cursor.count) throw bad(cursor, `invalid group reference ${number}`);
  if (!cursor.closed.has(number)) throw bad(cursor, 'cannot refer to an open group');
  return { type: 'same', number, ignoreCase: cursor.flags.i };
}

function group(cursor: Cursor, depth: number): Node | undefined {
  if (cursor.text[cursor.at] !== '?') return capture(cursor, depth, undefined);
  const rest = cursor.text.slice(cursor.at, cursor.at + 80).join('');
  const plain = /^\?(:|=|!|<=|<!|>)/.exec(rest);
  if (plain) {
    cursor.at += plain[0].length;
    const inner = closed(cursor, depth);
    if (plain[1] === ':') return wrapped(inner);
    if (plain[1] === '>') return { type: 'atomic', inner };
    return look(cursor, plain[1] as string, inner);
  }
  const named = /^\?P<([\p{L}_][\p{L}\p{N}_]*)>/u.exec(rest);
  if (named) return capture(cursor, depth, named[1] as string);
  const same = /^\?P=([\p{L}_][\p{L}\p{N}_]*)\)/u.exec(rest);
  if (same) {
    const number = cursor.names.get(same[1] as string);
    if (number === undefined) throw bad(cursor, `unknown group name ${same[1]}`);
    cursor.at += [...same[0]].length;
    return sameAs(cursor, number);
  }
  if (rest.startsWith('?#')) {
    const end = cursor.text.indexOf(')', cursor.at);
    if (end < 0) throw bad(cursor, 'missing ), unterminated comment');
    cursor.at = end + 1;
    return undefined;
  }
  const flagged = /^\?([aiLmsux]*)(?:-([imsx]+))?:/.exec(rest);
  if (flagged) return withFlags(cursor, depth, flagged);
  throw bad(cursor, rest.startsWith('?(') ? 'conditional groups are not supported' : 'unknown extension');
}

/** A non-capturing group stays one unit for a following quantifier. */
const wrapped = (inner: Node): Node =>
  inner.type === 'repeat' || inner.type === 'assert' ? { type: 'sequence', items: [inner] } : inner;

function withFlags(cursor: Cursor, depth: number, found: RegExpExecArray): Node {
  cursor.at += found[0].length;
  const outer = cursor.flags;
  cursor.flags = { ...outer };
  setFlags(cursor.flags, found[1] as string, true);
  setFlags(cursor.flags, found[2] ?? '', false);
  const inner = closed(cursor, depth);
  cursor.flags = outer;
  return wrapped(inner);
}

function look(cursor: Cursor, sign: string, inner: Node): Node {
  const [least, most] = sign.startsWith('<') ? widthOf(inner, cursor.closed) : [undefined, undefined];
  if (least !== most) throw bad(cursor, 'look-behind requires fixed-width pattern');
  return { type: 'look', back: least, negative: sign.endsWith('!'), inner };
}

function capture(cursor: Cursor, depth: number, name: string | undefined): Node {
  const number = ++cursor.count;
  if (name !== undefined) {
    if (cursor.names.has(name)) throw bad(cursor, `redefinition of group name ${name}`);
    cursor.names.set(name, number);
    cursor.at += [...name].length + 4;
  }
  const inner = closed(cursor, depth);
  cursor.closed.set(number, widthOf(inner, cursor.closed));
  return { type: 'group', number, name, inner };
}

function closed(cursor: Cursor, depth: number): Node {
  const inside = alternatives(cursor, depth + 1);
  if (cursor.text[cursor.at] !== ')') throw bad(cursor, 'missing ), unterminated subpattern');
  cursor.at++;
  return inside;
}

interface Counts {
  readonly min: number;
  readonly max: number;
  readonly length: number;
}
const signs: Readonly<Record<string, Counts>> = {
  '*': { min: 0, max: unbounded, length: 1 },
  '+': { min: 1, max: unbounded, length: 1 },
  '?': { min: 0, max: 1, length: 1 },
};

/** `*`, `+`, `?`, `{2}`, `{2,}`, `{,5}` or `{2,5}` at the cursor; anything else in braces is plain text. */
function readCounts(cursor: Cursor): Counts | undefined {
  const character = cursor.text[cursor.at] as string;
  if (character !== '{') return signs[character];
  const rest = cursor.text.slice(cursor.at, cursor.at + 24).join('');
  const found = /^\{(\d*)(,?)(\d*)\}/.exec(rest);
  if (!found || (found[1] === '' && found[2] === '')) return undefined;
  const min = Number(found[1]);
  const max = found[2] === '' ? min : found[3] === '' ? unbounded : Number(found[3]);
  return { min, max, length: found[0].length };
}

function repeated(cursor: Cursor, inner: Node | undefined, { min, max, length }: Counts): Node {
  if (!inner || inner.type === 'assert') throw bad(cursor, 'nothing to repeat');
  if (inner.type === 'repeat') throw bad(cursor, 'multiple repeat');
  if (min > max) throw bad(cursor, 'min repeat greater than max repeat');
  cursor.at += length;
  const next = cursor.text[cursor.at];
  const mode = next === '?' ? 'lazy' : next === '+' ? 'possessive' : 'greedy';
  if (mode !== 'greedy') cursor.at++;
  return { type: 'repeat', inner, min, max, mode };
}
