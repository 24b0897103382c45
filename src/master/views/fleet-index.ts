// One row for each accepted minion, kept up to date while somebody looks at the fleet: a change of one minion computes
// one row. Nothing is kept when nobody has looked for a while.
import { dictGet, isTexts, type Value } from '../../base/codec/value.ts';
import type { KeyState } from '../../extend/sdk/index.ts';
import type { KeyStore } from '../../store/keys.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { PreflightClass } from '../publish/preflight.ts';

export type FleetState = Exclude<PreflightClass, 'not_evaluated'>;

export interface FleetRow {
  readonly id: string;
  readonly state: FleetState;
  /** Since when it is in this state, in milliseconds; null when that is not known. */
  readonly since: number | null;
  readonly key: string;
  readonly version: string;
  readonly os: string;
  readonly address: string;
  readonly tags: readonly string[];
  /** Why it would give no result now. */
  readonly problem: string;
}

export interface FleetIndexParts {
  readonly keys: Pick<KeyStore, 'ids'>;
  readonly fleet: Pick<Fleet, 'onChange' | 'connected' | 'connections' | 'known' | 'grains' | 'lostAt' | 'status'>;
  /** The class of a minion before a job, and the reason. */
  classOf(id: string): readonly [PreflightClass, string];
}

/** States that change by the passing of time alone are looked at again after this time. */
const agedMs = 5_000;
const lingerMs = 300_000;
const mostTags = 8;
const longestTag = 64;
const others: readonly KeyState[] = ['denied', 'pending', 'rejected'];

export class FleetIndex {
  /** Grows with every change that a row shows. */
  version = 1;
  readonly #parts: FleetIndexParts;
  readonly #rows = new Map<string, FleetRow>();
  readonly #dirty = new Set<string>();
  readonly #listeners = new Set<() => void>();
  #listed: readonly (readonly string[])[] = [];
  #others: readonly (readonly [KeyState, ReadonlySet<string>])[] = [];
  #stop: (() => void) | undefined;
  #linger: NodeJS.Timeout | undefined;
  #lookedAt = 0;

  constructor(parts: FleetIndexParts) {
    this.#parts = parts;
  }

  /** The rows as they are now. */
  rows(): ReadonlyMap<string, FleetRow> {
    this.#begin();
    this.#readKeys();
    const now = Date.now();
    if (now - this.#lookedAt >= agedMs) {
      this.#lookedAt = now;
      for (const id of this.#rows.keys()) if (this.#parts.fleet.connected(id) !== 'yes') this.#dirty.add(id);
    }
    for (const id of this.#dirty) this.#refresh(id);
    this.#dirty.clear();
    return this.#rows;
  }

  /** Called when rows may have changed; several changes may be one call. */
  onChange(listener: () => void): () => void {
    this.#begin();
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  lastSeen(id: string): number | null {
    return this.#parts.fleet.status(id)?.lastContact?.getTime() ?? null;
  }

  close(): void {
    clearTimeout(this.#linger);
    this.#stop?.();
    this.#stop = undefined;
    this.#rows.clear();
    this.#dirty.clear();
    this.#listed = [];
  }

  #begin(): void {
    clearTimeout(this.#linger);
    this.#linger = setTimeout(() => this.#forget(), lingerMs).unref();
    this.#stop ??= this.#parts.fleet.onChange((id) => {
      if (!this.#rows.has(id)) return;
      this.#dirty.add(id);
      for (const listener of this.#listeners) listener();
    });
  }

  #forget(): void {
    if (this.#listeners.size === 0) this.close();
  }

  #readKeys(): void {
    const { keys } = this.#parts;
    const listed = [keys.ids('accepted'), ...others.map((state) => keys.ids(state))];
    if (listed.every((list, at) => list === this.#listed[at])) return;
    const accepted = new Set(listed[0]);
    for (const id of this.#rows.keys()) {
      if (accepted.has(id)) continue;
      this.#rows.delete(id);
      this.version += 1;
    }
    // Also those whose other keys changed: the column of keys names them.
    const touched = new Set([...listed.slice(1).flat(), ...this.#listed.slice(1).flat()]);
    for (const id of accepted) if (!this.#rows.has(id) || touched.has(id)) this.#dirty.add(id);
    this.#listed = listed;
    this.#others = others.map((state, at) => [state, new Set(listed[at + 1])]);
  }

  #refresh(id: string): void {
    const before = this.#rows.get(id);
    const row = this.#rowOf(id);
    if (before && sameRow(before, row)) return;
    this.#rows.set(id, row);
    this.version += 1;
  }

  #rowOf(id: string): FleetRow {
    const { fleet, classOf } = this.#parts;
    const connections = fleet.connections(id);
    // Most are connected once: nothing is looked up on disk for them.
    const [state, problem] = connections.length === 1 ? (['connected', ''] as const) : classOf(id);
    const grains = fleet.grains(id);
    const grain = (name: string): Value | undefined => grains && dictGet(grains, name);
    const lost = fleet.lostAt(id);
    return {
      ...{ id, problem, state: state === 'not_evaluated' ? 'not_seen' : state },
      since: connections.length > 0 ? Math.min(...connections.map(({ since }) => since)) : lost > 0 ? lost : null,
      key: ['accepted', ...this.#others.filter(([, ids]) => ids.has(id)).map(([state]) => state)].join('+'),
      version: textOf(grain('haliteversion') ?? grain('saltversion')),
      os: [textOf(grain('os')), textOf(grain('osrelease'))].filter((part) => part !== '').join(' '),
      address: fleet.known(id)?.address || connections[0]?.address || '',
      tags: tagsOf(grain('roles') ?? grain('role')),
    };
  }
}

const textOf = (value: Value | undefined): string =>
  typeof value === 'string' ? value.slice(0, longestTag) : typeof value === 'number' ? String(value) : '';

function tagsOf(value: Value | undefined): string[] {
  const list = typeof value === 'string' ? [value] : isTexts(value) ? value : [];
  return list.slice(0, mostTags).map((tag) => tag.slice(0, longestTag));
}

function sameRow(a: FleetRow, b: FleetRow): boolean {
  return (
    a.state === b.state &&
    a.since === b.since &&
    a.key === b.key &&
    a.version === b.version &&
    a.os === b.os &&
    a.address === b.address &&
    a.problem === b.problem &&
    a.tags.join('\n') === b.tags.join('\n')
  );
}
