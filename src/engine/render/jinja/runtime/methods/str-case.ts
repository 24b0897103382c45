// str methods about case, kinds of characters and padding.
import { typeError } from '../../errors.ts';
import { keywords, type Method, noArguments, oneArgument, positional } from '../callable.ts';
import { textOf } from '../markup.ts';
import { codePoints, isAscii, isPrintable, pyLength } from '../text.ts';
import { type PyValue, typeName } from '../value.ts';
import { intArgument } from './support.ts';

const cased = /\p{Cased}/u;

/** One character in title case; a ligature gives one capital letter and lower-case letters. */
function titleChar(char: string): string {
  const upper = char.toUpperCase();
  const points = codePoints(upper);
  if (points.length === 1) return digraphs[char] ?? upper;
  return points[0]! + points.slice(1).join('').toLowerCase();
}

const digraphs: Record<string, string> = { Ǆ: 'ǅ', ǆ: 'ǅ', Ǉ: 'ǈ', ǉ: 'ǈ', Ǌ: 'ǋ', ǌ: 'ǋ', Ǳ: 'ǲ', ǳ: 'ǲ' };

/** A character in lower case; the Greek sigma has another form at the end of a word. */
function lowerAt(points: readonly string[], at: number): string {
  const char = points[at]!;
  if (char !== 'Σ') return char.toLowerCase();
  const letter = (step: number): boolean => {
    let next = at + step;
    while (next >= 0 && next < points.length && /\p{Case_Ignorable}/u.test(points[next]!)) next += step;
    return next >= 0 && next < points.length && cased.test(points[next]!);
  };
  return letter(-1) && !letter(1) ? 'ς' : 'σ';
}

function title(self: string): string {
  let out = '';
  let inWord = false;
  codePoints(self).forEach((char, at, points) => {
    out += inWord ? lowerAt(points, at) : titleChar(char);
    inWord = cased.test(char);
  });
  return out;
}

export function capitalize(self: string): string {
  const points = codePoints(self);
  return points.length === 0
    ? ''
    : titleChar(points[0]!) + points.map((_char, at) => (at === 0 ? '' : lowerAt(points, at))).join('');
}

function swapcase(self: string): string {
  return codePoints(self)
    .map((char, at, points) => {
      if (/\p{Uppercase}/u.test(char)) return lowerAt(points, at);
      return /\p{Lowercase}/u.test(char) ? char.toUpperCase() : char;
    })
    .join('');
}

const folds: Record<string, string> = {
  ß: 'ss',
  ẞ: 'ss',
  ſ: 's',
  ς: 'σ',
  ŉ: 'ʼn',
  ﬀ: 'ff',
  ﬁ: 'fi',
  ﬂ: 'fl',
  ﬃ: 'ffi',
  ﬄ: 'ffl',
  ﬅ: 'st',
  ﬆ: 'st',
};

function casefold(self: string): string {
  let out = '';
  for (const char of self) out += folds[char] ?? folds[char.toLowerCase()] ?? char.toLowerCase();
  return out;
}

export function isLower(self: string): boolean {
  return /\p{Lowercase}/u.test(self) && !/[\p{Uppercase}\p{Lt}]/u.test(self);
}

export function isUpper(self: string): boolean {
  return /\p{Uppercase}/u.test(self) && !/[\p{Lowercase}\p{Lt}]/u.test(self);
}

function isTitle(self: string): boolean {
  let seen = false;
  let inWord = false;
  for (const char of self) {
    if (/[\p{Uppercase}\p{Lt}]/u.test(char)) {
      if (inWord) return false;
      seen = inWord = true;
    } else if (/\p{Lowercase}/u.test(char)) {
      if (!inWord) return false;
      seen = true;
    } else inWord = false;
  }
  return seen;
}

const digitLike =
  '\\p{Nd}\\u00b2\\u00b3\\u00b9\\u2070\\u2074-\\u2079\\u2080-\\u2089\\u2460-\\u2468\\u2474-\\u247c\\u2488-\\u2490\\u24ea\\u24f5-\\u24fd\\u24ff\\u2776-\\u277e\\u2780-\\u2788\\u278a-\\u2792';
const numerals = '\\p{N}一二三四五六七八九十百千万亿〇零壹贰叁肆伍陆柒捌玖拾佰仟億萬';
const decimalOnly = /^\p{Nd}+$/u;
const digitOnly = new RegExp(`^[${digitLike}]+$`, 'u');
const numericOnly = new RegExp(`^[${numerals}]+$`, 'u');
const letterOnly = /^\p{L}+$/u;
const wordOnly = new RegExp(`^[\\p{L}${numerals}${digitLike}]+$`, 'u');
const identifier = /^[\p{XID_Start}_]\p{XID_Continue}*$/u;

function width(args: PyValue[]): number {
  return Math.min(intArgument(args[0]!), 100_000_000);
}

function fill(value: PyValue | undefined): string {
  if (value === undefined) return ' ';
  const text = textOf(value);
  if (text === undefined) throw typeError(`The fill character must be a unicode character, not ${typeName(value)}`);
  if (pyLength(text) !== 1) throw typeError('The fill character must be exactly one character long');
  return text;
}

export function center(self: string, size: number, char = ' '): string {
  const missing = size - pyLength(self);
  if (missing <= 0) return self;
  // CPython puts the odd blank left only when the width is odd.
  const left = Math.floor(missing / 2) + (missing & size & 1);
  return char.repeat(left) + self + char.repeat(missing - left);
}

function ljust(self: string, args: PyValue[]): string {
  const char = fill(args[1]);
  return self + char.repeat(Math.max(0, width(args) - pyLength(self)));
}

function rjust(self: string, args: PyValue[]): string {
  const char = fill(args[1]);
  return char.repeat(Math.max(0, width(args) - pyLength(self))) + self;
}

function zfill(self: string, args: PyValue[]): string {
  const missing = Math.max(0, width(args) - pyLength(self));
  const sign = /^[+-]/.test(self) ? self[0]! : '';
  return sign + '0'.repeat(missing) + self.slice(sign.length);
}

function expandtabs(self: string, args: PyValue[]): string {
  const size = args[0] === undefined ? 8 : intArgument(args[0]);
  let column = 0;
  let out = '';
  for (const char of self) {
    if (char === '\t') {
      const blanks = size > 0 ? size - (column % size) : 0;
      out += ' '.repeat(blanks);
      column += blanks;
    } else {
      out += char;
      column = char === '\n' || char === '\r' ? 0 : column + 1;
    }
  }
  return out;
}

export const caseMethods: readonly Method[] = [
  noArguments('upper', (self: string) => self.toUpperCase()),
  noArguments('lower', (self: string) => self.toLowerCase()),
  noArguments('title', title),
  noArguments('capitalize', capitalize),
  noArguments('swapcase', swapcase),
  noArguments('casefold', casefold),
  noArguments('islower', isLower),
  noArguments('isupper', isUpper),
  noArguments('istitle', isTitle),
  noArguments('isalpha', (self: string) => letterOnly.test(self)),
  noArguments('isdigit', (self: string) => digitOnly.test(self)),
  noArguments('isdecimal', (self: string) => decimalOnly.test(self)),
  noArguments('isnumeric', (self: string) => numericOnly.test(self)),
  noArguments('isalnum', (self: string) => wordOnly.test(self)),
  noArguments('isascii', isAscii),
  noArguments('isidentifier', (self: string) => identifier.test(self)),
  noArguments('isprintable', (self: string) => codePoints(self).every(isPrintable)),
  positional('center', 1, 2, (self: string, args) => center(self, width(args), fill(args[1]))),
  positional('ljust', 1, 2, ljust),
  positional('rjust', 1, 2, rjust),
  oneArgument('zfill', zfill),
  keywords('expandtabs', ['tabsize'], 0, expandtabs),
];
