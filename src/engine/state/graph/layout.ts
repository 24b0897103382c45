// Places the nodes of a state graph in columns: each to the right of everything on which it depends.
import type { StateGraph } from './model.ts';

export interface Placed {
  readonly column: number;
  readonly row: number;
}

/** A position for every node, by key. Cycles are cut where they close. */
export function layoutGraph(graph: StateGraph): readonly Placed[] {
  const columns = columnsOf(graph);
  const rows: number[] = [];
  const order = sortedByNeighbours(graph, columns);
  const filled = new Map<number, number>();
  for (const key of order) {
    const column = columns[key]!;
    const row = filled.get(column) ?? 0;
    filled.set(column, row + 1);
    rows[key] = row;
  }
  return columns.map((column, key) => ({ column, row: rows[key]! }));
}

/** The length of the longest path to each node; an edge that closes a cycle does not count. */
function columnsOf({ nodes, edges }: StateGraph): number[] {
  const following = nodes.map((): number[] => []);
  const waiting = nodes.map(() => 0);
  for (const { from, to } of edges) {
    following[from]!.push(to);
    waiting[to]!++;
  }
  const columns = nodes.map(() => 0);
  const settled = nodes.map(() => false);
  const ready = nodes.map((node) => node.key).filter((key) => waiting[key] === 0);
  let next = 0;
  for (let left = nodes.length; left > 0; left--) {
    while (next < ready.length && settled[ready[next]!]) next++;
    // Only cycles are left: the first of them is placed first.
    if (next >= ready.length) ready.push(settled.indexOf(false));
    const key = ready[next++]!;
    settled[key] = true;
    for (const to of following[key]!) {
      if (settled[to]) continue;
      columns[to] = Math.max(columns[to]!, columns[key]! + 1);
      if (--waiting[to]! === 0) ready.push(to);
    }
  }
  return columns;
}

/** Nodes column by column, each near the middle of its dependencies, so that few lines cross. */
function sortedByNeighbours({ nodes, edges }: StateGraph, columns: readonly number[]): number[] {
  const before = nodes.map((): number[] => []);
  for (const { from, to } of edges) before[to]!.push(from);
  const position: number[] = nodes.map((node) => node.key);
  const byColumn = new Map<number, number[]>();
  for (const { key } of nodes) {
    const list = byColumn.get(columns[key]!);
    if (list) list.push(key);
    else byColumn.set(columns[key]!, [key]);
  }
  const order: number[] = [];
  for (const column of [...byColumn.keys()].sort((a, b) => a - b)) {
    const list = byColumn.get(column)!;
    const middle = (key: number): number => {
      const others = before[key]!;
      return others.length === 0 ? key : others.reduce((sum, other) => sum + position[other]!, 0) / others.length;
    };
    const sorted = list
      .map((key) => ({ key, middle: middle(key) }))
      .sort((a, b) => a.middle - b.middle || a.key - b.key);
    sorted.forEach(({ key }, row) => {
      position[key] = row;
      order.push(key);
    });
  }
  return order;
}
