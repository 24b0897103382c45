// A Python expression as a tree: built by parse.ts, written as JavaScript by to-js.ts, run by dfa.ts or backtrack.ts.

export type AssertKind = 'start' | 'end' | 'before-last-newline' | 'line-start' | 'line-end' | 'boundary' | 'inside';

export type Node =
  /** One character out of a set, written for JavaScript's flag v. */
  | { readonly type: 'set'; readonly source: string }
  | { readonly type: 'assert'; readonly kind: AssertKind; readonly ascii: boolean }
  | { readonly type: 'sequence'; readonly items: readonly Node[] }
  | { readonly type: 'choice'; readonly options: readonly Node[] }
  | {
      readonly type: 'repeat';
      readonly inner: Node;
      readonly min: number;
      readonly max: number;
      readonly mode: 'greedy' | 'lazy' | 'possessive';
    }
  | { readonly type: 'group'; readonly number: number; readonly name: string | undefined; readonly inner: Node }
  /** After the position, or `back` characters before it. */
  | { readonly type: 'look'; readonly back: number | undefined; readonly negative: boolean; readonly inner: Node }
  | { readonly type: 'atomic'; readonly inner: Node }
  | { readonly type: 'same'; readonly number: number; readonly ignoreCase: boolean };

export interface Parsed {
  readonly tree: Node;
  /** Case is ignored everywhere; where it is ignored only in parts, the sets contain both cases. */
  readonly ignoreCase: boolean;
  readonly groups: number;
}

/** How the expression is applied to a text: Python's match, search and fullmatch. */
export type Form = 'match' | 'search' | 'full';

export const unbounded = Number.POSITIVE_INFINITY;

export const sequence = (items: readonly Node[]): Node =>
  items.length === 1 ? (items[0] as Node) : { type: 'sequence', items };

/**
 * The minimum and maximum number of characters that a part consumes; `groups` are the widths of the groups closed
 * before.
 */
export function widthOf(node: Node, groups: ReadonlyMap<number, Width>): Width {
  switch (node.type) {
    case 'set':
      return [1, 1];
    case 'assert':
    case 'look':
      return [0, 0];
    case 'sequence':
      return node.items.map((item) => widthOf(item, groups)).reduce(([a, b], [c, d]) => [a + c, b + d], [0, 0]);
    case 'choice': {
      const all = node.options.map((item) => widthOf(item, groups));
      return [Math.min(...all.map(([low]) => low)), Math.max(...all.map(([, high]) => high))];
    }
    case 'repeat': {
      const [low, high] = widthOf(node.inner, groups);
      return [low * node.min, high === 0 ? 0 : high * node.max];
    }
    case 'same':
      return groups.get(node.number) ?? [0, unbounded];
    default:
      return widthOf(node.inner, groups);
  }
}
export type Width = readonly [least: number, most: number];
