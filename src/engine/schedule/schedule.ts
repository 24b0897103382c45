// The schedule of a daemon: its jobs from configuration and pillar, the periodic check, and the resulting runs.
import { pyStr } from '../../base/codec/python/index.ts';
import {
  asDict,
  asText,
  type Dict,
  dictEntries,
  dictGet,
  isDict,
  newDict,
  type PlainDict,
  type Value,
} from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import { pyEquals } from '../../base/util/py-equals.ts';
import type { ExtensionLog } from '../../extend/sdk/index.ts';
import { loadCron, noCron } from './cron.ts';
import { argumentsOf, type Entry, functionOf, isSetting, newState, numberNamed, plainEntry } from './entry.ts';
import { type Due, evaluate } from './evaluate.ts';

/** A run of a job, passed to the daemon. */
export interface ScheduledRun {
  readonly name: string;
  readonly fun: string;
  readonly args: Value[];
  readonly kwargs: PlainDict | undefined;
  readonly data: PlainDict;
  /** The time for which it was due. */
  readonly meant: Date;
}

export interface ScheduleHost {
  readonly log: ExtensionLog;
  readonly now: () => Date;
  readonly random: () => number;
  readonly pillar: () => Dict;
  readonly grains: () => Dict;
  /** Names of the running jobs, one for each run. */
  readonly running: () => Promise<readonly string[]>;
  readonly run: (run: ScheduledRun) => void;
  /** Saves the jobs that do not come from the pillar. */
  readonly persist: (schedule: PlainDict) => Promise<void>;
  /** Members of a cluster evaluate the same jobs: all of them mean the same times. */
  readonly aligned?: boolean;
  /** How late a job for a given time may be. */
  readonly graceMs: number;
}

export class Schedule {
  readonly #host: ScheduleHost;
  /** Jobs and settings that do not come from the pillar. */
  readonly #own: Map<string, Value>;
  #entries = new Map<string, Entry>();
  #cron = noCron;
  #ticking: Promise<void> = Promise.resolve();
  readonly #complained = new Map<string, string>();

  constructor(own: Dict, host: ScheduleHost) {
    this.#host = host;
    this.#own = new Map(dictEntries(own).map(([name, value]) => [pyStr(name), value]));
  }

  /** All jobs by name: the pillar's, overridden by our own. */
  merged(where?: 'opts' | 'pillar'): Map<string, Value> {
    const pillar = where === 'opts' ? [] : dictEntries(this.#pillarSchedule());
    const own = where === 'pillar' ? [] : [...this.#own];
    return new Map([...pillar.map(([name, value]): [string, Value] => [pyStr(name), value]), ...own]);
  }

  hasOwn(name: string): boolean {
    return this.#own.has(name);
  }

  inPillar(name: string): boolean {
    return this.merged('pillar').has(name);
  }

  setOwn(name: string, value: Value): void {
    this.#own.set(name, value);
  }

  deleteOwn(name: string): void {
    if (this.#own.delete(name)) this.#entries.delete(name);
  }

  /** Resets the state of a job, as after a change of its times. */
  forget(name: string): void {
    this.#entries.delete(name);
  }

  entry(name: string): Entry | undefined {
    this.#refresh();
    return this.#entries.get(name);
  }

  persist(): Promise<void> {
    const kept = [...this.#own].map(([name, value]): [string, Value] => [
      name,
      isDict(value) ? newDict(Object.entries(plainEntry(value)).filter(([key]) => !key.startsWith('_'))) : value,
    ]);
    return this.#host
      .persist(newDict(kept))
      .catch((error: unknown) =>
        this.#host.log.error('Failed to persist the updated schedule', { error: messageOf(error) }),
      );
  }

  /** One check; checks never overlap. */
  tick(): Promise<void> {
    this.#ticking = this.#ticking
      .then(() => this.#look())
      .catch((error: unknown) => this.#host.log.error('the schedule failed', { error: messageOf(error) }));
    return this.#ticking;
  }

  /** Runs a job now, independent of its times. */
  async runNow(name: string): Promise<boolean> {
    const entry = this.entry(name);
    if (!entry) return false;
    entry.state.called = true;
    await this.#launch([{ entry, fun: functionOf(entry.data), lateMs: 0, meant: this.#host.now() }]);
    return true;
  }

  #pillarSchedule(): Dict {
    const pillar = this.#host.pillar();
    const found = dictGet(pillar, 'schedule');
    return asDict(found) ?? newDict();
  }

  /** Updates the entries from configuration and pillar; unchanged ones keep their state. */
  #refresh(): Map<string, Value> {
    const merged = this.merged();
    const fresh = new Map<string, Entry>();
    for (const [name, value] of merged) {
      if (isSetting(name)) continue;
      if (!isDict(value)) {
        this.#complain(name, `Scheduled job "${name}" should have a dict value`);
        continue;
      }
      const before = this.#entries.get(name);
      const data = plainEntry(value);
      const fromPillar = !this.#own.has(name);
      if (before && before.fromPillar === fromPillar && pyEquals(before.data, data)) fresh.set(name, before);
      else fresh.set(name, { name, data, fromPillar, state: newState(data) });
    }
    this.#entries = fresh;
    return merged;
  }

  async #look(): Promise<void> {
    const settings = this.#refresh();
    if (this.#cron === noCron && [...this.#entries.values()].some(({ data }) => data['cron']))
      this.#cron = await loadCron();
    const now = this.#host.now();
    const skipFunction = settings.get('skip_function');
    const options = {
      tools: {
        cron: this.#cron,
        sources: [this.#host.pillar(), this.#host.grains()],
        aligned: this.#host.aligned ?? false,
      },
      enabled: settings.get('enabled') !== false,
      splay: settings.get('splay'),
      random: this.#host.random,
      graceMs: this.#host.graceMs,
      skipFunction: asText(skipFunction) || undefined,
      skipDuringRange: settings.get('skip_during_range'),
    };
    const due: Due[] = [];
    for (const entry of this.#entries.values()) {
      const found = evaluate(entry, now, options);
      if (entry.state.error) this.#complain(entry.name, entry.state.error);
      if (found) due.push(found);
    }
    if (due.length > 0) await this.#launch(due);
  }

  async #launch(due: readonly Due[]): Promise<void> {
    const running = [...(await this.#host.running())];
    for (const { entry, fun, lateMs, meant } of due) {
      const { name, data, state } = entry;
      if (this.#tooMany(entry, running)) {
        state.skipped = { reason: 'maxrunning', at: this.#host.now() };
        continue;
      }
      if (data['dry_run'] === true) continue;
      running.push(name);
      this.#host.log.info('Running scheduled job', { job: name, ...(lateMs >= 1000 ? { late_ms: lateMs } : {}) });
      this.#host.run({ name, fun, ...argumentsOf(data), data, meant });
    }
  }

  #tooMany({ name, data }: Entry, running: readonly string[]): boolean {
    if (data['jid_include'] === false) return false;
    const most = numberNamed(data['maxrunning'] ?? 1);
    const count = running.filter((other) => other === name).length;
    if (count < most) return false;
    this.#host.log.debug('The scheduled job was not started: its maximum number of runs is active', {
      job: name,
      maxrunning: most,
    });
    return true;
  }

  /** Reports the same problem of a job once. */
  #complain(name: string, text: string): void {
    if (this.#complained.get(name) === text) return;
    this.#complained.set(name, text);
    this.#host.log.error(text, { job: name });
  }
}
