// The simulated minions of one process: they sign in, subscribe, take jobs and answer them.
import { pack } from '../base/codec/msgpack/index.ts';
import { newDict } from '../base/codec/value.ts';
import { asctime } from '../minion/link/start-events.ts';
import { Answering } from './answering.ts';
import { returnLoad } from './answers.ts';
import { Counters, type Snapshot } from './counters.ts';
import { FleetJob, FleetJobs } from './jobs.ts';
import { fleetKeys } from './keys.ts';
import { Link } from './link.ts';
import { SimulatedMinion } from './minion.ts';
import type { FleetOptions } from './options.ts';
import { Publications } from './publications.ts';
import { Requests } from './requests.ts';
import { Subscribers, type Subscription } from './subscribers.ts';
import { Upkeep } from './upkeep.ts';
import type { Introduction } from './wire/types.ts';
import { wireOf } from './wire/wire.ts';

/** What happened, for whoever follows the run. Jobs are told when this process first hears of them and when all have answered. */
export type FleetNews =
  | { readonly say: 'signed-in' | 'filled' | 'ready' }
  | {
      readonly say: 'job' | 'answered';
      readonly jid: string;
      readonly fun: string;
      readonly at: number;
      readonly count: number;
    };

const rampStepMs = 100;
/** After a message that even new keys do not open, no other one makes the fleet sign in again for a while. */
const quietMs = 5000;
const mostUnopened = 64;
const mostUnopenedBytes = 1024 * 1024;

export class Fleet {
  readonly counters = new Counters();
  readonly #options: FleetOptions;
  readonly #tell: (news: FleetNews) => void;
  readonly #requests: Requests;
  readonly #link: Link;
  readonly #subscribers: Subscribers;
  readonly #publications: Publications;
  readonly #answering: Answering;
  readonly #jobs = new FleetJobs();
  #minions: SimulatedMinion[] = [];
  #upkeep: Upkeep | undefined;
  #phase: 'starting' | 'signed-in' | 'ready' = 'starting';
  #settled = 0;
  #booting = 0;
  #renewing = false;
  #quietUntil = 0;
  readonly #unopened = new Map<Buffer, Set<Subscription>>();
  #closed = false;

  constructor(options: FleetOptions, tell: (news: FleetNews) => void) {
    this.#options = options;
    this.#tell = tell;
    const { counters } = this;
    const { address, transport, share, reconnectMs, connections, timeoutMs, tries } = options;
    const wire = wireOf(transport);
    const open: Requests['options']['open'] = (events) => wire.request({ address, port: options.requestPort }, events);
    this.#requests = new Requests({ open, connections, timeoutMs, tries, counters });
    const requests = this.#requests;
    this.#link = new Link({ options, counters, requests, onSignedIn: (minion) => this.#signedIn(minion) });
    this.#subscribers = new Subscribers({
      ...{ share, reconnectMs, counters },
      open: (events) => wire.subscribe({ address, port: this.#publishPort }, events),
      introduction: (minion) => this.#introduction(minion),
      onPublication: (payload, group) => this.#hear(payload, group),
      onReturn: (minions) => this.#returned(minions),
      onComplete: () => this.#advance(),
    });
    this.#publications = new Publications(options.verify);
    const onComplete = (job: FleetJob): void => this.#say('answered', job);
    this.#answering = new Answering({ options, counters, jobs: this.#jobs, link: this.#link, onComplete });
  }

  /** Makes the minions and starts their sign-ins. */
  async start(): Promise<void> {
    const { keys, keysDir, keySize, offset, width, prefix, minions } = this.#options;
    const numbers = Array.from({ length: minions }, (_, index) => offset + index + 1);
    const made = await fleetKeys(numbers, keys, keysDir, keySize);
    this.#minions = made.map((key, index) => {
      const number = offset + index + 1;
      return new SimulatedMinion(index, number, `${prefix}${String(number).padStart(width, '0')}`, key);
    });
    this.counters.add('minions', minions);
    this.#ramp(0);
  }

  #ramp(from: number): void {
    if (this.#closed) return;
    const { ramp } = this.#options;
    const step = ramp > 0 ? Math.max(1, Math.round((ramp * rampStepMs) / 1000)) : this.#minions.length;
    for (const minion of this.#minions.slice(from, from + step)) this.#link.signIn(minion, () => this.#begun());
    if (from + step < this.#minions.length)
      this.#link.later((step / (ramp || 1)) * 1000, () => this.#ramp(from + step));
  }

  /** The first sign-in of a minion has ended, well or not. */
  #begun(): void {
    this.#settled += 1;
    this.#advance();
  }

  #advance(): void {
    if (this.#phase === 'starting' && this.#settled === this.#minions.length && this.#minions.length > 0) {
      this.#phase = 'signed-in';
      this.#tell({ say: 'signed-in' });
    }
    if (this.#phase !== 'signed-in' || this.#options.authOnly || this.#booting > 0) return;
    const { connected, signedIn } = this.counters.counts;
    if (connected < signedIn) return;
    this.#phase = 'ready';
    this.#link.later(this.#options.settleMs, () => this.#fill(() => this.#work()));
  }

  #work(): void {
    const [link, requests, subscribers, minions] = [this.#link, this.#requests, this.#subscribers, this.#minions];
    this.#upkeep = new Upkeep({
      options: this.#options,
      counters: this.counters,
      link,
      requests,
      subscribers,
      minions,
    });
    this.#upkeep.start();
    this.#tell({ say: 'ready' });
  }

  #signedIn(minion: SimulatedMinion): void {
    const { authOnly, boot } = this.#options;
    if (authOnly) return;
    this.#subscribers.join(minion);
    if (!boot || this.#phase !== 'starting') return;
    this.#booting += 1;
    this.#link.boot(minion, `Minion ${minion.id} started at ${asctime(new Date())}`, () => {
      this.#booting -= 1;
      this.#advance();
    });
  }

  get #publishPort(): number {
    return this.#options.publishPort || (this.#link.master?.publishPort ?? 4505);
  }

  #introduction(minion: SimulatedMinion): Introduction | undefined {
    const { behaviour, protocol, transport } = this.#options;
    const { master } = this.#link;
    if (!master || !minion.session) return undefined;
    const presence = behaviour === 'halite' && protocol === 3 ? minion.presenceNow() : '';
    const proof = newDict(Object.entries({ id: minion.id, tok: minion.key.tok }));
    const identification = (): Uint8Array => pack({ enc: 'aes', load: master.aes.seal(proof), version: protocol });
    return { presence, identification, mark: transport === 'tcp' ? master.aes : presence };
  }

  /** Their connection was lost, and perhaps the master restarted. Minions on ZeroMQ of Salt notice that at the next job. */
  #returned(minions: readonly SimulatedMinion[]): void {
    const { behaviour, transport, reauthMs } = this.#options;
    if (behaviour !== 'halite' && transport !== 'tcp') return;
    for (const minion of minions)
      this.#link.later(Math.random() * reauthMs, () => {
        if (minion.state === 'in') this.#link.signIn(minion);
      });
  }

  #hear(payload: Buffer, group: Subscription): void {
    const { master } = this.#link;
    if (!master) return;
    const { counters } = this;
    counters.add('publications');
    const heard = this.#publications.hear(payload, master);
    if (heard.kind === 'sealed') {
      this.#unreadable(payload, group);
      return;
    }
    if (heard.kind !== 'job') {
      counters.add(heard.kind === 'forged' ? 'forged' : 'undecodable');
      counters.because(`publication: ${heard.why}`);
      return;
    }
    const job = this.#jobs.get(heard.job.jid) ?? this.#newJob(heard.job);
    for (const minion of group.members) this.#take(minion, job);
  }

  #newJob(job: FleetJob['job']): FleetJob {
    const made = new FleetJob(job, this.#minions.length);
    for (const minion of this.#minions)
      if (minion.state === 'in' && this.#subscribers.isConnected(minion)) made.expect(minion.index, minion);
    if (made.problem !== '') this.counters.because(`target: ${made.problem}`);
    this.#jobs.add(made);
    this.#say('job', made);
    if (made.counts.expected === 0) this.#say('answered', made);
    return made;
  }

  #take(minion: SimulatedMinion, job: FleetJob): void {
    if (minion.state !== 'in') return;
    const how = job.take(minion.index, () => minion);
    if (how === 'new') this.#answering.answer(minion, job);
    else if (how === 'again') this.counters.add('repeated');
  }

  #say(say: 'job' | 'answered', { counts, job }: FleetJob): void {
    if (counts.question) return;
    const count = say === 'job' ? counts.expected : counts.acknowledged;
    this.#tell({ say, jid: job.jid, fun: counts.fun, at: say === 'job' ? counts.from : counts.to, count });
  }

  /** The master has a new shared key: real minions sign in again, and then read the message that told them so. */
  #unreadable(payload: Buffer, group: Subscription): void {
    const { counters } = this;
    if (
      performance.now() < this.#quietUntil ||
      this.#unopened.size >= mostUnopened ||
      payload.length > mostUnopenedBytes
    ) {
      counters.add('undecodable');
      return;
    }
    const same = [...this.#unopened.keys()].find((each) => each.equals(payload));
    const groups = this.#unopened.get(same ?? payload) ?? new Set();
    this.#unopened.set(same ?? payload, groups.add(group));
    if (this.#renewing) return;
    this.#renewing = true;
    const before = this.#link.master?.aes;
    const everyone = this.#minions.filter(({ state }) => state === 'in');
    const renewed = (ok: boolean): void => this.#read(ok && this.#link.master?.aes !== before);
    const [first, ...others] = everyone;
    if (!first) {
      renewed(false);
      return;
    }
    this.#link.signIn(first, renewed);
    if (!this.#options.light) for (const minion of others) this.#link.signIn(minion);
  }

  #read(changed: boolean): void {
    this.#renewing = false;
    if (!changed) this.#quietUntil = performance.now() + quietMs;
    const unopened = [...this.#unopened];
    this.#unopened.clear();
    for (const [payload, groups] of unopened) for (const group of groups) this.#hear(payload, group);
  }

  /** Results that belong to no job, each a job of its own, as calls that minions start themselves. */
  #fill(done: () => void): void {
    const { fill, connections } = this.#options;
    const alive = this.#minions.filter(({ state }) => state === 'in');
    if (fill === 0 || alive.length === 0) {
      done();
      return;
    }
    const { counters } = this;
    let next = 0;
    let left = fill;
    counters.began('fill');
    const one = (): void => {
      const at = next++;
      if (at >= fill) return;
      const minion = alive[at % alive.length]!;
      // The master chooses the jid, as for a function that somebody calls on the minion.
      const job = { jid: 'req', fun: 'test.ping', arg: [], tgt: minion.id, tgt_type: 'glob' };
      this.#link.call(minion, returnLoad(minion.id, job, { value: true, retcode: 0 }), (result, ms, why) => {
        if (result?.ok) {
          counters.add('filled');
          counters.took('acknowledgement', ms);
        } else counters.because(`result without a job: ${why}`);
        counters.ended('fill');
        left -= 1;
        if (left > 0) return one();
        this.#tell({ say: 'filled' });
        done();
      });
    };
    for (let lane = 0; lane < connections * 2; lane++) one();
  }

  hold(): void {
    this.#answering.hold();
  }

  release(): void {
    this.#answering.release();
  }

  storm(share: number): void {
    this.#upkeep?.storm(share);
  }

  reset(): void {
    this.counters.reset();
    this.#jobs.reset();
  }

  snapshot(): Snapshot {
    this.counters.counts.queued = this.#requests.waiting + this.#requests.inFlight;
    return { ...this.counters.snapshot(), ...this.#jobs.snapshot(), haliteMaster: this.#link.master?.halite === true };
  }

  close(): void {
    this.#closed = true;
    this.#upkeep?.stop();
    this.#link.close();
    this.#subscribers.close();
    this.#requests.close();
  }
}
