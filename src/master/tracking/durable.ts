// Jobs for disconnected minions: kept in the store, delivered once when the minion reconnects, or visibly expired.
import { asPlainDict, dictGet, newDict, type PlainDict } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import type { ReasonCode } from '../../protocol/job/verdict.ts';
import type { JobStore, PendingDelivery } from '../../store/jobs.ts';
import { storedJob } from '../../store/records.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Publisher } from '../publish/publisher.ts';
import type { ActiveJob } from './active-job.ts';
import { clock, type Reasons, reason } from './reasons.ts';

export interface DurableParts {
  readonly log: Pick<Logger, 'info' | 'error' | 'limited'>;
  readonly bus: Pick<EventBus, 'fire'>;
  readonly store: Pick<
    JobStore,
    'pending' | 'savePending' | 'dropPending' | 'saveVerdicts' | 'verdicts' | 'hasReturn' | 'load'
  >;
  readonly fleet: Pick<Fleet, 'isHalite'>;
  readonly publisher: Pick<Publisher, 'send'>;
  readonly reasons: Pick<Reasons, 'evidenceOf'>;
  /** A currently tracked job. */
  activeJob(jid: string): Pick<ActiveJob, 'expired'> | undefined;
}

/** A minion that has just connected may reconnect soon: its jobs are sent after this time. */
const settleMs = 300;
/** A Salt minion that sends a message may not be subscribed yet: its start event, or this time, shows that it is. */
const heardMs = 3_000;
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
    for (const delivery of await parts.store.pending()) durable.#remember(delivery);
    durable.#wind();
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
      await this.#parts.store.savePending(deliveries);
    } catch (error) {
      // A job that could not be stored is not delivered either: its minion is reported as missing.
      for (const id of ids) this.#take(jid, id);
      throw error;
    }
    await Promise.all(ids.map((id) => this.#note(jid, id, 'queued')));
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
    await Promise.all(cancelled.map((delivery) => this.#end(delivery, 'cancelled')));
    return cancelled.map((delivery) => delivery.id).sort();
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
  async #end(delivery: Pending, code: Extract<ReasonCode, 'expired' | 'cancelled' | 'no-record'>): Promise<void> {
    const { jid, id, until, deliveredAt } = delivery;
    // Removes it from the list first, so that neither a reconnecting minion nor the next check finds it.
    if (!this.#take(jid, id)) return;
    const at = Date.now();
    const detail = code === 'no-record' ? `delivered at ${clock(deliveredAt)}` : `at ${clock(Math.min(at, until))}`;
    const why = reason(code, this.#parts.reasons.evidenceOf(id), detail);
    this.#parts.activeJob(jid)?.expired(id, why);
    this.#parts.bus.fire(`halite/job/${jid}/${code}/${id}`, { jid, id });
    try {
      const evidence = { ...why.evidence, milestones: await this.#milestones(jid, id) };
      const row = { jid, id, verdict: 'expired', reason: code, text: why.text, evidence, at };
      await Promise.all([this.#forget(jid, id), this.#parts.store.saveVerdicts([row])]);
    } catch (error) {
      this.#parts.log.limited('store', 'error', 'verdicts could not be stored', { error: messageOf(error) });
    }
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

  /** Sends the job again with its own jid, to this minion only. */
  async #deliver(delivery: Pending): Promise<void> {
    const { jid, id, deliveredAt } = delivery;
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
    if (!this.#parts.fleet.isHalite(id)) await this.#parts.store.dropPending(jid, id);
    this.#parts.log.info('durable job delivered', { jid, minion: id });
    this.#parts.bus.fire(`halite/job/${jid}/delivered/${id}`, { jid, id });
    await this.#note(jid, id, 'delivered');
    await this.#parts.publisher.send({ ...job, tgt: [id], tgt_type: 'list' }, [id]);
  }

  #remember(delivery: PendingDelivery): void {
    const jobs = this.#byMinion.get(delivery.id) ?? new Map<string, Pending>();
    jobs.set(delivery.jid, { ...delivery, deliveredAt: 0 });
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
