// Which other member had a minion, from the moment on when this one is cut off from the others.
import type { Cluster, ClusterChange } from '../../engine/cluster/api.ts';

export interface CutOffParts {
  readonly cluster: Pick<Cluster, 'onChange'>;
  /** Minions that are connected to other members. */
  readonly presence: { ids(): Iterable<string> };
  readonly fleet: { connections(id: string): readonly { readonly member?: string }[] };
}

export class CutOff {
  readonly #parts: CutOffParts;
  readonly #last = new Map<string, string>();

  constructor(parts: CutOffParts) {
    this.#parts = parts;
    parts.cluster.onChange((change) => this.#changed(change));
  }

  /** The member that has it, or had it last; undefined for a minion of this master, and for one that nobody knows of. */
  lastMember(id: string): string | undefined {
    const connections = this.#parts.fleet.connections(id);
    if (connections.some(({ member }) => member === undefined)) return undefined;
    return connections.at(-1)?.member ?? this.#last.get(id);
  }

  /** The others count as gone soon afterwards, and what they had with them. */
  #changed(change: ClusterChange): void {
    if (change.kind !== 'state') return;
    this.#last.clear();
    if (change.state.kind !== 'cut-off') return;
    for (const id of this.#parts.presence.ids()) {
      const member = this.lastMember(id);
      if (member !== undefined) this.#last.set(id, member);
    }
  }
}
