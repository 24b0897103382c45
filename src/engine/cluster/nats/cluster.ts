// The cluster on NATS: joins, and brings its parts together.
import { fieldOf, type Value } from '../../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import { haliteVersion } from '../../../base/util/version.ts';
import { withTimeout } from '../../../base/util/with-timeout.ts';
import { ownLevel } from '../alone.ts';
import type {
  BucketName,
  Cluster,
  ClusterChange,
  ClusterState,
  EngineReport,
  Leader,
  Member,
  Registry,
} from '../api.ts';
import { bucketNames } from '../api.ts';
import type { ClusterParts } from '../open.ts';
import type { ClusterOptions } from '../options.ts';
import type { LocalTable } from '../ports.ts';
import { NatsBucket } from './bucket.ts';
import { Connection, cutOff } from './connection.ts';
import { type Core, Refusals } from './core.ts';
import { Envelope, type SealProblem } from './envelope.ts';
import { agreeOnEpoch, ensureStreams, indexKey, keepOwn, type Own, readOwn, refuseLevel } from './establish.ts';
import { JetStream, JetStreamError, jetStreamErrors } from './jetstream.ts';
import { NatsKeyring } from './keyring.ts';
import { Leadership } from './leadership.ts';
import { claims, Leases } from './lease.ts';
import { NatsLedger } from './ledger.ts';
import { Membership } from './membership.ts';
import { PatientTable } from './patient-table.ts';
import { NatsRelay } from './relay.ts';
import { NatsSignals } from './signals.ts';
import { claimSlot, keepSlot } from './slots.ts';
import { BucketStore } from './store.ts';
import { bucketPlan, streamName, subjectOf } from './streams.ts';

/** Who wrote last is right, however close another one was. */
const lastWins: ReadonlySet<BucketName> = new Set(['data', 'mine']);
/** How long a request waits for a member that has not joined yet. */
const readyMs = 2000;
const againMs = 1000;

export interface NatsParts extends ClusterParts {
  readonly options: ClusterOptions;
}

export class NatsCluster implements Cluster, Core {
  readonly name: string;
  readonly options: ClusterOptions;
  readonly log: Logger;
  readonly table: LocalTable;
  readonly envelope: Envelope;
  readonly relay: NatsRelay;
  readonly signals: NatsSignals;
  readonly registry: Registry;
  readonly keyring: NatsKeyring;
  ledger!: NatsLedger;
  readonly #parts: NatsParts;
  readonly #closing = new AbortController();
  readonly #listeners = new Set<(change: ClusterChange) => void>();
  readonly #refusals: Refusals;
  readonly #since = Date.now();
  readonly #stores = new Map<string, BucketStore>();
  readonly #buckets = new Map<BucketName, NatsBucket>();
  readonly #membership: Membership;
  readonly #leases: Leases;
  readonly #leadership: Leadership;
  #own: Own;
  #births = new Map<string, string>();
  #ends = new Map<string, number>();
  #problems: readonly string[] = [];
  #counterpart: { readonly id: string; readonly at: number } | undefined;
  #connection: Connection | undefined;
  #js: JetStream | undefined;
  #isEstablished = false;
  #losing: Promise<void> | undefined;
  #settle: { resolve(): void; reject(error: unknown): void } | undefined;
  readonly #established: Promise<void>;

  constructor(parts: NatsParts) {
    this.#parts = parts;
    this.options = parts.options;
    this.name = parts.options.name;
    this.log = parts.log;
    this.table = new PatientTable(parts.table, parts.log);
    this.envelope = new Envelope(this.name, parts.busKeys());
    this.#refusals = new Refusals(parts.log);
    this.#own = readOwn(parts.table);
    this.#established = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.#established.catch(() => undefined);
    const members = this.#store('members', { plain: true, remembers: false, verifies: false });
    this.#membership = new Membership(this, members, () => this.self);
    this.keyring = new NatsKeyring({
      ...{ core: this, id: parts.id, identity: parts.identity, indexKey: () => this.#own.indexKey },
      store: (name) => this.#store(name, { verifies: !lastWins.has(name) }),
      plain: () => this.#store('reg', { plain: true }),
    });
    this.#leases = new Leases(this, this.#store('reg'));
    this.relay = new NatsRelay(this);
    this.signals = new NatsSignals(this);
    const claim = claims(this, this.#store('claims', { remembers: false }));
    this.registry = {
      // A bucket gives back what members put into it, as its users read it.
      bucket: (name) => this.#bucket(name) as unknown as ReturnType<Registry['bucket']> as never,
      lease: (name, options) => this.#leases.acquire(name, options),
      claim,
    };
    this.#leadership = new Leadership(this, this.#leases, this.#bucket('reg'));
  }

  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  get self(): Member {
    return {
      ...{ id: this.#parts.id, slot: this.#own.slot ?? -1, boot: this.envelope.boot, version: haliteVersion },
      ...{ level: ownLevel, since: this.#since, seen: Date.now(), addresses: this.#parts.addresses },
      ...{ skewMs: this.#membership.skewMs, held: this.ledger?.held().items },
    };
  }

  get state(): ClusterState {
    return this.#membership.state;
  }

  members(): readonly Member[] {
    return this.#membership.members();
  }
  leader(): Leader | undefined {
    return this.#leadership.leader();
  }
  leads(): boolean {
    return this.#leadership.leads();
  }

  report(): EngineReport {
    const server = this.#connection?.connected ? this.#connection.server : undefined;
    return {
      server: server?.url ?? '',
      version: server?.version ?? '',
      delayMs: Math.round(this.#membership.delayMs),
      place: this.relay.place,
      epoch: this.#own.epoch,
      problems: [...this.#problems, ...this.#duplicate()],
      refused: Object.fromEntries(this.#refusals.counts),
    };
  }

  onChange(listener: (change: ClusterChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  // For the parts.

  js(): JetStream {
    if (!this.#js) throw cutOff('there is no connection to a nats-server yet');
    return this.#js;
  }
  slot(): number {
    if (this.#own.slot === undefined) throw cutOff('this master has no slot yet');
    return this.#own.slot;
  }
  isJoined(): boolean {
    return this.#isEstablished && this.#connection?.connected === true;
  }
  engineNow(): number {
    return Date.now() - this.#membership.skewMs;
  }
  epoch(): number {
    return this.#own.epoch;
  }
  birth(stream: string): string {
    return this.#births.get(stream) ?? '';
  }
  joinedAt(stream: string): number {
    return this.#ends.get(stream) ?? 0;
  }
  established(): Promise<void> {
    return this.#established;
  }
  async ready(): Promise<void> {
    if (this.#isEstablished) return;
    await withTimeout(this.#established, readyMs, () => {
      throw cutOff('this master has not joined yet');
    });
  }
  member(slot: number, boot: string): Member | undefined {
    return this.#membership.find(slot, boot);
  }
  refused(where: string, why: Parameters<Refusals['add']>[1] | SealProblem): void {
    this.#refusals.add(where, why);
    if (why === 'went-back') this.changed({ kind: 'engine-lost-data' });
  }
  recorded(value: Value): void {
    const epoch = fieldOf(value, 'epoch');
    if (typeof epoch === 'number' && epoch > this.#own.epoch) void this.lost('', '').catch(() => undefined);
  }
  /** Two processes with one identity answer for each other: named as long as the other one is heard. */
  #duplicate(): string[] {
    const { id, at } = this.#counterpart ?? { id: '', at: 0 };
    if (Date.now() - at > 60_000) return [];
    return [
      `slot ${this.self.slot} is used by a second process, ${id}, which has a copy of the identity of this master`,
    ];
  }
  counterpart(member: Member): void {
    this.#counterpart = { id: member.id, at: Date.now() };
    this.log.limited('counterpart', 'error', 'another master has the same identity', {
      id: member.id,
      slot: member.slot,
    });
  }
  changed(change: ClusterChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.log.error('a change of the cluster could not be handled', { kind: change.kind, error: messageOf(error) });
      }
    }
  }

  failed(error: unknown, stream: string): void {
    if (!(error instanceof JetStreamError)) return;
    // A subject without a stream has nobody who answers, as a server without JetStream.
    if (error.number === jetStreamErrors.streamNotFound || error.status === 503)
      void this.lost(stream, '').catch(() => undefined);
  }

  lost(stream: string, why: string): Promise<void> {
    this.#losing ??= this.#again(stream, why).finally(() => {
      this.#losing = undefined;
    });
    return this.#losing;
  }

  async #again(stream: string, why: string): Promise<void> {
    const before = this.birth(stream);
    await this.#agree();
    if (why === '' || !this.#isEstablished) return;
    // A stream that was put back to an earlier state has the same name and birth.
    if (before === this.birth(stream)) this.#lostData(`${why} went back`);
  }

  #lostData(why: string): void {
    this.log.error('the nats-servers lost data; what masters have is sent again', { why });
    this.changed({ kind: 'engine-lost-data' });
  }

  /** Makes what is missing, and agrees with the others on what the engine has. */
  async #agree(): Promise<void> {
    const js = this.js();
    const found = await ensureStreams(js, this.options, this.#parts.keepSeconds, this.#births);
    this.#births = new Map(found.map(({ plan, birth }) => [plan.stream, birth]));
    if (!this.#isEstablished) this.#ends = new Map(found.map(({ plan, lastSeq }) => [plan.stream, lastSeq]));
    this.#problems = found.flatMap(({ differs }) => differs);
    for (const problem of this.#problems) {
      this.log.limited(`stream:${problem}`, 'warn', 'a stream on the nats-servers is configured otherwise', {
        problem,
      });
    }
    const { indexKey: knownIndex, epoch: knownEpoch } = this.#own;
    const index = await indexKey(this.#store('reg', { plain: true }), knownIndex);
    if (!knownIndex || Buffer.compare(index, knownIndex) !== 0) {
      keepOwn(this.table, 'index', Buffer.from(index).toString('hex'));
      this.#own = { ...this.#own, indexKey: index };
    }
    const epoch = await agreeOnEpoch(this.#store('reg'), found, knownEpoch);
    if (epoch === knownEpoch) return;
    keepOwn(this.table, 'epoch', epoch);
    this.#own = { ...this.#own, epoch };
    if (this.#isEstablished) await this.#keepSlot();
    if (knownEpoch > 0) this.#lostData('streams were made anew');
  }

  #keepSlot(): Promise<void> {
    const { id, identity } = this.#parts;
    return keepSlot({ id, own: this.#own, publicKey: identity()?.publicKey, reg: this.#store('reg') });
  }

  /** Joins, and tries again until it succeeds; resolves after the first time, or when it has a slot from before. */
  async open(timeoutMs: number): Promise<void> {
    this.ledger = new NatsLedger(this, await this.#parts.held());
    if (this.#own.slot !== undefined) this.envelope.takeSlot(this.#own.slot);
    const joining = this.#join();
    await withTimeout(joining, timeoutMs, () => {
      if (this.#own.slot === undefined) throw cutOff(this.#parts.options.servers.join(', '));
      this.log.warn('the cluster cannot be reached; this master works alone until it can');
    });
  }

  async #join(): Promise<void> {
    while (!this.signal.aborted) {
      try {
        await this.#joinOnce();
        this.#isEstablished = true;
        this.#settle?.resolve();
        this.log.info('joined the cluster', {
          cluster: this.name,
          slot: this.slot(),
          server: this.js().connection.server.url,
        });
        return;
      } catch (error) {
        if (error instanceof HaliteError && error.code !== 'cluster.cut-off') {
          this.#settle?.reject(error);
          throw error;
        }
        this.log.limited('join', 'warn', 'the cluster cannot be joined yet', { why: messageOf(error) });
        await new Promise((resolve) => setTimeout(resolve, againMs));
      }
    }
    this.#settle?.reject(cutOff('it was closed'));
  }

  async #joinOnce(): Promise<void> {
    this.#connection ??= await Connection.open(this.options, `halite ${this.name} ${this.#parts.id}`, this.log, 5000);
    if (this.signal.aborted) return this.#connection.close();
    this.#js ??= new JetStream(this.#connection);
    this.#js.prepare = (data) => this.keyring.prepare(data);
    await this.keyring.catchUp();
    await this.#agree();
    const reg = this.#store('reg');
    await refuseLevel(reg);
    const { id, identity } = this.#parts;
    const publicKey = identity()?.publicKey;
    const slot = await claimSlot({ id, own: this.#own, publicKey, reg, js: this.#js, cluster: this.name });
    keepOwn(this.table, 'slot', slot);
    this.#own = { ...this.#own, slot };
    this.envelope.takeSlot(slot);
    this.signals.listen(this.#connection);
    this.#membership.start();
    this.#leadership.start();
  }

  async close(): Promise<void> {
    if (this.signal.aborted) return;
    if (this.isJoined()) await this.ledger.flush(1000);
    this.#closing.abort();
    await this.ledger.close();
    await withTimeout(Promise.all([this.#leases.released(), this.#membership.stop()]), 1000, () => undefined);
    this.#settle?.reject(cutOff('it was closed'));
    await this.#connection?.close();
  }

  #store(name: string, { plain = false, remembers = true, verifies = true } = {}): BucketStore {
    const known = `${name}${plain ? ' plain' : ''}`;
    let store = this.#stores.get(known);
    if (store) return store;
    store = new BucketStore({
      js: () => this.js(),
      stream: streamName.bucket(this.name, name),
      subjects: subjectOf.bucket(this.name, name),
      ...{ envelope: this.envelope, table: this.table, remembers, verifies },
      indexKey: () => (plain ? new Uint8Array() : this.#index()),
      epoch: () => this.#own.epoch,
      refused: (key, why, revision) => this.refused(`${name} ${key} at ${revision}`, why),
    });
    this.#stores.set(known, store);
    return store;
  }

  #index(): Uint8Array {
    if (!this.#own.indexKey) throw cutOff('this master has not joined yet');
    return this.#own.indexKey;
  }

  #bucket(name: BucketName): NatsBucket {
    const found = bucketNames.find((some) => some === name);
    if (!found) throw new HaliteError('cluster.refused', `There is no bucket ${String(name as Value)}`);
    let bucket = this.#buckets.get(name);
    if (bucket) return bucket;
    const plan = bucketPlan(this.name, name);
    bucket = new NatsBucket({
      ...{
        name,
        plan,
        store: this.#store(name, { verifies: !lastWins.has(name) }),
        signal: this.signal,
        log: this.log,
      },
      js: () => this.js(),
      ready: () => this.ready(),
      established: () => this.established(),
      lost: (stream) => this.lost(stream, `the bucket ${name}`),
    });
    this.#buckets.set(name, bucket);
    return bucket;
  }
}
