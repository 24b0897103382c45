// Shell globs with the exact meaning of Python's fnmatch, compiled once per pattern.

export type Matcher = (text: string) => boolean;

const MAX_CACHED = 1000;
const matchers = new Map<string, Matcher>();
const SPECIAL = /[*?[]/;

/** Whether the text has characters that mean something in a glob. */
export function hasGlob(text: string): boolean {
  return SPECIAL.test(text);
}

export function matchesGlob(text: string, pattern: string): boolean {
  return globMatcher(pattern)(text);
}

/** The test for a pattern; the common shapes need no regular expression. */
export function globMatcher(pattern: string): Matcher {
  const known = matchers.get(pattern);
  if (known) return known;
  const made = makeMatcher(pattern);
  if (matchers.size >= MAX_CACHED) matchers.clear();
  matchers.set(pattern, made);
  return made;
}

function makeMatcher(pattern: string): Matcher {
  if (!SPECIAL.test(pattern)) return (text) => text === pattern;
  if (/^\*+$/.test(pattern)) return () => true;
  const simple = /^(\*?)([^*?[]+)(\*?)$/.exec(pattern);
  if (simple) {
    const middle = simple[2] as string;
    if (simple[1] && simple[3]) return (text) => text.includes(middle);
    return simple[1] ? (text) => text.endsWith(middle) : (text) => text.startsWith(middle);
  }
  const expression = globToRegExp(pattern);
  return (text) => expression.test(text);
}

/** Translates a glob; each `*` but the last is atomic, so that hostile patterns cost no exponential time. */
export function globToRegExp(pattern: string): RegExp {
  const pieces = globPieces([...pattern]);
  const parts: string[] = [''];
  for (const piece of pieces) {
    if (piece !== '*') parts[parts.length - 1] += piece;
    else if (parts.length === 1 || parts.at(-1) !== '') parts.push('');
  }
  let source = `^${parts[0]}`;
  for (let i = 1; i < parts.length; i++) {
    const part = parts[i] as string;
    source += i === parts.length - 1 ? `[^]*${part}` : `(?=(?<s${i}>[^]*?${part}))\\k<s${i}>`;
  }
  return new RegExp(`${source}$`, 'u');
}

/** Every character, set or `?` as a piece of regular expression; a star stays `*`. */
function globPieces(pattern: readonly string[]): string[] {
  const pieces: string[] = [];
  let at = 0;
  while (at < pattern.length) {
    const character = pattern[at++] as string;
    if (character === '*') pieces.push('*');
    else if (character === '?') pieces.push('[^]');
    else if (character !== '[') pieces.push(literal(character));
    else {
      const end = endOfSet(pattern, at);
      if (end < 0) pieces.push('\\[');
      else {
        pieces.push(setPiece(pattern.slice(at, end)));
        at = end + 1;
      }
    }
  }
  return pieces;
}

const literal = (character: string): string => `\\u{${(character.codePointAt(0) as number).toString(16)}}`;

function endOfSet(pattern: readonly string[], start: number): number {
  let at = start;
  if (pattern[at] === '!') at++;
  if (pattern[at] === ']') at++;
  while (at < pattern.length && pattern[at] !== ']') at++;
  return at < pattern.length ? at : -1;
}

/** The inside of `[…]`: chunks between hyphens, where the neighbours of a hyphen are the ends of a range. */
function setPiece(inside: readonly string[]): string {
  const chunks = withoutEmptyRanges(chunksOf(inside));
  const first = chunks[0] as string[];
  const negated = first[0] === '!';
  if (negated) first.shift();
  if (chunks.length === 1 && first.length === 0) return negated ? '[^]' : '(?!)';
  const body = chunks.map((chunk) => chunk.map(literal).join('')).join('-');
  return `[${negated ? '^' : ''}${body}]`;
}

function chunksOf(inside: readonly string[]): string[][] {
  if (!inside.includes('-')) return [[...inside]];
  const chunks: string[][] = [];
  let start = 0;
  let search = inside[0] === '!' ? 2 : 1;
  for (;;) {
    const hyphen = inside.indexOf('-', search);
    if (hyphen < 0) break;
    chunks.push(inside.slice(start, hyphen));
    start = hyphen + 1;
    search = hyphen + 3;
  }
  const rest = inside.slice(start);
  if (rest.length > 0) chunks.push(rest);
  else chunks.at(-1)?.push('-');
  return chunks;
}

function withoutEmptyRanges(chunks: string[][]): string[][] {
  for (let k = chunks.length - 1; k > 0; k--) {
    const before = chunks[k - 1] as string[];
    const after = chunks[k] as string[];
    if (codeOf(before.at(-1)) > codeOf(after[0])) {
      chunks.splice(k - 1, 2, [...before.slice(0, -1), ...after.slice(1)]);
    }
  }
  return chunks;
}

const codeOf = (character: string | undefined): number => character?.codePointAt(0) ?? -1;
