// Finds the styles in which a text may be written, as libyaml's emitter does.
import { isBlankOrEnd, isBreak } from './chars.ts';

export interface ScalarAnalysis {
  readonly multiline: boolean;
  readonly flowPlain: boolean;
  readonly blockPlain: boolean;
  readonly singleQuoted: boolean;
  readonly block: boolean;
}

const allAllowed: ScalarAnalysis = {
  multiline: false,
  flowPlain: true,
  blockPlain: true,
  singleQuoted: true,
  block: true,
};
const emptyText: ScalarAnalysis = { ...allAllowed, flowPlain: false, block: false };

/** Texts that need no further analysis: words, paths, versions. */
const harmless = /^[A-Za-z0-9_/][A-Za-z0-9_./@%+=~^$;()<>&*!|'"`-]*$/;

/** Can be written without an escape. Characters above the basic plane cannot: libyaml escapes them. */
export function isPrintable(c: number): boolean {
  if (c < 0x7f) return c >= 0x20 || c === 10;
  if (c < 0xa0) return false;
  if (c >= 0xd800 && c <= 0xdfff) return false;
  return c !== 0xfeff && c < 0xfffe;
}

export function analyzeScalar(text: string, allowUnicode: boolean): ScalarAnalysis {
  if (text === '') return emptyText;
  if (harmless.test(text)) return allAllowed;
  const marks = findIndicators(text);
  const shape = findShape(text, allowUnicode);
  const edges = shape.edgeBlank || shape.lineBreaks;
  const unquotable = shape.breakSpace || shape.spaceBreak || shape.special;
  return {
    multiline: shape.lineBreaks,
    flowPlain: !marks.flow && !edges && !unquotable,
    blockPlain: !marks.block && !edges && !unquotable,
    singleQuoted: !unquotable,
    block: !shape.trailingSpace && !shape.spaceBreak && !shape.special,
  };
}

const leadingIndicators = '#,[]{}&*!|>\'"%@`';

/** Characters that have a meaning in flow or in block context. */
function findIndicators(text: string): { flow: boolean; block: boolean } {
  const first = text.charAt(0);
  let block = text.startsWith('---') || text.startsWith('...') || leadingIndicators.includes(first);
  let flow = block;
  const secondBlank = isBlankOrEnd(codeOrEnd(text, 1));
  if (first === '?' || first === ':') flow = true;
  if ((first === '?' || first === ':' || first === '-') && secondBlank) block = flow = true;
  let precededByBlank = isBlankOrEnd(codeOrEnd(text, 0));
  for (let i = 1; i < text.length; i++) {
    const c = codeOrEnd(text, i);
    if (c === 44 || c === 63 || c === 91 || c === 93 || c === 123 || c === 125) flow = true;
    else if (c === 58) {
      flow = true;
      if (isBlankOrEnd(codeOrEnd(text, i + 1))) block = true;
    } else if (c === 35 && precededByBlank) block = flow = true;
    precededByBlank = isBlankOrEnd(c);
  }
  return { flow, block };
}

/** The code at an index; control characters other than blanks and breaks do not count as blank. */
function codeOrEnd(text: string, index: number): number {
  const c = text.charCodeAt(index);
  if (c === 0) return Number.NaN;
  return c < 32 && c !== 9 && c !== 10 && c !== 13 ? 0x7f : c;
}

interface Shape {
  lineBreaks: boolean;
  special: boolean;
  /** Begins or ends with a space or break. */
  edgeBlank: boolean;
  trailingSpace: boolean;
  breakSpace: boolean;
  spaceBreak: boolean;
}

function findShape(text: string, allowUnicode: boolean): Shape {
  const shape: Shape = {
    lineBreaks: false,
    special: false,
    edgeBlank: false,
    trailingSpace: text.endsWith(' '),
    breakSpace: false,
    spaceBreak: false,
  };
  let previousSpace = false;
  let previousBreak = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (!isPrintable(c) || (c > 0x7f && !allowUnicode)) shape.special = true;
    const space = c === 32;
    const lineBreak = isBreak(c);
    if (lineBreak) shape.lineBreaks = true;
    if ((space || lineBreak) && (i === 0 || i === text.length - 1)) shape.edgeBlank = true;
    if (space && previousBreak) shape.breakSpace = true;
    if (lineBreak && previousSpace) shape.spaceBreak = true;
    previousSpace = space;
    previousBreak = lineBreak;
  }
  return shape;
}
