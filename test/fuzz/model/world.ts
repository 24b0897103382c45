// A master built from the real parts that track jobs, with simulated minions, a simulated clock and a persistent store.
import { setMaxListeners } from 'node:events';
import { newDict, type PlainDict } from '../../../src/base/codec/value.ts';
import type { JobItem } from '../../../src/engine/client/api.ts';
import { type BuiltJobs, buildJobs } from '../../../src/master/build/jobs.ts';
import { LowerMasters } from '../../../src/master/lower-masters/lower-masters.ts';
import { returnHandlers } from '../../../src/master/requests/handlers/returns.ts';
import { loneMember } from '../../../src/master/shared/testing.ts';
import { EventBus } from '../../../src/protocol/event/bus.ts';
import type { AskedJob, PublishedJob } from '../../../src/protocol/job/job.ts';
import { jobFields } from '../../../src/protocol/wire/messages/job.ts';
import { SimulatedClock } from './clock.ts';
import { haliteData, type JobLifeStore } from './memory-store.ts';
import { SimulatedMinion, type Wire } from './minion.ts';

export interface Plan {
  readonly ms: number;
  readonly retcode: number;
}

/** What is known of a job from outside: what was asked, and what the command saw. */
export interface Published {
  readonly jid: string;
  readonly targeted: readonly string[];
  readonly durable: boolean;
  readonly items: JobItem[];
  /** The master went away while the command waited. */
  cut: boolean;
  /** It was too old for the next master to follow it. */
  left: boolean;
  readonly started: number;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class World implements Wire {
  readonly clock: SimulatedClock;
  readonly minions: readonly SimulatedMinion[];
  readonly published: Published[] = [];
  /** Results the master acknowledged: `jid id` → value, first one. */
  readonly acknowledged = new Map<string, unknown>();
  /** How often a function began: `jid id`. */
  readonly runs = new Map<string, number>();
  /** Things that must not happen at all. */
  readonly errors: string[] = [];
  readonly keys: Set<string>;
  readonly store: JobLifeStore;
  master!: BuiltJobs;
  #handlers!: ReturnType<typeof returnHandlers>;
  #stopped = new AbortController();
  #busy = 0;
  #plan: Plan = { ms: 10, retcode: 0 };
  readonly #plans = new Map<string, Plan>();
  readonly #store: JobLifeStore;

  constructor(store: JobLifeStore) {
    this.#store = store;
    this.store = this.#counted(store);
    this.clock = new SimulatedClock(Date.UTC(2026, 0, 31), () => this.settle());
    this.minions = ['h1', 'h2', 'h3', 's1', 's2'].map((id) => new SimulatedMinion(id, id.startsWith('h'), this));
    this.keys = new Set(this.minions.map(({ id }) => id));
  }

  /** Everything that happens without time passing: promises, and answers of the store. */
  async settle(): Promise<void> {
    let quiet = 0;
    while (quiet < 2) {
      await turn();
      quiet = this.#busy === 0 ? quiet + 1 : 0;
    }
  }

  /** The store, with a count of the questions under way. */
  #counted(store: JobLifeStore): JobLifeStore {
    return new Proxy(store, {
      get: (target, name, self) => {
        const found: unknown = Reflect.get(target, name, self);
        if (typeof found !== 'function') return found;
        return (...given: unknown[]) => {
          this.#busy++;
          return (found.apply(target, given) as Promise<unknown>).finally(() => this.#busy--);
        };
      },
    });
  }

  async start(): Promise<void> {
    this.clock.install();
    for (const { id, halite } of this.minions) if (halite) await this.#store.saveMinionData(id, haliteData);
    await this.#startMaster();
    for (const minion of this.minions) this.connect(minion);
    await this.settle();
  }

  stop(): void {
    this.#stopped.abort();
    this.clock.uninstall();
  }

  async #startMaster(): Promise<void> {
    const [bus, epoch] = [new EventBus({}), new AbortController()];
    const log = {
      ...{ trace() {}, debug() {}, info() {}, warn() {} },
      error: (text: string, fields: object = {}) => this.errors.push(`${text} ${JSON.stringify(fields)}`),
      limited: (_key: string, level: string, text: string, fields: object = {}) =>
        level === 'error' && this.errors.push(`${text} ${JSON.stringify(fields)}`),
    };
    const opts = {
      ...{ timeout: 5, gather_job_timeout: 10, publish_port: 4505, unique_jid: false, ext_job_cache: '' },
      ...{ master_id: undefined, order_masters: false, syndic_dir: '', syndic_wait: 5, lower_masters: [] },
      raw: newDict(),
    };
    const keys = {
      ids: (state: string) => (state === 'accepted' ? [...this.keys].sort() : []),
      has: (state: string, id: string) => state === 'accepted' && this.keys.has(id),
      readText: () => undefined,
    };
    const publications = {
      // What an ended master still had to send is lost with it.
      send: async (job: PublishedJob, ids: readonly string[] = []) => {
        if (epoch.signal.aborted) return {};
        const fields = jobFields(job);
        for (const minion of this.minions)
          if (ids.includes(minion.id) && this.keys.has(minion.id)) minion.receive(fields);
        return {};
      },
    };
    const { store } = this;
    const cluster = loneMember();
    const returnerSettings = { keepReturns: true };
    // Only for results of others, which nobody brings here.
    const accepted = (): undefined => undefined;
    const lower = new LowerMasters({ opts, log, keys: { accepted } });
    const master = await buildJobs({
      ...{ opts, log, bus, cluster, keys, store, publications, returnerSettings, lower },
      sessionKeys: () => [],
    });
    const { tracker, durable } = master;
    this.#handlers = returnHandlers({
      ...{ log, bus, store, tracker, durable, lower },
      keys: { accepted },
      known: { isFor: () => false, owner: () => undefined },
      passOn: async () => undefined,
    });
    setMaxListeners(0, epoch.signal);
    this.#stopped = epoch;
    this.master = master;
    master.resumed.start();
    // What the maintenance of a master does for durable jobs.
    const look = (): void => {
      durable.expire();
      setTimeout(look, 60_000);
    };
    look();
  }

  /** The master ends as if by `kill -9`, and is there again after a while; minions dial again after that. */
  async restartMaster(awayMs: number): Promise<void> {
    this.#stopped.abort();
    for (const job of this.published) if (job.items.at(-1)?.type !== 'end') job.cut = true;
    const there = this.minions.filter(({ connected }) => connected);
    for (const minion of there) minion.connected = false;
    this.clock.forgetGlobal();
    await this.clock.advance(awayMs);
    await this.#startMaster();
    for (const job of this.published) if (Date.now() - job.started > 3_600_000) job.left = true;
    for (const minion of there) this.connect(minion);
  }

  connect(minion: SimulatedMinion): void {
    if (minion.connected) return;
    minion.start();
    const { fleet, durable } = this.master;
    if (minion.halite) {
      if (this.keys.has(minion.id))
        fleet.subscriber({ kind: 'joined', topic: '', peer: `${minion.id}:${minion.boot}`, id: minion.id });
    } else if (this.keys.has(minion.id)) {
      this.#contact(minion.id);
      durable.arrived(minion.id, 'joined');
    }
  }

  /** The connection is gone; the process lives, or not, or not even the machine. */
  disconnect(minion: SimulatedMinion, what: 'connection' | 'process' | 'machine'): void {
    if (!minion.connected) return;
    if (minion.halite)
      this.master.fleet.subscriber({
        kind: 'left',
        topic: '',
        peer: `${minion.id}:${minion.boot}`,
        id: minion.id,
      });
    if (what === 'connection') minion.connected = false;
    else minion.stop(what === 'machine');
  }

  deleteKey(id: string): void {
    this.keys.delete(id);
    this.master.fleet.forget(id);
    this.master.tracker.lost(id);
  }

  #contact(id: string): void {
    this.master.fleet.contact(id, '', 'zeromq', 3);
    this.master.durable.arrived(id, 'heard');
  }

  async deliver(id: string, load: PlainDict): Promise<void> {
    const { signal } = this.#stopped;
    if (signal.aborted || !this.keys.has(id)) throw new Error('nobody takes it');
    this.#contact(id);
    await this.#handlers['_return']!.run(load, { id, trust: 'proven', version: 3, peer: '', transport: 'zeromq' });
    // The acknowledgement of a master that died meanwhile never arrives.
    if (signal.aborted) throw new Error('the master is gone');
    const key = `${String(load['jid'])} ${id}`;
    if (!this.acknowledged.has(key)) this.acknowledged.set(key, load['return']);
  }

  phase(jid: string, id: string, phase: string): void {
    if (this.#stopped.signal.aborted || !this.keys.has(id)) return;
    this.#contact(id);
    this.master.tracker.phase(jid, id, phase, { text: '' });
  }

  plan(jid: string, id: string): Plan {
    const known = this.#plans.get(`${jid} ${id}`) ?? this.#plan;
    this.#plans.set(`${jid} ${id}`, known);
    return known;
  }

  began(jid: string, id: string): void {
    const key = `${jid} ${id}`;
    this.runs.set(key, (this.runs.get(key) ?? 0) + 1);
  }

  /** Publishes and follows, as a command does. */
  publish(
    ids: readonly string[],
    plan: Plan,
    options: Pick<AskedJob, 'durableSeconds' | 'deadlineSeconds'>,
    batch?: string,
  ): void {
    this.#plan = plan;
    const request: AskedJob = {
      tgt: ids,
      tgt_type: 'list',
      fun: 'test.sleep',
      arg: [],
      user: 'root',
      timeoutSeconds: 5,
      ...options,
    };
    const { jobs } = this.master;
    const { signal } = this.#stopped;
    const items: JobItem[] = [];
    const job = {
      jid: '',
      targeted: [...new Set(ids)],
      durable: options.durableSeconds !== undefined,
      items,
      cut: false,
      left: false,
      started: Date.now(),
    };
    this.published.push(job);
    const stream = batch
      ? jobs.batch(request, { size: batch, waitSeconds: 0, failhard: false }, signal)
      : jobs.follow(jobs.prepare(request), signal, false);
    void this.#follow(job, stream, plan);
  }

  async #follow(
    job: { jid: string; items: JobItem[]; targeted: readonly string[] },
    stream: AsyncIterable<JobItem>,
    plan: Plan,
  ): Promise<void> {
    try {
      for await (const item of stream) {
        job.items.push(item);
        if (item.type !== 'job') continue;
        job.jid = item.jid;
        for (const id of job.targeted) this.#plans.set(`${item.jid} ${id}`, plan);
      }
    } catch (error) {
      this.errors.push(`a command failed: ${String(error)}`);
    }
  }

  async cancel(jid: string): Promise<void> {
    this.master.tracker.cancel(jid);
    await this.master.durable.cancel(jid);
  }

  kill(jid: string, ids: readonly string[]): void {
    const request = { tgt: ids, tgt_type: 'list', fun: 'saltutil.kill_job', arg: [jid], user: 'root' };
    void this.master.jobs.publish({ ...request, unwatched: true, internal: true }).catch(() => {});
  }
}
