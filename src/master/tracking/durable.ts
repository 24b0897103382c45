// Jobs for disconnected minions: kept in the store, delivered once when the minion reconnects, or visibly expired.
import { asPlainDict, dictGet, newDict, type PlainDict } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import type { Reason, ReasonCode } from '../../protocol/job/verdict.ts';
import type { JobStore, PendingDelivery } from '../../store/jobs.ts';
import { storedJob } from '../../store/records.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Publications } from '../publish/publications.ts';
import type { ActiveJob } from './active-job.ts';
import { clock, type Reasons, reason } from './reasons.ts';

export type EndCode = Extract<ReasonCode, 'expired' | 'cancelled' | 'no-record'>;

/** A delivery as all members of a cluster know it. `by`: the member that delivered it last. */
export interface SharedDelivery extends PendingDelivery {
  readonly deliveredAt: number;
  readonly by?: string;
  /** `done`: its result came. */
  readonly ended?: EndCode | 'done';
}

/** What the other members of a cluster know of these jobs; absent for a master without others. */
export interface DurableShare {
  /** Calls back with what other members keep, deliver or end; `shared`: what only this disk had is known to all. */
  listen(adopt: (delivery: SharedDelivery) => void, shared: (delivery: PendingDelivery) => void): void;
  /** Deliveries that only this disk has. */
  own(deliveries: readonly PendingDelivery[]): void;
  /** False when the others cannot be told now: it is kept on this disk. */
  keep(delivery: PendingDelivery): Promise<boolean>;
  /** True for the one member that may deliver it now. */
  take(jid: string, id: string): Promise<boolean>;
  /** False when another member delivered or ended it first. */
  end(jid: string, id: string, code?: EndCode): Promise<boolean>;
  /** Whether this member notices that jobs waited too long. */
  mayExpire(): boolean;
}

export interface DurableParts {
  readonly log: Pick<Logger, 'info' | 'error' | 'limited'>;
  readonly bus: Pick<EventBus, 'fire'>;
  readonly store: Pick<
    JobStore,
    'pending' | 'savePending' | 'dropPending' | 'saveVerdicts' | 'verdicts' | 'hasReturn' | 'load'
  >;
  readonly fleet: Pick<Fleet, 'isHalite' | 'known'>;
  readonly share?: DurableShare | undefined;
  readonly publications: Pick<Publications, 'send'>;
  readonly reasons: Pick<Reasons, 'evidenceOf'>;
  /** A currently tracked job. */
  activeJob(jid: string): Pick<ActiveJob, 'expired'> | undefined;
}

/** A minion that has just connected may reconnect soon: its jobs are sent after this time. */
const settleMs = 300;
/** A Salt minion that sends a message may not be subscribed yet: its start event, or this time, shows that it is. */
const heardMs = 3_000;
/** Deliveries that are told to the other members at a time. */
const sharedAtOnce = 32;
/** Longest delay of a timer; later expiries are checked again then. */
const longestTimerMs = 2_000_000_000;

interface Pending extends PendingDelivery {
  /** When this master last sent it; 0 when not yet. */
  deliveredAt: number;
}

export class DurableJobs {
  readonly #byMinion = new Map<string, Map<string, Pending>>();
  readonly #scheduled = new Map<string, NodeJS.Timeout>();
  readonly #parts: DurableParts;
  #timer: NodeJS.Timeout | undefined;
  /** The time for which the timer is set. */
  #next = Number.POSITIVE_INFINITY;

  private constructor(parts: DurableParts) {
    this.#parts = parts;
  }

  /** With the jobs that an earlier run of this master stored. */
  static async open(parts: DurableParts): Promise<DurableJobs> {
    const durable = new DurableJobs(parts);
    const pending = await parts.store.pending();
    for (const delivery of pending) durable.#remember(delivery);
    durable.#wind();
    parts.share?.own(pending);
    parts.share?.listen(
      (delivery) => durable.#adopt(delivery),
      ({ jid, id }) => void durable.#drop(jid, id),
    );
    return durable;
  }

  list(): PendingDelivery[] {
    return [...this.#byMinion.values()].flatMap((jobs) => [...jobs.values()]).sort((a, b) => (a.jid < b.jid ? -1 : 1));
  }

  /** When a kept job was sent to its minion; 0 when it waits, undefined when it is not kept. */
  deliveredAt(jid: string, id: string): number | undefined {
    return this.#byMinion.get(id)?.get(jid)?.deliveredAt;
  }

  /** Keeps a job for these minions. Resolves when it is on disk. */
  async keep(jid: string, ids: readonly string[], until: number): Promise<void> {
    const deliveries = ids.map((id) => ({ jid, id, until }));
    for (const delivery of deliveries) this.#remember(delivery);
    if (until < this.#next) this.#wind();
    try {
      await this.#keepThem(deliveries);
    } catch (error) {
      // A job that could not be stored is not delivered either: its minion is reported as missing.
      for (const id of ids) this.#take(jid, id);
      throw error;
    }
    await Promise.all(ids.map((id) => this.#note(jid, id, 'queued')));
  }

  async #keepThem(deliveries: readonly PendingDelivery[]): Promise<void> {
    const { share, store } = this.#parts;
    if (!share) return store.savePending(deliveries);
    const left = [...deliveries];
    const own: PendingDelivery[] = [];
    const work = async (): Promise<void> => {
      for (let next = left.shift(); next; next = left.shift()) if (!(await share.keep(next))) own.push(next);
    };
    await Promise.all(Array.from({ length: sharedAtOnce }, work));
    if (own.length > 0) await store.savePending(own);
  }

  /** Another member kept, delivered or ended it. */
  #adopt({ ended, by: _by, ...delivery }: SharedDelivery): void {
    const { jid, id } = delivery;
    if (ended !== undefined) {
      const known = this.#byMinion.get(id)?.get(jid);
      if (!known || !this.#take(jid, id) || ended === 'done') return;
      this.#parts.activeJob(jid)?.expired(id, this.#reasonOf(known, ended));
      return;
    }
    const isNew = !this.#byMinion.get(id)?.has(jid);
    this.#remember(delivery, delivery.deliveredAt);
    if (delivery.until < this.#next) this.#wind();
    // It connected before this master knew that a job waits for it.
    if (isNew && delivery.deliveredAt === 0 && (this.#parts.fleet.known(id)?.connections.size ?? 0) > 0)
      this.arrived(id, 'joined');
  }

  /** A milestone for the timeline of the job; earlier ones stay. */
  async #note(jid: string, id: string, milestone: 'queued' | 'delivered'): Promise<PlainDict> {
    const evidence = { milestones: { ...(await this.#milestones(jid, id)), [milestone]: Date.now() } };
    const row = { jid, id, verdict: 'queued', reason: '', text: '', evidence, at: Date.now() };
    await this.#parts.store.saveVerdicts([row]);
    return evidence;
  }

  async #milestones(jid: string, id: string): Promise<PlainDict> {
    const [noted] = await this.#parts.store.verdicts(jid, id);
    const milestones = noted && dictGet(noted.evidence, 'milestones');
    return asPlainDict(milestones) ?? newDict();
  }

  /** Cancels pending deliveries; returns the ids that will not get the job. */
  async cancel(jid: string, ids?: readonly string[]): Promise<string[]> {
    const all = [...this.#byMinion.values()].flatMap((jobs) => jobs.get(jid) ?? []);
    const cancelled = all.filter(({ id, deliveredAt }) => deliveredAt === 0 && (!ids || ids.includes(id)));
    const ended = await Promise.all(cancelled.map((delivery) => this.#end(delivery, 'cancelled')));
    return cancelled.flatMap(({ id }, n) => (ended[n] ? [id] : [])).sort();
  }

  /**
   * The minion is connected: all jobs that wait for it are sent, oldest first. Connections of Halite minions are
   * visible (`joined`); for the others, any message (`heard`) shows that they are back.
   */
  arrived(id: string, how: 'joined' | 'heard'): void {
    if (!this.#byMinion.has(id)) return;
    const soon = this.#scheduled.get(id);
    if (how === 'heard' && (soon || this.#parts.fleet.isHalite(id))) return;
    clearTimeout(soon);
    const timer = setTimeout(
      () => {
        this.#scheduled.delete(id);
        this.#deliverAll(id).catch((error: unknown) =>
          this.#parts.log.error('durable job could not be delivered', { minion: id, error: messageOf(error) }),
        );
      },
      how === 'joined' ? settleMs : heardMs,
    );
    timer.unref();
    this.#scheduled.set(id, timer);
  }

  /** Its result arrived: nothing has to be delivered any more. */
  returned(jid: string, id: string): void {
    if (this.#byMinion.get(id)?.has(jid)) void this.#forget(jid, id);
  }

  /**
   * Expires jobs that waited too long. A job that a Halite minion received is still awaited, because the minion reports
   * its outcome.
   */
  expire(now = Date.now()): void {
    if (this.#parts.share?.mayExpire() === false) return;
    for (const jobs of this.#byMinion.values()) {
      for (const delivery of jobs.values()) {
        if (delivery.until > now || !this.#endsByTime(delivery)) continue;
        void this.#end(delivery, delivery.deliveredAt === 0 ? 'expired' : 'no-record');
      }
    }
  }

  #endsByTime({ id, deliveredAt }: Pending): boolean {
    return deliveredAt === 0 || !this.#parts.fleet.isHalite(id);
  }

  /** Removes a job from the store and records why its minion will return no result. */
  async #end(delivery: Pending, code: EndCode): Promise<boolean> {
    const { jid, id } = delivery;
    // Removes it from the list first, so that neither a reconnecting minion nor the next check finds it.
    if (!this.#take(jid, id)) return false;
    const { share } = this.#parts;
    if (share && !(await share.end(jid, id, code))) {
      // Another member delivers it now, or ended it and tells so.
      this.#remember(delivery, delivery.deliveredAt);
      return false;
    }
    const at = Date.now();
    const why = this.#reasonOf(delivery, code);
    this.#parts.activeJob(jid)?.expired(id, why);
    this.#parts.bus.fire(`halite/job/${jid}/${code}/${id}`, { jid, id });
    try {
      const evidence = { ...why.evidence, milestones: await this.#milestones(jid, id) };
      const row = { jid, id, verdict: 'expired', reason: code, text: why.text, evidence, at };
      await Promise.all([this.#drop(jid, id), this.#parts.store.saveVerdicts([row])]);
    } catch (error) {
      this.#parts.log.limited('store', 'error', 'verdicts could not be stored', { error: messageOf(error) });
    }
    return true;
  }

  #reasonOf({ id, until, deliveredAt }: Pending, code: EndCode): Reason {
    const at = Math.min(Date.now(), until);
    const detail = code === 'no-record' ? `delivered at ${clock(deliveredAt)}` : `at ${clock(at)}`;
    return reason(code, this.#parts.reasons.evidenceOf(id), detail);
  }

  async #deliverAll(id: string): Promise<void> {
    const jobs = [...(this.#byMinion.get(id)?.values() ?? [])].sort((a, b) => (a.jid < b.jid ? -1 : 1));
    for (const delivery of jobs) {
      const returned = await this.#parts.store.hasReturn(delivery.jid, id);
      // It may have been cancelled while the store was asked.
      if (this.#byMinion.get(id)?.get(delivery.jid) !== delivery) continue;
      if (returned) await this.#forget(delivery.jid, id);
      else if (delivery.deliveredAt === 0 && delivery.until > Date.now()) await this.#deliver(delivery);
      // A Halite minion records which durable jobs it started: it runs them once, however often they are delivered.
      else if (delivery.deliveredAt > 0 && this.#parts.fleet.isHalite(id)) await this.#deliver(delivery);
    }
  }

  /** In a cluster one member delivers it, which has the record of the job already. */
  async #mayDeliver(jid: string, id: string): Promise<boolean> {
    const { share, store } = this.#parts;
    return !share || ((await store.load(jid)) !== undefined && (await share.take(jid, id)));
  }

  /** Sends the job again with its own jid, to this minion only. */
  async #deliver(delivery: Pending): Promise<void> {
    const { jid, id, deliveredAt } = delivery;
    if (!(await this.#mayDeliver(jid, id))) return;
    // From here on it cannot be cancelled any more.
    delivery.deliveredAt = Date.now();
    const load = await this.#parts.store.load(jid).catch((error: unknown) => {
      delivery.deliveredAt = deliveredAt;
      throw error;
    });
    // Only jobs that this master published are signed.
    const job = load && storedJob(load);
    if (!job || job.startedBy !== undefined) return this.#forget(jid, id);
    // A Salt minion remembers jids only while it runs: it gets the job at most once, also after our own restart.
    if (!this.#parts.fleet.isHalite(id) && !this.#parts.share) await this.#parts.store.dropPending(jid, id);
    this.#parts.log.info('durable job delivered', { jid, minion: id });
    this.#parts.bus.fire(`halite/job/${jid}/delivered/${id}`, { jid, id });
    await this.#note(jid, id, 'delivered');
    await this.#parts.publications.send({ ...job, tgt: [id], tgt_type: 'list' }, [id]);
  }

  #remember(delivery: PendingDelivery, deliveredAt = 0): void {
    const jobs = this.#byMinion.get(delivery.id) ?? new Map<string, Pending>();
    jobs.set(delivery.jid, { ...delivery, deliveredAt });
    this.#byMinion.set(delivery.id, jobs);
  }

  /** Removes it from the list; false when it was not in it. */
  #take(jid: string, id: string): boolean {
    const jobs = this.#byMinion.get(id);
    const known = jobs?.delete(jid) ?? false;
    if (jobs?.size === 0) this.#byMinion.delete(id);
    return known;
  }

  async #forget(jid: string, id: string): Promise<void> {
    this.#take(jid, id);
    await this.#parts.share?.end(jid, id);
    await this.#drop(jid, id);
  }

  /** From this disk. */
  async #drop(jid: string, id: string): Promise<void> {
    await this.#parts.store.dropPending(jid, id).catch((error: unknown) => {
      this.#parts.log.limited('store', 'error', 'a pending job could not be removed', { error: messageOf(error) });
    });
  }

  /** A timer for the next expiry, so that it is noticed when it happens. */
  #wind(): void {
    clearTimeout(this.#timer);
    this.#next = Number.POSITIVE_INFINITY;
    for (const jobs of this.#byMinion.values()) {
      for (const delivery of jobs.values()) {
        if (delivery.until < this.#next && this.#endsByTime(delivery)) this.#next = delivery.until;
      }
    }
    if (this.#next === Number.POSITIVE_INFINITY) return;
    const delay = Math.min(longestTimerMs, Math.max(0, this.#next - Date.now()) + 1);
    this.#timer = setTimeout(() => {
      this.expire();
      this.#wind();
    }, delay);
    this.#timer.unref();
  }
}
