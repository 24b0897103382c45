// Shell globs with the exact meaning of Python's fnmatch, compiled once per pattern. Patterns and texts may be
// untrusted:
// a star is never retried once a later one is reached, so the cost is at most the pattern's length times the text's.
import type { Budget } from './budget.ts';
import { codeOf, GlobSet } from './glob-set.ts';
import { readCodes } from './read-codes.ts';

/** A budget is needed where both pattern and text come from outside and could be expensive. */
export type Matcher = (text: string, budget?: Budget) => boolean;

const maxCached = 1000;
/** Longer patterns are not cached: a peer that sends them must not fill the memory. */
const maxCachedLength = 1024;
const matchers = new Map<string, Matcher>();
const special = /[*?[]/;

/** Whether the text contains special characters of globs. */
export function hasGlob(text: string): boolean {
  return special.test(text);
}

export function matchesGlob(text: string, pattern: string): boolean {
  return globMatcher(pattern)(text);
}

/** The compiled matcher for a pattern. */
export function globMatcher(pattern: string): Matcher {
  const known = matchers.get(pattern);
  if (known) return known;
  const made = makeMatcher(pattern);
  if (pattern.length > maxCachedLength) return made;
  if (matchers.size >= maxCached) matchers.clear();
  matchers.set(pattern, made);
  return made;
}

/** Common forms need no general matcher. */
function makeMatcher(pattern: string): Matcher {
  if (!special.test(pattern)) return (text) => text === pattern;
  if (/^\*+$/.test(pattern)) return () => true;
  const simple = /^(\*?)([^*?[]+)(\*?)$/.exec(pattern);
  if (simple) {
    const middle = simple[2] as string;
    if (simple[1] && simple[3]) return (text) => text.includes(middle);
    return simple[1] ? (text) => text.endsWith(middle) : (text) => text.startsWith(middle);
  }
  return generalMatcher(pattern);
}

/** A character, a set, any character (`?`) or any text (`*`). */
type Chunk = number | GlobSet | '?' | '*';

/** The matcher for every other form. */
export function generalMatcher(pattern: string): Matcher {
  const pieces = piecesOf([...pattern]);
  const start = pattern.slice(0, pattern.search(special));
  return (text, budget) => {
    if (!text.startsWith(start)) return false;
    const wide = text.length > buffer.length ? new Uint32Array(text.length) : buffer;
    return matchCodes(pieces, wide, readCodes(text, wide), budget);
  };
}

/** Buffer for the characters of a text, unless the text is long. */
const buffer = new Uint32Array(4096);

/** The part after a star is tried at every position from the star on; the first match is as good as any later one. */
function matchCodes(pieces: readonly Chunk[], codes: Uint32Array, length: number, budget: Budget | undefined): boolean {
  let [piece, at, star, restart, steps] = [0, 0, -1, 0, 0];
  while (at < length) {
    if (++steps === bundle) {
      budget?.spend(steps);
      steps = 0;
    }
    const wanted = pieces[piece];
    if (wanted === '*') {
      star = ++piece;
      restart = at;
      // Nothing follows the star: it matches the rest.
      if (piece === pieces.length) return true;
    } else if (wanted !== undefined && isOne(wanted, codes[at] as number)) {
      piece++;
      at++;
    } else {
      if (star < 0) return false;
      piece = star;
      at = ++restart;
    }
  }
  budget?.spend(steps);
  while (pieces[piece] === '*') piece++;
  return piece === pieces.length;
}

const bundle = 1024;
const isOne = (piece: Exclude<Chunk, '*'>, code: number): boolean =>
  piece === code || piece === '?' || (typeof piece === 'object' && piece.has(code));

function piecesOf(pattern: readonly string[]): Chunk[] {
  const pieces: Chunk[] = [];
  let hasSets = true;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] as string;
    if (character === '*') {
      if (pieces.at(-1) !== '*') pieces.push('*');
      continue;
    }
    const end = character === '[' && hasSets ? endOfSet(pattern, at + 1) : -1;
    // When one set is unterminated, all sets after it are.
    if (character === '[' && end < 0) hasSets = false;
    pieces.push(character === '?' ? '?' : end < 0 ? codeOf(character) : new GlobSet(pattern.slice(at + 1, end)));
    if (end >= 0) at = end;
  }
  return pieces;
}

function endOfSet(pattern: readonly string[], start: number): number {
  let at = start;
  if (pattern[at] === '!') at++;
  if (pattern[at] === ']') at++;
  return pattern.indexOf(']', at);
}
