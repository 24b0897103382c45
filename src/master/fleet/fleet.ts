// All known minions in memory: last contact, live connections, grains and pillar.
import { type Dict, dictGet, newDict } from '../../base/codec/value.ts';
import type { Crypticle } from '../../base/crypto/index.ts';
import type { MinionStatus } from '../../extend/sdk/context.ts';
import { acceptGrains } from '../../protocol/wire/messages/minion-grains.ts';
import { type BootDetails, readBoot, readPresenceTopic, verifyPresence } from '../../protocol/wire/presence-topic.ts';
import type { SubscriberEvent } from '../../protocol/wire/transport.ts';
import type { JobStore, MinionData } from '../../store/jobs.ts';

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
  /** Its clock minus ours in seconds, and when that was seen. */
  skewSeconds: number | undefined;
  skewAt: number;
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

/** What the other members of the cluster know about the connections of minions. */
export interface Elsewhere {
  /** The name of this member; undefined for a master without others. */
  readonly self: string | undefined;
  connections(id: string): readonly { member: string; boot: string; peer: string; since: number }[];
  /** 'no' only when it is certain that it has no connection to any of them. */
  connected(id: string): 'yes' | 'no' | 'unknown';
  lostAt(id: string): number;
  heardAt(id: string): number;
  ids(): Iterable<string>;
  /** This master heard from it. */
  heard(id: string): void;
}

const nobodyElse: Elsewhere = {
  self: undefined,
  connections: () => [],
  connected: () => 'no',
  lostAt: () => 0,
  heardAt: () => 0,
  ids: () => [],
  heard: () => undefined,
};

/** One live connection, to this master when no member is named. */
export interface FleetConnection extends Connection {
  readonly member?: string;
}

/** `restarted`: it is another process than the one that was connected before. */
export type FleetChange = (id: string, kind: 'joined' | 'left', restarted: boolean, connection: Connection) => void;

/** Stores the data that minions sent about themselves. */
export type FleetStore = Pick<JobStore, 'loadMinionData' | 'saveMinionData' | 'dropMinionData'>;

export class Fleet {
  readonly #records = new Map<string, MinionRecord>();
  /** Ids in it that have no key, oldest first. */
  readonly #withoutKey = new Set<string>();
  readonly #data = new Map<string, MinionData>();
  readonly #sessionKeys: (id: string) => Iterable<Crypticle>;
  readonly #store: FleetStore;
  readonly #changed: FleetChange;
  readonly #elsewhere: Elsewhere;
  #share: (id: string, data: MinionData | undefined) => void = () => undefined;
  /** For those who look at the fleet; nobody, usually. */
  readonly #watchers = new Set<(id: string) => void>();
  readonly since = Date.now();

  constructor(
    store: FleetStore,
    sessionKeys: (id: string) => Iterable<Crypticle>,
    changed: FleetChange,
    elsewhere: Elsewhere = nobodyElse,
  ) {
    this.#store = store;
    this.#sessionKeys = sessionKeys;
    this.#changed = changed;
    this.#elsewhere = elsewhere;
  }

  /** Called with the id of a minion whose connections or data changed, here or at another member. */
  onChange(watcher: (id: string) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Also for changes that another member saw. */
  noteChange(id: string): void {
    for (const watcher of this.#watchers) watcher(id);
  }

  async restore(): Promise<void> {
    for (const [id, data] of await this.#store.loadMinionData()) this.#data.set(id, data);
  }

  record(id: string): MinionRecord {
    let record = this.#records.get(id);
    if (!record) {
      record = newRecord(id);
      this.#records.set(id, record);
    }
    return record;
  }

  known(id: string): MinionRecord | undefined {
    return this.#records.get(id);
  }

  /** The result of a sign-in. Any peer can send one: invented ids must not fill the memory. */
  signedIn(id: string, auth: NonNullable<MinionRecord['lastAuth']>, halite = true): void {
    this.#withoutKey.delete(id);
    if (!this.#records.has(id) && this.#records.size >= mostRecords) return;
    const record = this.record(id);
    record.lastAuth = auth;
    // It may be another process on another machine: the time in its next request counts.
    record.skewAt = 0;
    // Salt's minion came back in the place of a Halite one: nobody sees its connections any more.
    if (!halite && auth.result === 'accept' && record.connections.size === 0) {
      record.halite = false;
      record.tracked = false;
    }
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
  contact(id: string, peer: string, transport: string, generation: number): void {
    const record = this.record(id);
    record.lastContact = Date.now();
    record.silentSince = 0;
    // The address is followed by the name that the peer gives itself.
    const end = peer.indexOf(' ');
    if (peer) record.address = end < 0 ? peer : peer.slice(0, end);
    record.transport = transport;
    record.generation = generation;
    this.#elsewhere.heard(id);
  }

  /** True when a presence text proves possession of the session key of the minion that it names. */
  proves(topic: string): boolean {
    const claim = readPresenceTopic(topic);
    if (!claim) return false;
    for (const key of this.#sessionKeys(claim.id)) if (verifyPresence(claim, key.keyString)) return true;
    return false;
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
      const connection = { boot, since: Date.now(), peer: event.peer, ...detailsOf(boot, event.peer) };
      record.connections.set(boot, connection);
      const restarted = record.lastBoot !== '' && record.lastBoot !== boot;
      record.lastBoot = boot;
      this.#changed(id, 'joined', restarted, connection);
    } else {
      const connection = record.connections.get(boot);
      if (!connection) return;
      record.connections.delete(boot);
      if (record.connections.size === 0) record.lostAt = Date.now();
      this.#changed(id, 'left', false, connection);
    }
  }

  /** The connections of all minions to this master, to tell other members. */
  *ownConnections(): Iterable<readonly [id: string, boot: string, peer: string, since: number]> {
    for (const { id, connections } of this.#records.values())
      for (const { boot, peer, since } of connections.values()) yield [id, boot, peer, since];
  }

  /** All its connections, to this master and to other members of the cluster. */
  connections(id: string): FleetConnection[] {
    const own = [...(this.#records.get(id)?.connections.values() ?? [])];
    return [...own, ...this.#elsewhere.connections(id).map((far) => ({ ...far, ...detailsOf(far.boot, far.peer) }))];
  }

  /** When its last connection to any member ended; 0 when that is not known. */
  lostAt(id: string): number {
    return Math.max(this.#records.get(id)?.lostAt ?? 0, this.#elsewhere.lostAt(id));
  }

  /** 'no' only when it is certain for all members: the last of its connections ended, and not just for a renewal of the key. */
  connected(id: string): 'yes' | 'no' | 'unknown' {
    const here = this.#connectedHere(id);
    if (here === 'yes') return here;
    const there = this.#elsewhere.connected(id);
    if (there !== 'no') return there;
    const lostThere = this.#elsewhere.lostAt(id);
    if (here === 'no') return Date.now() - lostThere > reconnectingMs ? 'no' : 'unknown';
    // It was never connected to this master, but to another one.
    const isFar = lostThere > 0 && !this.#records.get(id)?.tracked;
    return isFar && Date.now() - lostThere > reconnectingMs ? 'no' : 'unknown';
  }

  #connectedHere(id: string): 'yes' | 'no' | 'unknown' {
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
    this.#share(id, undefined);
    this.noteChange(id);
  }

  data(id: string): MinionData | undefined {
    return this.#data.get(id);
  }

  /** Grains come from the minion: those that are too large or too deep are dropped, on every path. */
  async setData(id: string, { grains, ...rest }: MinionData): Promise<void> {
    const data = { ...rest, grains: acceptGrains(grains).grains };
    this.#data.set(id, data);
    this.#share(id, data);
    this.noteChange(id);
    await this.#store.saveMinionData(id, data);
  }

  allData(): Iterable<readonly [string, MinionData]> {
    return this.#data;
  }

  /** Called with every change that this master makes to the data of a minion; undefined when it was removed. */
  shareData(share: (id: string, data: MinionData | undefined) => void): void {
    this.#share = share;
  }

  /** Another member changed the data of a minion. */
  adoptData(id: string, data: MinionData | undefined): void {
    if (data) this.#data.set(id, { ...data, grains: acceptGrains(data.grains).grains });
    else this.#data.delete(id);
    this.noteChange(id);
    const kept = this.#data.get(id);
    // The registry has it too: what cannot be stored is read from there after the next start.
    (kept ? this.#store.saveMinionData(id, kept) : this.#store.dropMinionData(id)).catch(() => {});
  }

  grains(id: string): Dict | undefined {
    return this.#data.get(id)?.grains;
  }

  status(id: string): MinionStatus | undefined {
    const far = this.#elsewhere.connections(id);
    const known = this.#records.get(id);
    if (!known && far.length === 0) return undefined;
    const record = known ?? newRecord(id);
    const lastContact = Math.max(record.lastContact, this.#elsewhere.heardAt(id));
    const { self } = this.#elsewhere;
    const here = self !== undefined && record.connections.size > 0 ? [self] : [];
    const masters = [...new Set([...here, ...far.map(({ member }) => member)])].sort();
    const grains = this.#data.get(id)?.grains ?? newDict();
    const version = grains instanceof Map ? undefined : grains['saltversion'];
    return {
      id,
      connected: this.connected(id),
      ...(lastContact > 0 ? { lastContact: new Date(lastContact) } : {}),
      ...(masters.length > 0 ? { masters } : {}),
      ...(record.address ? { address: record.address } : {}),
      ...(typeof version === 'string' ? { version } : {}),
      ...(record.transport ? { transport: record.transport } : {}),
      generation: record.generation,
    };
  }

  ids(): string[] {
    return [...this.#records.keys()];
  }

  /** The minions that are connected to any member. */
  present(): string[] {
    const ids = new Set([...this.#records.keys(), ...this.#elsewhere.ids()]);
    return [...ids].filter((id) => this.connected(id) === 'yes');
  }
}

const newRecord = (id: string): MinionRecord => ({
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
  skewAt: 0,
  refused: undefined,
  lastBoot: '',
});

/** Halite minions describe their process in the boot text; for others it is their address. */
const detailsOf = (boot: string, peer: string): BootDetails =>
  boot === peer ? { pid: 0, address: peer } : readBoot(boot);
