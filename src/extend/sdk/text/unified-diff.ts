// Unified diffs exactly as Python's difflib creates them, because states and functions return them to people and
// scripts.

interface Match {
  readonly a: number;
  readonly b: number;
  readonly size: number;
}
type Tag = 'equal' | 'replace' | 'delete' | 'insert';
interface Opcode {
  readonly tag: Tag;
  readonly a1: number;
  readonly a2: number;
  readonly b1: number;
  readonly b2: number;
}

/**
 * The positions of each line in `b`; lines that are more than a hundredth of a long text are not used for the search.
 */
function placesOf(b: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [index, line] of b.entries()) {
    const list = places.get(line);
    if (list) list.push(index);
    else places.set(line, [index]);
  }
  if (b.length >= 200) {
    const often = Math.floor(b.length / 100) + 1;
    for (const [line, list] of places) if (list.length > often) places.delete(line);
  }
  return places;
}

/** The longest run that both ranges share; the earliest of several. */
function longest(a: readonly string[], b: readonly string[], places: Map<string, number[]>, range: Range): Match {
  let best: Match = { a: range.a1, b: range.b1, size: 0 };
  let lengths = new Map<number, number>();
  for (let i = range.a1; i < range.a2; i++) {
    const now = new Map<number, number>();
    for (const j of places.get(a[i] as string) ?? []) {
      if (j < range.b1) continue;
      if (j >= range.b2) break;
      const size = (lengths.get(j - 1) ?? 0) + 1;
      now.set(j, size);
      if (size > best.size) best = { a: i - size + 1, b: j - size + 1, size };
    }
    lengths = now;
  }
  let { a: i, b: j, size } = best;
  while (i > range.a1 && j > range.b1 && a[i - 1] === b[j - 1]) [i, j, size] = [i - 1, j - 1, size + 1];
  while (i + size < range.a2 && j + size < range.b2 && a[i + size] === b[j + size]) size++;
  return { a: i, b: j, size };
}

interface Range {
  readonly a1: number;
  readonly a2: number;
  readonly b1: number;
  readonly b2: number;
}

function matchingBlocks(a: readonly string[], b: readonly string[]): Match[] {
  const places = placesOf(b);
  const found: Match[] = [];
  const queue: Range[] = [{ a1: 0, a2: a.length, b1: 0, b2: b.length }];
  for (let range = queue.pop(); range; range = queue.pop()) {
    const match = longest(a, b, places, range);
    if (match.size === 0) continue;
    found.push(match);
    if (range.a1 < match.a && range.b1 < match.b) queue.push({ ...range, a2: match.a, b2: match.b });
    const [a1, b1] = [match.a + match.size, match.b + match.size];
    if (a1 < range.a2 && b1 < range.b2) queue.push({ ...range, a1, b1 });
  }
  found.sort((x, y) => x.a - y.a || x.b - y.b);
  const joined: Match[] = [];
  for (const match of found) {
    const last = joined.at(-1);
    if (last && last.a + last.size === match.a && last.b + last.size === match.b) {
      joined[joined.length - 1] = { ...last, size: last.size + match.size };
    } else joined.push(match);
  }
  return [...joined, { a: a.length, b: b.length, size: 0 }];
}

function opcodes(a: readonly string[], b: readonly string[]): Opcode[] {
  const found: Opcode[] = [];
  let [i, j] = [0, 0];
  for (const match of matchingBlocks(a, b)) {
    const tag: Tag | undefined =
      i < match.a ? (j < match.b ? 'replace' : 'delete') : j < match.b ? 'insert' : undefined;
    if (tag) found.push({ tag, a1: i, a2: match.a, b1: j, b2: match.b });
    [i, j] = [match.a + match.size, match.b + match.size];
    if (match.size > 0) found.push({ tag: 'equal', a1: match.a, a2: i, b1: match.b, b2: j });
  }
  return found;
}

/** Opcodes in groups with `n` equal lines around each change. */
function grouped(codes: Opcode[], n: number): Opcode[][] {
  const list = codes.length > 0 ? [...codes] : [{ tag: 'equal', a1: 0, a2: 1, b1: 0, b2: 1 } as Opcode];
  const first = list[0] as Opcode;
  if (first.tag === 'equal')
    list[0] = { ...first, a1: Math.max(first.a1, first.a2 - n), b1: Math.max(first.b1, first.b2 - n) };
  const last = list.at(-1) as Opcode;
  if (last.tag === 'equal') {
    list[list.length - 1] = { ...last, a2: Math.min(last.a2, last.a1 + n), b2: Math.min(last.b2, last.b1 + n) };
  }
  const groups: Opcode[][] = [];
  let group: Opcode[] = [];
  for (const code of list) {
    let { a1, b1 } = code;
    if (code.tag === 'equal' && code.a2 - a1 > n * 2) {
      group.push({ ...code, a2: Math.min(code.a2, a1 + n), b2: Math.min(code.b2, b1 + n) });
      groups.push(group);
      group = [];
      [a1, b1] = [Math.max(a1, code.a2 - n), Math.max(b1, code.b2 - n)];
    }
    group.push({ ...code, a1, b1 });
  }
  if (group.length > 0 && !(group.length === 1 && group[0]?.tag === 'equal')) groups.push(group);
  return groups;
}

function rangeText(start: number, stop: number): string {
  const length = stop - start;
  if (length === 1) return String(start + 1);
  return `${length === 0 ? start : start + 1},${length}`;
}

export interface DiffNames {
  readonly from?: string;
  readonly to?: string;
  /** Unchanged lines around each change. */
  readonly context?: number;
}

/** The diff of two texts in lines (each with its line end); empty when they are equal. */
export function unifiedDiff(a: readonly string[], b: readonly string[], names: DiffNames = {}): string {
  const out: string[] = [];
  for (const group of grouped(opcodes(a, b), names.context ?? 3)) {
    if (out.length === 0) out.push(`--- ${names.from ?? ''}\n`, `+++ ${names.to ?? ''}\n`);
    const [first, last] = [group[0] as Opcode, group.at(-1) as Opcode];
    out.push(`@@ -${rangeText(first.a1, last.a2)} +${rangeText(first.b1, last.b2)} @@\n`);
    for (const code of group) {
      if (code.tag === 'equal') out.push(...a.slice(code.a1, code.a2).map((line) => ` ${line}`));
      else {
        if (code.tag !== 'insert') out.push(...a.slice(code.a1, code.a2).map((line) => `-${line}`));
        if (code.tag !== 'delete') out.push(...b.slice(code.b1, code.b2).map((line) => `+${line}`));
      }
    }
  }
  return out.join('');
}

/** Lines with their ends, as Python's splitlines(True). */
export function keepLines(text: string): string[] {
  return text === '' ? [] : (text.match(/[^\n\r]*(?:\r\n|\n|\r|$)/g) ?? []).filter((line) => line !== '');
}
