// The characters before and after a position in a text, as needed by `^`, `$`, `\b` and similar assertions.
import { CharacterSet } from './character-set.ts';
import { wordSet } from './sets.ts';
import type { AssertKind } from './tree.ts';

/** Bits for a neighbouring character. No bit means an ordinary character. */
export const none = 1;
export const newline = 2;
export const lastNewline = 4;
const wordCharacter = 8;
const asciiWordCharacter = 16;

const words = new CharacterSet(wordSet(false), false);
const asciiWords = new CharacterSet(wordSet(true), false);

export function kindOf(code: number): number {
  if (code === 10) return newline;
  return (words.has(code) ? wordCharacter : 0) | (asciiWords.has(code) ? asciiWordCharacter : 0);
}

export function holds(kind: AssertKind, ascii: boolean, before: number, behind: number): boolean {
  switch (kind) {
    case 'start':
      return (before & none) !== 0;
    case 'end':
      return (behind & none) !== 0;
    case 'before-last-newline':
      return (behind & (none | lastNewline)) !== 0;
    case 'line-start':
      return (before & (none | newline)) !== 0;
    case 'line-end':
      return (behind & (none | newline)) !== 0;
    default: {
      // Python before 3.14: in an empty text there is neither.
      if ((before & behind & none) !== 0) return false;
      const word = ascii ? asciiWordCharacter : wordCharacter;
      const isBoundary = ((before ^ behind) & word) !== 0;
      return isBoundary === (kind === 'boundary');
    }
  }
}
