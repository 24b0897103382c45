// A trial of the worst case: this master's ports are closed for some seconds while harmless jobs run, as if it had died, and
// the report says what became of the jobs. The process lives on, and opens its ports again by itself.
import { setTimeout as sleep } from 'node:timers/promises';
import { intField, numberField, textField } from '../../base/codec/fields.ts';
import { asPlainDict, newDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { Cluster } from '../../engine/cluster/api.ts';
import type { DrillOptions, DrillReport, JobOutcome, JobRequest, LastDrill } from '../../extend/sdk/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import type { LedgerStore } from '../../store/jobs.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Tracker } from '../tracking/tracker.ts';
import type { RegBucket } from './secrets.ts';

export interface DrillParts {
  readonly cluster: Pick<Cluster, 'self' | 'state' | 'members' | 'registry'>;
  readonly bus: Pick<EventBus, 'watch'>;
  readonly fleet: Pick<Fleet, 'ownConnections'>;
  readonly tracker: Pick<Tracker, 'active'>;
  readonly receivers: LedgerStore['receivers'];
  readonly log: Pick<Logger, 'info' | 'warn'>;
  run(request: JobRequest): Promise<JobOutcome>;
}

/** Closes the ports of this master for so long. */
export type CutPorts = (ms: number) => Promise<void>;

const drillKey = 'drill';
const [leastSeconds, mostSeconds, mostMinions] = [5, 60, 200];
/** So long a job has to reach its minions before the ports close. */
const takenMs = 2_000;
/** Results that another master should have been given by then. */
const lateMs = 10_000;
const backMs = 30_000;
const keptMs = 15_000;
const lookMs = 250;
const mostTimes = 10_000;

export class Drill {
  readonly #parts: DrillParts;
  readonly #reg: RegBucket;
  #cut: CutPorts | undefined;
  #runs = false;

  constructor(parts: DrillParts) {
    this.#parts = parts;
    this.#reg = parts.cluster.registry.bucket<Value>('reg');
  }

  start(cut: CutPorts): void {
    this.#cut = cut;
  }

  /** Of any member; undefined when there was none. */
  async last(): Promise<LastDrill | undefined> {
    const fields = asPlainDict((await this.#reg.get(drillKey))?.value);
    if (!fields) return undefined;
    const [at, lost, minions] = [numberField(fields, 'at'), intField(fields, 'lost'), intField(fields, 'minions')];
    const by = textField(fields, 'by');
    if (at === undefined || lost === undefined || minions === undefined || by === undefined) return undefined;
    return { at: new Date(at), by, lost, minions };
  }

  async run({ seconds, minions, force, dryRun }: DrillOptions): Promise<DrillReport> {
    if (!(seconds >= leastSeconds && seconds <= mostSeconds))
      throw new HaliteError('call.arguments', `seconds=${seconds} is not between ${leastSeconds} and ${mostSeconds}`);
    if (!(minions >= 1 && minions <= mostMinions))
      throw new HaliteError('call.arguments', `minions=${minions} is not between 1 and ${mostMinions}`);
    const { self } = this.#parts.cluster;
    const ids = this.#connected().slice(0, minions);
    this.#refuse(ids, force || dryRun);
    const plan = { master: self.id, seconds, minions: ids };
    if (dryRun) return { ...plan, isDry: true, lost: {}, late: {}, rerouted: {}, unreached: [], away: [] };
    const cut = this.#cut;
    if (!cut || this.#runs)
      throw new HaliteError('cluster.refused', 'Another drill runs here, or the master just started');
    this.#runs = true;
    try {
      const report = await this.#try({ ...plan, isDry: false }, cut);
      await this.#note(report);
      return report;
    } finally {
      this.#runs = false;
    }
  }

  #connected(): string[] {
    return [...new Set([...this.#parts.fleet.ownConnections()].map(([id]) => id))].sort();
  }

  #refuse(ids: readonly string[], anyway: boolean): void {
    const { cluster, tracker } = this.#parts;
    if (cluster.state.kind !== 'joined' || cluster.members().length < 2)
      throw new HaliteError('cluster.refused', 'No other master is there that could take over', {
        hint: 'See: salt-run cluster.status',
      });
    if (ids.length === 0) throw new HaliteError('cluster.refused', 'No minion is connected to this master');
    const jobs = tracker.active().length;
    if (jobs > 0 && !anyway)
      throw new HaliteError(
        'cluster.refused',
        `${jobs} jobs of this master are under way: real Salt minions could lose their results`,
        {
          hint: 'Wait until they have ended, or: force=True',
        },
      );
  }

  async #try(plan: Pick<DrillReport, 'master' | 'seconds' | 'minions' | 'isDry'>, cut: CutPorts): Promise<DrillReport> {
    const { bus, log, cluster } = this.#parts;
    const { seconds, minions } = plan;
    const arrived = new Map<string, number>();
    const unwatch = bus.watch((tag) => {
      const [, , jid, what, id] = tag.split('/');
      const key = `${jid} ${id}`;
      if (what === 'ret' && arrived.size < mostTimes && !arrived.has(key)) arrived.set(key, performance.now());
    });
    try {
      // They end in the middle of the time without this master.
      const workMs = takenMs + (seconds * 1000) / 3;
      const began = performance.now();
      const work = this.#ask(minions, 'test.sleep', [workMs / 1000], seconds + 60);
      await sleep(takenMs);
      log.warn('a drill closes the ports of this master', { seconds });
      const dead = cut(seconds * 1000);
      const ping = this.#ask(minions, 'test.ping', [], seconds);
      await dead;
      log.info('the ports of this master are open again');
      const [worked, pinged] = [await work, await ping];
      const away = await this.#away(minions);
      // A minion without another master keeps its result until this one is back.
      const via = await this.#receivers(worked.jid, minions);
      const lost = Object.entries(worked.missing).filter(([id]) => !via.has(id));
      const others = new Map(cluster.members().map(({ slot, id }) => [slot, id]));
      const late: Record<string, number> = {};
      const rerouted: Record<string, string> = {};
      for (const [id, slot] of via) {
        if (slot !== cluster.self.slot) rerouted[id] = others.get(slot) ?? `slot ${slot}`;
        const tookMs = (arrived.get(`${worked.jid} ${id}`) ?? began) - began - workMs;
        if (tookMs > lateMs) late[id] = Math.round(tookMs / 1000);
      }
      const unreached = minions.filter((id) => !(id in pinged.returns));
      return { ...plan, lost: Object.fromEntries(lost), late, rerouted, unreached, away };
    } finally {
      unwatch();
    }
  }

  #ask(ids: readonly string[], fun: string, arg: readonly Value[], timeoutSeconds: number): Promise<JobOutcome> {
    const outcome = this.#parts.run({ tgt: ids, tgt_type: 'list', fun, arg, timeoutSeconds });
    // Whoever waits for it hears of it, later.
    outcome.catch(() => undefined);
    return outcome;
  }

  /** Minions that have not come back to this master. */
  async #away(ids: readonly string[]): Promise<string[]> {
    const until = performance.now() + backMs;
    for (;;) {
      const here = new Set(this.#connected());
      const away = ids.filter((id) => !here.has(id));
      if (away.length === 0 || performance.now() > until) return away;
      await sleep(lookMs);
    }
  }

  /** Who took the results, when all are there or the time is over. */
  async #receivers(jid: string, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const until = performance.now() + keptMs;
    for (;;) {
      const { via } = await this.#parts.receivers(jid);
      if (ids.every((id) => via.has(id)) || performance.now() > until) return via;
      await sleep(lookMs);
    }
  }

  async #note({ master, minions, lost }: DrillReport): Promise<void> {
    const value = newDict([
      ['at', Date.now()],
      ['by', master],
      ['minions', minions.length],
      ['lost', Object.keys(lost).length],
    ] as [string, Value][]);
    try {
      const before = await this.#reg.get(drillKey);
      if (before) await this.#reg.update(drillKey, value, before.revision);
      else await this.#reg.create(drillKey, value);
    } catch (error) {
      this.#parts.log.warn('the drill could not be noted', { why: messageOf(error) });
    }
  }
}
