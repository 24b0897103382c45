// Jobs for minions that are away: kept in the store, delivered once when the minion is back, or expired in plain sight.
import { isDict, newDict, type PlainDict } from '../base/codec/value.ts';
import { messageOf } from '../base/errors/index.ts';
import type { PendingDelivery } from '../store/jobs.ts';
import type { Master } from './core.ts';
import { evidenceOf, reason } from './reasons.ts';

/** A minion that has just connected may connect again in a moment: its jobs are sent once things have settled. */
const settleMs = 300;

export class DurableJobs {
  readonly #byMinion = new Map<string, Map<string, PendingDelivery>>();
  readonly #scheduled = new Set<string>();
  #master!: Master;

  /** Reads what an earlier run of this master left. */
  async restore(master: Master): Promise<void> {
    this.#master = master;
    for (const delivery of await master.store.pending()) this.#remember(delivery);
  }

  list(): PendingDelivery[] {
    return [...this.#byMinion.values()].flatMap((jobs) => [...jobs.values()]).sort((a, b) => (a.jid < b.jid ? -1 : 1));
  }

  /** Keeps a job for these minions. Resolves when it is safe on disk. */
  async keep(jid: string, ids: readonly string[], until: number): Promise<void> {
    const deliveries = ids.map((id) => ({ jid, id, until }));
    for (const delivery of deliveries) this.#remember(delivery);
    await this.#master.store.savePending(deliveries);
  }

  /** Takes back what was not delivered yet; the ids that will not get the job. */
  async cancel(jid: string, ids?: readonly string[]): Promise<string[]> {
    const cancelled = this.list().filter((delivery) => delivery.jid === jid && (!ids || ids.includes(delivery.id)));
    for (const { id } of cancelled) await this.#forget(jid, id);
    return cancelled.map((delivery) => delivery.id);
  }

  /** The minion is there: everything that waits for it is sent, in order of age. */
  arrived(id: string): void {
    if (!this.#byMinion.has(id) || this.#scheduled.has(id)) return;
    this.#scheduled.add(id);
    setTimeout(() => {
      this.#scheduled.delete(id);
      this.#deliverAll(id).catch((error: unknown) =>
        this.#master.log.error('durable job could not be delivered', { minion: id, error: messageOf(error) }),
      );
    }, settleMs).unref();
  }

  /** Its result came in: nothing to deliver any more. */
  returned(jid: string, id: string): void {
    if (this.#byMinion.get(id)?.has(jid)) void this.#forget(jid, id);
  }

  /** Called by the clock: what waited too long ends visibly. */
  expire(now = Date.now()): void {
    for (const { jid, id, until } of this.list()) {
      if (until > now) continue;
      void this.#forget(jid, id);
      const why = reason('expired', evidenceOf(this.#master, id));
      this.#master.tracker.job(jid)?.expired(id, why);
      const record = { jid, id, verdict: 'missing', reason: why.code, text: why.text, evidence: why.evidence, at: now };
      this.#master.store.saveVerdicts([record]).catch(() => {});
      this.#master.bus.fire(`halite/job/${jid}/expired/${id}`, { jid, id });
    }
  }

  async #deliverAll(id: string): Promise<void> {
    const jobs = [...(this.#byMinion.get(id)?.values() ?? [])].sort((a, b) => (a.jid < b.jid ? -1 : 1));
    for (const { jid } of jobs) {
      if ((await this.#master.store.returns(jid)).has(id)) await this.#forget(jid, id);
      else await this.#deliver(jid, id);
    }
  }

  /**
   * Sends the job again under its own jid, to this minion only. It stays pending until the result is in: a minion
   * that already runs it drops the repetition by its jid, so it runs once however often it is delivered.
   */
  async #deliver(jid: string, id: string): Promise<void> {
    const load = await this.#master.store.load(jid);
    if (!isDict(load) || load instanceof Map) return this.#forget(jid, id);
    const job: PlainDict = newDict(Object.entries(load));
    job['tgt'] = [id];
    job['tgt_type'] = 'list';
    this.#master.tracker.job(jid)?.running(id, 'delivered');
    this.#master.log.info('durable job delivered', { jid, minion: id });
    await this.#master.publisher.send(job, [id]);
  }

  #remember(delivery: PendingDelivery): void {
    const jobs = this.#byMinion.get(delivery.id) ?? new Map<string, PendingDelivery>();
    jobs.set(delivery.jid, delivery);
    this.#byMinion.set(delivery.id, jobs);
  }

  async #forget(jid: string, id: string): Promise<void> {
    const jobs = this.#byMinion.get(id);
    jobs?.delete(jid);
    if (jobs?.size === 0) this.#byMinion.delete(id);
    await this.#master.store.dropPending(jid, id).catch((error: unknown) => {
      this.#master.log.limited('store', 'error', 'a pending job could not be removed', { error: messageOf(error) });
    });
  }
}
