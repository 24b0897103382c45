// States and their requisites, as nodes and edges.
import { pyStr } from '../../../base/codec/python/index.ts';
import type { Chunk } from '../data.ts';
import { RequisiteIndex, readRequisite, requisiteEntries } from '../run/requisite-index.ts';

export interface GraphNode {
  readonly key: number;
  readonly id: string;
  /** `file.managed` */
  readonly fun: string;
  /** Shown when it is not the id. */
  readonly name: string;
  readonly sls: string;
}

export interface GraphEdge {
  /** The state that has to run first. */
  readonly from: number;
  readonly to: number;
  readonly requisite: string;
}

export interface StateGraph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** `listen` does not order, it only notifies; `prereq` means: the named state comes later. */
const drawn = [
  ...['require', 'require_any', 'watch', 'watch_any', 'prereq', 'onfail', 'onfail_any', 'onfail_all', 'onchanges'],
  ...['onchanges_any', 'listen'],
];

/** The graph of low chunks, nodes in the order in which they are run. */
export function stateGraph(chunks: readonly Chunk[]): StateGraph {
  const index = new RequisiteIndex(chunks);
  const edges = new Map<string, GraphEdge>();
  for (const [at, chunk] of chunks.entries()) {
    for (const requisite of drawn) {
      for (const entry of requisiteEntries(chunk[requisite])) {
        for (const other of index.find(readRequisite(entry))) {
          const [from, to] = requisite === 'prereq' ? [at, other] : [other, at];
          if (from !== to) edges.set(`${from} ${to} ${requisite}`, { from, to, requisite });
        }
      }
    }
  }
  return { nodes: chunks.map(nodeOf), edges: [...edges.values()] };
}

function nodeOf(chunk: Chunk, key: number): GraphNode {
  return {
    key,
    id: pyStr(chunk['__id__']),
    fun: `${pyStr(chunk['state'])}.${pyStr(chunk['fun'])}`,
    name: pyStr(chunk['name']),
    sls: pyStr(chunk['__sls__'] ?? ''),
  };
}

/** Lines of a node's label. */
export function labelOf({ id, fun, name }: GraphNode): string[] {
  return name === id ? [id, fun] : [id, fun, name];
}
