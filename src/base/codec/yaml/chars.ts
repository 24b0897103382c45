// Character classes of YAML 1.1, on UTF-16 codes; NaN (past the end) counts as the end of the text.
// The reader has already refused all other control characters, so "32 or less" means blank or break.

export const isBreak = (c: number): boolean => c === 10 || c === 13 || c === 0x85 || c === 0x2028 || c === 0x2029;

export const isBlank = (c: number): boolean => c === 32 || c === 9;

/** A line break or the end of the text. */
export function isBreakOrEnd(c: number): boolean {
  if (c > 13) return c === 0x85 || c === 0x2028 || c === 0x2029;
  return c !== 9;
}

/** A space, tab, line break or the end of the text. */
export const isBlankOrEnd = (c: number): boolean => !(c > 32) || c === 0x85 || c === 0x2028 || c === 0x2029;

/** Letters, digits, `_` and `-`: what anchors and tag handles are made of. */
export const isWord = (c: number): boolean =>
  (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || (c >= 48 && c <= 57) || c === 95 || c === 45;

export const isDigit = (c: number): boolean => c >= 48 && c <= 57;

/** The value of a hexadecimal digit, -1 for any other character. */
export function hexValue(c: number): number {
  if (c >= 48 && c <= 57) return c - 48;
  if (c >= 65 && c <= 70) return c - 55;
  if (c >= 97 && c <= 102) return c - 87;
  return -1;
}

const flowIndicators = codes(',[]{}');
const uriCharacters = codes(";/?:@&=+$.%!~*'()");

function codes(text: string): Uint8Array {
  const table = new Uint8Array(128);
  for (const char of text) table[char.charCodeAt(0)] = 1;
  return table;
}

/** One of `,[]{}`. */
export const isFlowIndicator = (c: number): boolean => c < 128 && flowIndicators[c] === 1;

/** What a tag may hold; verbatim tags (`!<…>`) also take `,`, `[` and `]`. */
export const isUri = (c: number, verbatim: boolean): boolean =>
  isWord(c) || (c < 128 && uriCharacters[c] === 1) || (verbatim && (c === 44 || c === 91 || c === 93));

/** The number of characters above the basic plane (two UTF-16 codes each) between two places. */
export function countAstral(text: string, from: number, to: number): number {
  let count = 0;
  for (let i = from; i < to; i++) {
    const c = text.charCodeAt(i);
    if (c >= 0xd800 && c < 0xdc00) count++;
  }
  return count;
}
