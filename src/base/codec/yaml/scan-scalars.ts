// Scanning of plain and quoted scalars.
import { hexValue, isBlank, isBlankOrEnd, isBreak, isFlowIndicator } from './chars.ts';
import type { ScanState } from './scan-state.ts';
import { T, Token } from './tokens.ts';

const hash = 35;
const colon = 58;
const backslash = 92;

/** A scalar without quotes; may continue over lines that are indented deeper than the parent. */
export function scanPlainScalar(s: ScanState): Token {
  const start = s.pos;
  const indent = s.indent + 1;
  let text = '';
  // The value is copied in chunks, one per line: blanks inside a line are part of the chunk.
  let chunkStart = start;
  let chunkEnd = start;
  let broken = false;
  for (;;) {
    if (s.atDocumentIndicator() || s.at(0) === hash) break;
    const from = s.pos;
    const to = endOfPlainRun(s, start);
    if (to > from) {
      if (broken) {
        text += s.text.slice(chunkStart, chunkEnd) + s.foldBreaks();
        chunkStart = from;
        broken = false;
      }
      s.moveTo(to);
      chunkEnd = to;
    }
    const c = s.at(0);
    if (!isBlank(c) && !isBreak(c)) break;
    broken = skipPlainBlanks(s, broken, indent, start);
    if (s.flowLevel === 0 && s.column < indent) break;
  }
  if (broken) {
    s.foldBreaks();
    s.simpleKeyAllowed = true;
  }
  return new Token(T.scalar, start, chunkEnd, text + s.text.slice(chunkStart, chunkEnd), '', true);
}

/** Where the run of non-blank characters of a plain scalar ends. */
function endOfPlainRun(s: ScanState, start: number): number {
  const text = s.text;
  const flow = s.flowLevel > 0;
  let pos = s.pos;
  for (;;) {
    const c = text.charCodeAt(pos);
    if (isBlankOrEnd(c)) return pos;
    if (c === colon) {
      const next = text.charCodeAt(pos + 1);
      if (flow && (isFlowIndicator(next) || next === 63)) {
        s.moveTo(pos);
        s.fail("found unexpected ':'", 'while scanning a plain scalar', start);
      }
      if (isBlankOrEnd(next)) return pos;
    } else if (flow && isFlowIndicator(c)) return pos;
    pos++;
  }
}

/** Skips blanks and line breaks; true when there was, or had been, a break. */
function skipPlainBlanks(s: ScanState, before: boolean, indent: number, start: number): boolean {
  let broken = before;
  for (;;) {
    const c = s.at(0);
    if (isBlank(c)) {
      if (c === 9 && broken && s.column < indent) {
        s.fail('found a tab character that violates indentation', 'while scanning a plain scalar', start);
      }
      s.pos++;
    } else if (isBreak(c)) {
      s.noteBreak();
      broken = true;
    } else return broken;
  }
}

/** A scalar in single or double quotes. */
export function scanQuotedScalar(s: ScanState, single: boolean): Token {
  const quote = single ? 39 : 34;
  const start = s.pos;
  s.pos++;
  let text = '';
  let chunkStart = s.pos;
  for (;;) {
    if (s.atDocumentIndicator()) {
      s.fail('found unexpected document indicator', 'while scanning a quoted scalar', start);
    }
    if (s.atEnd) s.fail('found unexpected end of stream', 'while scanning a quoted scalar', start);
    // Characters up to a blank, the end quote or an escape.
    let escapedBreak = false;
    for (;;) {
      s.moveTo(endOfQuotedRun(s, quote, single));
      const c = s.at(0);
      if (isBlankOrEnd(c)) break;
      if (c === quote && !(single && s.at(1) === quote)) break;
      text += s.text.slice(chunkStart, s.pos);
      if (c === quote) {
        text += "'";
        s.pos += 2;
      } else if (isBreak(s.at(1))) {
        s.pos++;
        s.takeBreak();
        escapedBreak = true;
      } else text += takeEscape(s, start);
      chunkStart = s.pos;
      if (escapedBreak) break;
    }
    if (s.at(0) === quote) break;
    const chunkEnd = s.pos;
    const folded = skipQuotedBlanks(s, escapedBreak);
    if (folded !== undefined) {
      text += s.text.slice(chunkStart, chunkEnd) + folded;
      chunkStart = s.pos;
    }
  }
  text += s.text.slice(chunkStart, s.pos);
  s.pos++;
  return new Token(T.scalar, start, s.pos, text);
}

function endOfQuotedRun(s: ScanState, quote: number, single: boolean): number {
  const text = s.text;
  let pos = s.pos;
  for (;;) {
    const c = text.charCodeAt(pos);
    if (isBlankOrEnd(c) || c === quote || (c === backslash && !single)) return pos;
    pos++;
  }
}

/**
 * Skips blanks and line breaks; returns the text that replaces them when there was a break, undefined for plain blanks.
 */
function skipQuotedBlanks(s: ScanState, escapedBreak: boolean): string | undefined {
  let broken = escapedBreak;
  for (;;) {
    const c = s.at(0);
    if (isBlank(c)) s.pos++;
    else if (isBreak(c)) {
      // After an escaped break, the others stay as they are.
      if (escapedBreak) s.laterBreaks += s.takeBreak();
      else s.noteBreak();
      broken = true;
    } else break;
  }
  return broken ? s.foldBreaks() : undefined;
}

const escapes: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  '/': '/',
  '\\': '\\',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
};
const escapeLengths: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** Takes an escape sequence of a double-quoted scalar. */
function takeEscape(s: ScanState, start: number): string {
  const context = 'while parsing a quoted scalar';
  const letter = s.text.charAt(s.pos + 1);
  if (Object.hasOwn(escapes, letter)) {
    s.pos += 2;
    return escapes[letter] ?? '';
  }
  const length = Object.hasOwn(escapeLengths, letter) ? (escapeLengths[letter] ?? 0) : 0;
  if (length === 0) s.fail('found unknown escape character', context, start);
  s.pos += 2;
  let code = 0;
  for (let i = 0; i < length; i++) {
    const digit = hexValue(s.at(i));
    if (digit < 0) s.fail('did not find expected hexdecimal number', context, start);
    code = code * 16 + digit;
  }
  // libyaml keeps 32 bits.
  code >>>= 0;
  if ((code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) {
    s.fail('found invalid Unicode character escape code', context, start);
  }
  s.pos += length;
  return String.fromCodePoint(code);
}
