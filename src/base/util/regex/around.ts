// What stands before and behind a place in a text, as far as `^`, `$`, `\b` and their like ask for it.
import { CharacterSet } from './character-set.ts';
import { WORD } from './sets.ts';
import type { AssertKind } from './tree.ts';

/** Bits of a neighbour. No bit at all is an ordinary character. */
export const NONE = 1;
export const NEWLINE = 2;
export const LAST_NEWLINE = 4;
const WORD_CHARACTER = 8;
const ASCII_WORD_CHARACTER = 16;

const words = new CharacterSet(WORD(false), false);
const asciiWords = new CharacterSet(WORD(true), false);

export function kindOf(code: number): number {
  if (code === 10) return NEWLINE;
  return (words.has(code) ? WORD_CHARACTER : 0) | (asciiWords.has(code) ? ASCII_WORD_CHARACTER : 0);
}

export function holds(kind: AssertKind, ascii: boolean, before: number, behind: number): boolean {
  switch (kind) {
    case 'start':
      return (before & NONE) !== 0;
    case 'end':
      return (behind & NONE) !== 0;
    case 'before-last-newline':
      return (behind & (NONE | LAST_NEWLINE)) !== 0;
    case 'line-start':
      return (before & (NONE | NEWLINE)) !== 0;
    case 'line-end':
      return (behind & (NONE | NEWLINE)) !== 0;
    default: {
      // Python before 3.14: in an empty text there is neither.
      if ((before & behind & NONE) !== 0) return false;
      const word = ascii ? ASCII_WORD_CHARACTER : WORD_CHARACTER;
      const isBoundary = ((before ^ behind) & word) !== 0;
      return isBoundary === (kind === 'boundary');
    }
  }
}
