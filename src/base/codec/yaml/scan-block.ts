// Scanning of block scalars: literal (`|`) and folded (`>`).
import { isBlank, isBreak, isBreakOrEnd, isDigit } from './chars.ts';
import type { ScanState } from './scan-state.ts';
import { T, Token } from './tokens.ts';

const context = 'while scanning a block scalar';

interface BlockHeader {
  /** -1 drops the final line breaks, 1 keeps them all, 0 keeps one. */
  readonly chomping: number;
  /** Explicit indentation, 0 when it is to be detected. */
  readonly increment: number;
}

export function scanBlockScalar(s: ScanState, literal: boolean): Token {
  const start = s.pos;
  s.pos++;
  const { chomping, increment } = scanHeader(s, start);
  let indent = increment === 0 ? 0 : Math.max(s.indent, 0) + increment;
  let end = s.pos;
  const breaks = { text: '', end };
  indent = takeIndentation(s, indent, breaks, start);
  let text = '';
  let leadingBreak = '';
  let leadingBlank = false;
  while (s.column === indent && !s.atEnd) {
    const trailingBlank = isBlank(s.at(0));
    if (!literal && leadingBreak === '\n' && !leadingBlank && !trailingBlank) {
      if (breaks.text === '') text += ' ';
    } else text += leadingBreak;
    text += breaks.text;
    breaks.text = '';
    leadingBlank = trailingBlank;
    const from = s.pos;
    let to = from;
    while (!isBreakOrEnd(s.text.charCodeAt(to))) to++;
    s.moveTo(to);
    text += s.text.slice(from, to);
    leadingBreak = s.takeBreak();
    indent = takeIndentation(s, indent, breaks, start);
  }
  end = breaks.end;
  if (chomping !== -1) text += leadingBreak;
  if (chomping === 1) text += breaks.text;
  return new Token(T.scalar, start, end, text);
}

/** The indicators after `|` or `>`, in either order, and the rest of that line. */
function scanHeader(s: ScanState, start: number): BlockHeader {
  let chomping = takeChomping(s);
  const increment = takeIncrement(s, start);
  if (chomping === 0) chomping = takeChomping(s, increment !== 0);
  skipToLineEnd(s, 'did not find expected comment or line break', context, start);
  return { chomping, increment };
}

function takeChomping(s: ScanState, allowed = true): number {
  const c = s.at(0);
  if (!allowed || (c !== 43 && c !== 45)) return 0;
  s.pos++;
  return c === 43 ? 1 : -1;
}

function takeIncrement(s: ScanState, start: number): number {
  const c = s.at(0);
  if (!isDigit(c)) return 0;
  if (c === 48) s.fail('found an indentation indicator equal to 0', context, start);
  s.pos++;
  return c - 48;
}

/** Skips blanks, a comment and the line break; anything else is a problem. */
export function skipToLineEnd(s: ScanState, problem: string, about: string, start: number): void {
  s.skipBlanks();
  if (s.at(0) === 35) {
    let to = s.pos;
    while (!isBreakOrEnd(s.text.charCodeAt(to))) to++;
    s.moveTo(to);
  }
  if (!isBreakOrEnd(s.at(0))) s.fail(problem, about, start);
  s.takeBreak();
}

/** Takes indentation and empty lines; detects the indentation when it is still 0, and gives it back. */
function takeIndentation(s: ScanState, known: number, breaks: { text: string; end: number }, start: number): number {
  let deepest = 0;
  breaks.end = s.pos;
  for (;;) {
    while ((known === 0 || s.column < known) && s.at(0) === 32) s.pos++;
    if (s.column > deepest) deepest = s.column;
    if ((known === 0 || s.column < known) && s.at(0) === 9) {
      s.fail('found a tab character where an indentation space is expected', context, start);
    }
    if (!isBreak(s.at(0))) break;
    breaks.text += s.takeBreak();
    breaks.end = s.pos;
  }
  return known === 0 ? Math.max(deepest, s.indent + 1, 1) : known;
}
