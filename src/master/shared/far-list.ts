// What one other member says about its minions: who is connected to it, and from whom it heard.
import { asDict, asList, asNumber, asText, type Value } from '../../base/codec/value.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';

/** A connection of a minion to another member. */
export interface FarConnection {
  /** The id of that member. */
  readonly member: string;
  readonly boot: string;
  readonly peer: string;
  readonly since: number;
}

/** As told: a minion, one process of it, and where that comes from. */
export type ToldConnection = readonly [id: string, boot: string, peer: string, since: number];
type ToldLoss = readonly [id: string, boot: string, at: number];
type ToldContact = readonly [id: string, at: number];

export interface PresenceNews {
  readonly joined: readonly ToldConnection[];
  readonly left: readonly ToldLoss[];
  readonly heard: readonly ToldContact[];
}

/** More minions than any master has, and more connections than any minion has. */
const mostMinions = 100_000;
const mostConnections = 64;
export const mostInMessage = 5000;
const longestBoot = 200;

interface FarMinion {
  readonly connections: Map<string, FarConnection>;
  heard: number;
  lostAt: number;
  /** The process that connected last. */
  lastProcess: string;
}

export type FarChange = (id: string, kind: 'joined' | 'left', restarted: boolean) => void;

/** Links of one process have one random part in their boot texts; other subscribers are distinguished by their host. */
export const processOf = (boot: string): string =>
  boot.includes('~') ? boot.slice(0, boot.indexOf('~')) : boot.replace(/:\d+$/, '');

export class FarList {
  readonly #member: string;
  readonly #minions = new Map<string, FarMinion>();
  /** Minions that it named beyond the limits. */
  refused = 0;

  constructor(member: string) {
    this.#member = member;
  }

  get size(): number {
    return this.#minions.size;
  }

  ids(): IterableIterator<string> {
    return this.#minions.keys();
  }

  connections(id: string): FarConnection[] {
    return [...(this.#minions.get(id)?.connections.values() ?? [])];
  }

  isConnected(id: string): boolean {
    return (this.#minions.get(id)?.connections.size ?? 0) > 0;
  }

  heardAt(id: string): number {
    return this.#minions.get(id)?.heard ?? 0;
  }

  /** When its last connection there ended; 0 while it has one, or had none. */
  lostAt(id: string): number {
    return this.#minions.get(id)?.lostAt ?? 0;
  }

  apply({ joined, left, heard }: PresenceNews, changed: FarChange): void {
    for (const [id, boot, peer, since] of joined) {
      const minion = this.#of(id);
      if (!minion || minion.connections.has(boot)) continue;
      if (minion.connections.size >= mostConnections) {
        this.refused++;
        continue;
      }
      minion.connections.set(boot, { member: this.#member, boot, peer, since });
      minion.heard = Math.max(minion.heard, since);
      minion.lostAt = 0;
      const restarted = minion.lastProcess !== '' && minion.lastProcess !== processOf(boot);
      minion.lastProcess = processOf(boot);
      changed(id, 'joined', restarted);
    }
    for (const [id, boot, at] of left) {
      const minion = this.#minions.get(id);
      if (!minion?.connections.delete(boot)) continue;
      if (minion.connections.size === 0) minion.lostAt = at;
      changed(id, 'left', false);
    }
    for (const [id, at] of heard) {
      const minion = this.#of(id);
      if (minion) minion.heard = Math.max(minion.heard, at);
    }
  }

  /** Undefined beyond the limit: what one member invents must not fill the memory of the others. */
  #of(id: string): FarMinion | undefined {
    const known = this.#minions.get(id);
    if (known) return known;
    if (this.#minions.size >= mostMinions) {
      this.refused++;
      return undefined;
    }
    const fresh: FarMinion = { connections: new Map(), heard: 0, lostAt: 0, lastProcess: '' };
    this.#minions.set(id, fresh);
    return fresh;
  }
}

/** What another member tells. Malformed entries are left out; its times may not lie in our future. */
export function readNews(body: Value, now = Date.now()): PresenceNews {
  const dict = asDict(body);
  const list = (name: string): Value[][] => {
    const found = dict instanceof Map ? dict.get(name) : dict?.[name];
    return (asList(found) ?? []).slice(0, mostInMessage).flatMap((item) => {
      const fields = asList(item);
      return fields && isValidMinionId(fields[0]) ? [fields] : [];
    });
  };
  const time = (value: Value | undefined): number => Math.min(now, Math.max(0, Math.floor(asNumber(value) ?? 0)));
  const text = (value: Value | undefined): string | undefined => {
    const found = asText(value);
    return found !== undefined && found.length <= longestBoot ? found : undefined;
  };
  return {
    joined: list('joined').flatMap(([id, boot, peer, since]): ToldConnection[] => {
      const [named, from] = [text(boot), text(peer)];
      return named && from !== undefined ? [[id as string, named, from, time(since)]] : [];
    }),
    left: list('left').flatMap(([id, boot, at]): ToldLoss[] => {
      const named = text(boot);
      return named ? [[id as string, named, time(at)]] : [];
    }),
    heard: list('heard').map(([id, at]): ToldContact => [id as string, time(at)]),
  };
}
