// All known minions in memory: last contact, live connections, grains and pillar.
import { type Dict, dictGet, newDict } from '../../base/codec/value.ts';
import type { MinionStatus } from '../../extend/sdk/context.ts';
import { type BootDetails, readBoot, readPresenceTopic, verifyPresence } from '../../protocol/wire/presence-topic.ts';
import type { SubscriberEvent } from '../../protocol/wire/transport.ts';
import type { JobStore, MinionData } from '../../store/jobs.ts';
import { acceptGrains } from './minion-grains.ts';

export interface Connection extends BootDetails {
  readonly boot: string;
  readonly since: number;
  readonly peer: string;
}

export interface MinionRecord {
  readonly id: string;
  /** Live connections of Halite minions by boot id; two mean two machines with the same id. */
  readonly connections: Map<string, Connection>;
  /** True once this id has sent a valid Halite presence proof. */
  halite: boolean;
  /** True once its connects and disconnects are visible: from then on "not connected" is reliable. */
  tracked: boolean;
  lastContact: number;
  lostAt: number;
  firstSeen: number;
  address: string;
  transport: string;
  generation: number;
  /** When it last did not answer find_job. */
  silentSince: number;
  lastAuth: { result: string; at: number; detail: string } | undefined;
  /** Its clock minus ours in seconds, from the last request with a time. */
  skewSeconds: number | undefined;
  /** The last authenticated request that was refused. */
  refused: { readonly at: number; readonly why: string } | undefined;
  /** The process that connected last. */
  lastBoot: string;
}

/** More minions than any master has. */
const mostRecords = 100_000;
/** Ids without a key whose last refusal is stored, so that an operator can see the reason. */
const mostWithoutKey = 1000;
/** Maximum number of live connections of one id: real minions have fewer. */
const mostConnections = 64;
/** A minion that renews its proof leaves and rejoins within a short time. */
const reconnectingMs = 250;
/** After a start of the master every running minion has reconnected by then. */
export const startGraceMs = 20_000;

/** `restarted`: it is another process than the one that was connected before. */
export type FleetChange = (id: string, kind: 'joined' | 'left', restarted: boolean) => void;

/** Stores the data that minions sent about themselves. */
export type FleetStore = Pick<JobStore, 'loadMinionData' | 'saveMinionData' | 'dropMinionData'>;

export class Fleet {
  readonly #records = new Map<string, MinionRecord>();
  /** Ids in it that have no key, oldest first. */
  readonly #withoutKey = new Set<string>();
  readonly #data = new Map<string, MinionData>();
  readonly #sessionKey: (id: string) => string | undefined;
  readonly #store: FleetStore;
  readonly #changed: FleetChange;
  readonly since = Date.now();

  constructor(store: FleetStore, sessionKey: (id: string) => string | undefined, changed: FleetChange) {
    this.#store = store;
    this.#sessionKey = sessionKey;
    this.#changed = changed;
  }

  async restore(): Promise<void> {
    for (const [id, data] of await this.#store.loadMinionData()) this.#data.set(id, data);
  }

  record(id: string): MinionRecord {
    let record = this.#records.get(id);
    if (!record) {
      record = {
        id,
        connections: new Map(),
        halite: false,
        tracked: false,
        lastContact: 0,
        lostAt: 0,
        firstSeen: Date.now(),
        address: '',
        transport: '',
        generation: 3,
        silentSince: 0,
        lastAuth: undefined,
        skewSeconds: undefined,
        refused: undefined,
        lastBoot: '',
      };
      this.#records.set(id, record);
    }
    return record;
  }

  known(id: string): MinionRecord | undefined {
    return this.#records.get(id);
  }

  /** The result of a sign-in. Any peer can send one: invented ids must not fill the memory. */
  signedIn(id: string, auth: NonNullable<MinionRecord['lastAuth']>): void {
    this.#withoutKey.delete(id);
    if (this.#records.has(id) || this.#records.size < mostRecords) this.record(id).lastAuth = auth;
  }

  /**
   * A peer without a key here was refused: stored so that an operator can see the reason, but only for the last ones.
   */
  refusedWithoutKey(id: string, auth: NonNullable<MinionRecord['lastAuth']>): void {
    const isWithoutKey = this.#withoutKey.delete(id) || !this.#records.has(id);
    this.record(id).lastAuth = auth;
    if (!isWithoutKey) return;
    this.#withoutKey.add(id);
    if (this.#withoutKey.size <= mostWithoutKey) return;
    const [oldest] = this.#withoutKey;
    this.#withoutKey.delete(oldest as string);
    this.#records.delete(oldest as string);
  }

  /** An authenticated message arrived from this minion. */
  contact(id: string, from: { peer: string; transport: string; generation: number }): void {
    const record = this.record(id);
    record.lastContact = Date.now();
    record.silentSince = 0;
    // The address is followed by the name that the peer gives itself.
    const end = from.peer.indexOf(' ');
    if (from.peer) record.address = end < 0 ? from.peer : from.peer.slice(0, end);
    record.transport = from.transport;
    record.generation = from.generation;
  }

  /** True when a presence text proves possession of the session key of the minion that it names. */
  proves(topic: string): boolean {
    const claim = readPresenceTopic(topic);
    const key = claim && this.#sessionKey(claim.id);
    return claim !== undefined && key !== undefined && verifyPresence(claim, key);
  }

  /**
   * A subscriber connected or disconnected; only those that prove possession of the session key count. The port reports
   * `left` for no others.
   */
  subscriber(event: SubscriberEvent): void {
    const claim = readPresenceTopic(event.topic);
    if (!claim) {
      // Over TCP the transport has verified the id itself; one connection is one process.
      if (event.id) this.#connection(event, event.id, event.peer, false);
      return;
    }
    if (event.kind === 'joined' && !this.proves(event.topic)) return;
    this.#connection(event, claim.id, claim.boot, true);
  }

  #connection(event: SubscriberEvent, id: string, boot: string, halite: boolean): void {
    const record = event.kind === 'joined' ? this.record(id) : this.#records.get(id);
    if (!record) return;
    if (event.kind === 'joined') {
      if (record.connections.size >= mostConnections) return;
      record.halite ||= halite;
      record.tracked = true;
      record.lastContact = Date.now();
      record.silentSince = 0;
      const details = halite ? readBoot(boot) : { pid: 0, address: event.peer };
      record.connections.set(boot, { boot, since: Date.now(), peer: event.peer, ...details });
      const restarted = record.lastBoot !== '' && record.lastBoot !== boot;
      record.lastBoot = boot;
      this.#changed(id, 'joined', restarted);
    } else if (record.connections.delete(boot)) {
      if (record.connections.size === 0) record.lostAt = Date.now();
      this.#changed(id, 'left', false);
    }
  }

  /** 'no' only when it is certain: the last of its connections ended, and not just for a renewal of the key. */
  connected(id: string): 'yes' | 'no' | 'unknown' {
    const record = this.#records.get(id);
    if (record && record.connections.size > 0) return 'yes';
    if (record?.tracked) return Date.now() - record.lostAt > reconnectingMs ? 'no' : 'unknown';
    // Not seen since the master started: a Halite minion would have connected by now.
    const silent = !record || record.lastContact === 0;
    return silent && this.isHalite(id) && Date.now() - this.since > startGraceMs ? 'no' : 'unknown';
  }

  /** A minion whose connections are visible, because of its proof or its earlier data. */
  isHalite(id: string): boolean {
    if (this.#records.get(id)?.halite) return true;
    const grains = this.#data.get(id)?.grains;
    return grains !== undefined && dictGet(grains, 'haliteversion') !== undefined;
  }

  /** Called when its key was deleted: connections stay listed until they close. */
  forget(id: string): void {
    this.#records.delete(id);
    this.#data.delete(id);
    void this.#store.dropMinionData(id).catch(() => {});
  }

  data(id: string): MinionData | undefined {
    return this.#data.get(id);
  }

  /** Grains come from the minion: those that are too large or too deep are dropped, on every path. */
  async setData(id: string, { grains, ...rest }: MinionData): Promise<void> {
    const data = { ...rest, grains: acceptGrains(grains).grains };
    this.#data.set(id, data);
    await this.#store.saveMinionData(id, data);
  }

  grains(id: string): Dict | undefined {
    return this.#data.get(id)?.grains;
  }

  status(id: string): MinionStatus | undefined {
    const record = this.#records.get(id);
    if (!record) return undefined;
    const grains = this.#data.get(id)?.grains ?? newDict();
    const version = grains instanceof Map ? undefined : grains['saltversion'];
    return {
      id,
      connected: this.connected(id),
      ...(record.lastContact > 0 ? { lastContact: new Date(record.lastContact) } : {}),
      ...(record.address ? { address: record.address } : {}),
      ...(typeof version === 'string' ? { version } : {}),
      ...(record.transport ? { transport: record.transport } : {}),
      generation: record.generation,
    };
  }

  ids(): string[] {
    return [...this.#records.keys()];
  }
}
