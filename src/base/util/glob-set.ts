// The set `[…]` of a glob, with the exact meaning of Python's fnmatch.

const asciiCount = 128;

export const codeOf = (character: string | undefined): number => character?.codePointAt(0) ?? -1;

export class GlobSet {
  readonly #negated: boolean;
  readonly #ascii = new Uint8Array(asciiCount);
  /** First and last character of each range beyond ASCII, in order and without overlap. */
  readonly #ranges: readonly (readonly [number, number])[];

  /** The content of the brackets: chunks between hyphens, where the neighbours of a hyphen are the ends of a range. */
  constructor(inside: readonly string[]) {
    const chunks = withoutEmptyRanges(chunksOf(inside));
    const first = chunks[0] as string[];
    this.#negated = first[0] === '!';
    if (this.#negated) first.shift();
    const ranges: [number, number][] = chunks.flatMap((chunk) =>
      chunk.map((character): [number, number] => [codeOf(character), codeOf(character)]),
    );
    for (let k = 1; k < chunks.length; k++) ranges.push([codeOf(chunks[k - 1]?.at(-1)), codeOf(chunks[k]?.[0])]);
    for (const [low, high] of ranges) if (low >= 0) this.#ascii.fill(1, low, high + 1);
    this.#ranges = joined(ranges.filter(([low, high]) => low >= 0 && high >= asciiCount));
  }

  has(code: number): boolean {
    return (code < asciiCount ? this.#ascii[code] === 1 : this.#isInRange(code)) !== this.#negated;
  }

  #isInRange(code: number): boolean {
    let [low, high] = [0, this.#ranges.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const [first, last] = this.#ranges[middle] as readonly [number, number];
      if (code < first) high = middle;
      else if (code > last) low = middle + 1;
      else return true;
    }
    return false;
  }
}

function joined(ranges: [number, number][]): [number, number][] {
  const out: [number, number][] = [];
  for (const [low, high] of ranges.sort((a, b) => a[0] - b[0])) {
    const last = out.at(-1);
    if (last && low <= last[1]) last[1] = Math.max(last[1], high);
    else out.push([low, high]);
  }
  return out;
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

/** A range that ends before it begins is empty, and its neighbours are joined. */
function withoutEmptyRanges(chunks: readonly string[][]): string[][] {
  const kept: string[][] = [];
  for (let k = chunks.length - 1; k >= 0; k--) {
    const before = chunks[k] as string[];
    const after = kept.at(-1);
    if (after && codeOf(before.at(-1)) > codeOf(after[0])) {
      kept[kept.length - 1] = [...before.slice(0, -1), ...after.slice(1)];
    } else kept.push(before);
  }
  return kept.reverse();
}
