// Characters, escapes and character sets of Python expressions.
import { bad, type Cursor } from './cursor.ts';

const unicodeWord = '[\\p{L}\\p{N}_]';
const asciiWord = '[A-Za-z0-9_]';
const unicodeSpace = '[ \\t-\\r\\x1c-\\x1f\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const asciiSpace = '[ \\t-\\r]';

/** What `\w` means, as a set. */
export const wordSet = (ascii: boolean): string => (ascii ? asciiWord : unicodeWord);

/** `\d`, `\w`, `\s` and their opposites as sets; undefined for other letters. */
export function classEscape(letter: string, ascii: boolean): string | undefined {
  switch (letter) {
    case 'd':
      return ascii ? '[0-9]' : '\\p{Nd}';
    case 'D':
      return ascii ? '[^0-9]' : '\\P{Nd}';
    case 'w':
      return wordSet(ascii);
    case 'W':
      return `[^${wordSet(ascii).slice(1)}`;
    case 's':
      return ascii ? asciiSpace : unicodeSpace;
    case 'S':
      return `[^${(ascii ? asciiSpace : unicodeSpace).slice(1)}`;
    default:
      return undefined;
  }
}

const namedCharacters: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', f: '\f', v: '\v', a: '\x07' };
const widths: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** The character that an escape names; the cursor is after the backslash. */
export function parseEscape(cursor: Cursor): string {
  const letter = cursor.text[cursor.at++];
  if (letter === undefined) throw bad(cursor, 'bad escape (end of pattern)');
  const named = namedCharacters[letter];
  if (named !== undefined) return named;
  const width = widths[letter];
  if (width !== undefined) {
    const digits = cursor.text.slice(cursor.at, cursor.at + width).join('');
    const code = Number.parseInt(digits, 16);
    if (!/^[0-9a-fA-F]+$/.test(digits) || digits.length !== width || code > 0x10ffff)
      throw bad(cursor, `incomplete escape \\${letter}`);
    cursor.at += width;
    return String.fromCodePoint(code);
  }
  if (/[0-7]/.test(letter)) {
    const digits = /^[0-7]{1,3}/.exec(cursor.text.slice(cursor.at - 1, cursor.at + 2).join(''))?.[0] as string;
    cursor.at += digits.length - 1;
    const code = Number.parseInt(digits, 8);
    if (code > 0o377) throw bad(cursor, `octal escape value \\${digits} outside of range 0-0o377`);
    return String.fromCodePoint(code);
  }
  if (/[A-Za-z89]/.test(letter)) throw bad(cursor, `bad escape \\${letter}`);
  return letter;
}

const escaped = (character: string): string => `\\u{${(character.codePointAt(0) as number).toString(16)}}`;

/** A literal character, in both cases where case is ignored in parts. */
export function readLiteral(cursor: Cursor, character: string): string {
  if (cursor.expandCase && cursor.flags.i) {
    const forms = caseForms(character);
    if (forms.length > 1) return `[${forms.map(escaped).join('')}]`;
  }
  return /[A-Za-z0-9 _]/.test(character) ? character : escaped(character);
}

function caseForms(character: string): string[] {
  const forms = new Set([character, character.toLowerCase(), character.toUpperCase()]);
  return [...forms].filter((form) => [...form].length === 1);
}

/** A set; the cursor is after the opening bracket. */
export function parseClass(cursor: Cursor): string {
  const negated = cursor.text[cursor.at] === '^';
  if (negated) cursor.at++;
  let body = '';
  for (let first = true; ; first = false) {
    const character = cursor.text[cursor.at];
    if (character === undefined) throw bad(cursor, 'unterminated character set');
    if (character === ']' && !first) break;
    const low = setItem(cursor);
    const high = cursor.text[cursor.at] === '-' ? rangeEnd(cursor) : undefined;
    body += high === undefined ? single(cursor, low) : range(cursor, low, high);
  }
  cursor.at++;
  return `[${negated ? '^' : ''}${body}]`;
}

type SetItem = { readonly character: string } | { readonly wide: string };

function setItem(cursor: Cursor): SetItem {
  const character = cursor.text[cursor.at++] as string;
  if (character !== '\\') return { character };
  const letter = cursor.text[cursor.at];
  const wide = letter === undefined ? undefined : classEscape(letter, cursor.flags.a);
  if (wide !== undefined) {
    cursor.at++;
    return { wide };
  }
  if (letter === 'b') {
    cursor.at++;
    return { character: '\b' };
  }
  return { character: parseEscape(cursor) };
}

/** The item after a hyphen; undefined when the hyphen is at the end and literal. */
function rangeEnd(cursor: Cursor): SetItem | undefined {
  if (cursor.text[cursor.at + 1] === ']' || cursor.text[cursor.at + 1] === undefined) return undefined;
  cursor.at++;
  return setItem(cursor);
}

function single(cursor: Cursor, item: SetItem): string {
  if ('wide' in item) return item.wide;
  const forms = cursor.expandCase && cursor.flags.i ? caseForms(item.character) : [item.character];
  return forms.map(escaped).join('');
}

function range(cursor: Cursor, low: SetItem, high: SetItem): string {
  if ('wide' in low || 'wide' in high) throw bad(cursor, 'bad character range');
  if ((low.character.codePointAt(0) as number) > (high.character.codePointAt(0) as number))
    throw bad(cursor, 'bad character range');
  const plain = `${escaped(low.character)}-${escaped(high.character)}`;
  if (!cursor.expandCase || !cursor.flags.i) return plain;
  return plain + otherCase(low.character, high.character);
}

/** The ASCII letters of a range in the other case. */
function otherCase(low: string, high: string): string {
  let out = '';
  for (let code = Math.max(65, low.charCodeAt(0)); code <= Math.min(122, high.charCodeAt(0)); code++) {
    const character = String.fromCharCode(code);
    if (/[A-Za-z]/.test(character)) out += escaped(String.fromCharCode(code ^ 32));
  }
  return out;
}
