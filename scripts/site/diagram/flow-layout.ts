// Places the nodes of a flowchart: each group by itself, in ranks along the direction of its arrows, and groups like
// nodes in the group around them.
import type { Flow } from './flow-read.ts';
import { lineHeight, widthOf, wrap } from './text.ts';

export interface Box {
  readonly id: string;
  x: number;
  y: number;
  readonly width: number;
  readonly height: number;
  readonly lines: readonly string[];
  /** Undefined for nodes. */
  readonly inside?: readonly Box[];
}

const padding = { x: 14, y: 9 };
const groupPadding = { x: 16, top: 32, bottom: 16 };
const gap = { rank: 58, beside: 16 };

/** The outermost box; its parts have places relative to the drawing. */
export function layOut(flow: Flow): Box {
  const box = group(flow, undefined);
  move(box, 0, 0);
  return box;
}

function move(box: Box, x: number, y: number): void {
  box.x += x;
  box.y += y;
  for (const each of box.inside ?? []) move(each, box.x, box.y);
}

function group(flow: Flow, id: string | undefined): Box {
  const own = [...flow.nodes.values()]
    .filter((node) => node.group === id)
    .map(({ id: name, label }) => node(name, label));
  const below = [...flow.groups.values()].filter(({ parent }) => parent === id).map((each) => group(flow, each.id));
  const inside = [...own, ...below];
  const margin = id === undefined ? { x: 2, top: 2, bottom: 2 } : groupPadding;
  const size = place(inside, liftedEdges(flow, inside), flow, margin);
  const lines = id === undefined ? [] : [flow.groups.get(id)?.label ?? id];
  return {
    id: id ?? '',
    x: 0,
    y: 0,
    ...size,
    width: Math.max(size.width, ...lines.map((line) => widthOf(line) + 30)),
    lines,
    inside,
  };
}

function node(id: string, label: string): Box {
  const lines = wrap(label, 190);
  const width = Math.max(...lines.map(widthOf)) + 2 * padding.x;
  return { id, x: 0, y: 0, width, height: lines.length * lineHeight + 2 * padding.y, lines };
}

type Edges = readonly (readonly [Box, Box, string])[];

/** Arrows between the parts of a group, also when they lead to something inside a part. */
function liftedEdges(flow: Flow, parts: readonly Box[]): Edges {
  const partOf = new Map<string, Box>();
  const add = (box: Box, part: Box): void => {
    partOf.set(box.id, part);
    for (const each of box.inside ?? []) add(each, part);
  };
  for (const part of parts) add(part, part);
  return flow.edges.flatMap(({ from, to, label }) => {
    const [start, end] = [partOf.get(from), partOf.get(to)];
    return start && end && start !== end ? [[start, end, label] as const] : [];
  });
}

/** The longest way to each part; an arrow back to where the way came from does not count. */
function ranksOf(parts: readonly Box[], edges: Edges): Map<Box, number> {
  const ranks = new Map<Box, number>();
  const forward = new Map<Box, Set<Box>>();
  for (const [from, to] of edges) {
    if (reaches(forward, to, from)) continue;
    forward.set(from, (forward.get(from) ?? new Set()).add(to));
  }
  const rank = (box: Box): number => {
    const known = ranks.get(box);
    if (known !== undefined) return known;
    const before = parts.filter((part) => forward.get(part)?.has(box)).map((part) => rank(part) + 1);
    ranks.set(box, Math.max(0, ...before));
    return ranks.get(box)!;
  };
  for (const part of parts) rank(part);
  return ranks;
}

function reaches(forward: ReadonlyMap<Box, ReadonlySet<Box>>, from: Box, to: Box): boolean {
  return from === to || [...(forward.get(from) ?? [])].some((next) => reaches(forward, next, to));
}

interface Margin {
  readonly x: number;
  readonly top: number;
  readonly bottom: number;
}

/** Puts the parts into ranks, those of one rank beside each other near to what they are connected with. */
function place(
  parts: readonly Box[],
  edges: Edges,
  { across }: Flow,
  margin: Margin,
): { width: number; height: number } {
  const ranks = ranksOf(parts, edges);
  const rows: Box[][] = [];
  for (const part of parts) {
    const rank = ranks.get(part) ?? 0;
    while (rows.length <= rank) rows.push([]);
    rows[rank]!.push(part);
  }
  sortRows(rows, edges);
  const along = (box: Box): number => (across ? box.width : box.height);
  const beside = (box: Box): number => (across ? box.height : box.width);
  const lengths = rows.map((row) => row.reduce((sum, box) => sum + beside(box) + gap.beside, -gap.beside));
  const longest = Math.max(0, ...lengths);
  let depth = 0;
  let room = 0;
  for (const [index, row] of rows.entries()) {
    const size = Math.max(...row.map(along));
    let at = (longest - lengths[index]!) / 2;
    for (const box of row) {
      const middle = depth + (size - along(box)) / 2;
      box.x = margin.x + (across ? middle : at);
      box.y = margin.top + (across ? at : middle);
      at += beside(box) + gap.beside;
    }
    // Labels stand in the space before the next rank.
    const words = edges.filter(([from, to]) => row.includes(from) !== row.includes(to)).map(([, , label]) => label);
    room = across ? Math.max(gap.rank, ...words.map((label) => widthOf(label) + 26)) : gap.rank;
    depth += size + room;
  }
  const [width, height] = across ? [depth - room, longest] : [longest, depth - room];
  return { width: width + 2 * margin.x, height: height + margin.top + margin.bottom };
}

function sortRows(rows: Box[][], edges: Edges): void {
  for (let index = 1; index < rows.length; index++) {
    const before = new Map<Box, number>(
      rows.slice(0, index).flatMap((row) => row.map((box, at) => [box, at / row.length] as const)),
    );
    const wanted = (box: Box): number => {
      const ends = edges.flatMap(([from, to]) =>
        to === box && before.has(from) ? [before.get(from)!] : from === box && before.has(to) ? [before.get(to)!] : [],
      );
      return ends.length === 0 ? 0.5 : ends.reduce((sum, at) => sum + at, 0) / ends.length;
    };
    rows[index]!.sort((a, b) => wanted(a) - wanted(b));
  }
}
