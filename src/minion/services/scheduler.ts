// The minion's scheduler: runs jobs of `schedule` (configuration and pillar) like jobs of a master.

import {
  asDict,
  type Dict,
  dictEntries,
  dictGet,
  isDict,
  newDict,
  type PlainDict,
  type Value,
} from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import { fileVersion } from '../../base/config/saved-section.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { generateJid } from '../../base/util/index.ts';
import { pyEquals } from '../../base/util/py-equals.ts';
import { strftime } from '../../base/util/strftime.ts';
import {
  answerSchedule,
  readSaved,
  Schedule,
  type ScheduledRun,
  savedPath,
  writeSaved,
} from '../../engine/schedule/index.ts';
import { proxyTypeOf } from '../../extend/sdk/proxies.ts';
import type { PublishedJob, RunningJob } from '../../protocol/job/job.ts';
import { readJobOptions } from '../../protocol/wire/messages/job.ts';
import type { ScheduledDelivery } from '../jobs/jobs.ts';
import type { JobLink } from '../link/master-link.ts';

export interface SchedulerParts {
  readonly opts: MinionOpts;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly grains: () => Dict;
  readonly pillar: () => Dict;
  readonly running: () => Promise<RunningJob[]>;
  readonly run: (job: PublishedJob, delivery: ScheduledDelivery, master?: JobLink) => void;
  /** Currently reachable masters. */
  readonly masters: () => readonly JobLink[];
  /** Other periodic work, once a second. */
  readonly alsoLook?: () => Promise<void>;
}

const tickMs = 1000;
/** A job for a given time may start this much late on a busy machine, and not later. */
const graceMs = 60_000;
const mineJob = '__mine_interval';

/** The jobs that a minion schedules itself. */
function ownJobs(opts: MinionOpts): [string, Value][] {
  const jobs: [string, Value][] = [];
  if (opts.mine_enabled)
    jobs.push([
      mineJob,
      newDict(
        Object.entries({
          function: 'mine.update',
          minutes: opts.mine_interval,
          jid_include: true,
          maxrunning: 2,
          return_job: opts.mine_return_job === true,
          enabled: true,
        }),
      ),
    ]);
  const proxy_name = proxyTypeOf(opts.raw);
  if (proxy_name !== undefined && opts.raw['proxy_keep_alive'] !== false)
    jobs.push([keepAliveJob, keepAlive(opts, proxy_name)]);
  const minutes = Math.abs(Number(opts.raw['grains_refresh_every'] ?? 0));
  if (minutes > 0)
    jobs.push([
      '__update_grains',
      newDict(Object.entries({ function: 'saltutil.refresh_grains', minutes, return_job: false })),
    ]);
  return jobs;
}

/** Asks the device of a proxy regularly whether it is alive. */
const keepAliveJob = '__proxy_keepalive';
const keepAlive = (opts: MinionOpts, proxy_name: string): Value =>
  newDict(
    Object.entries({
      function: 'status.proxy_reconnect',
      minutes: Number(opts.raw['proxy_keep_alive_interval'] ?? 1) || 1,
      ...{ jid_include: true, maxrunning: 1, return_job: false, enabled: true },
      kwargs: newDict([['proxy_name', proxy_name]]),
    }),
  );

const configured = (opts: MinionOpts): Dict => {
  const found = opts.raw['schedule'];
  return asDict(found) ?? newDict();
};

/** Where a minion without a running daemon (salt-call) stores changes: the daemon reads them from the file. */
export function savedSchedule(opts: MinionOpts, log: Logger, pillar: () => Dict): Schedule {
  return new Schedule(configured(opts), {
    ...{ log, pillar, graceMs, now: () => new Date(), random: Math.random, grains: newDict },
    running: async () => [],
    run: () => undefined,
    persist: (schedule) => writeSaved(savedPath(opts.raw), schedule),
  });
}

export class MinionScheduler {
  readonly #parts: SchedulerParts;
  readonly #schedule: Schedule;
  readonly #path: string;
  /** The content of the file when it was last read or written here. */
  #saved: Dict = newDict();
  #version = '';
  #timer: NodeJS.Timeout | undefined;
  readonly #greeted = new Set<string>();

  constructor(parts: SchedulerParts) {
    const { opts, log } = parts;
    this.#parts = parts;
    this.#path = savedPath(opts.raw);
    const jobs = [...dictEntries(configured(opts)).filter(([name]) => name !== mineJob), ...ownJobs(opts)];
    this.#schedule = new Schedule(newDict(jobs.map(([name, value]) => [String(name), value])), {
      ...{ log: log.child('schedule'), pillar: parts.pillar, grains: parts.grains, graceMs },
      now: () => new Date(),
      random: Math.random,
      running: () => this.#runningNames(),
      run: (run) => this.#run(run),
      persist: (schedule) => this.#write(schedule),
    });
  }

  /** Starts the timer; a second call has no effect. */
  async start(): Promise<void> {
    if (this.#timer || this.#parts.signal.aborted) return;
    const look = () =>
      void this.#followFile().then(() => Promise.all([this.#schedule.tick(), this.#parts.alsoLook?.()]));
    this.#timer = setInterval(look, tickMs);
    this.#timer.unref();
    this.#version = await fileVersion(this.#path);
    this.#saved = await readSaved(this.#path).catch(newDict);
    look();
  }

  /** A master is reachable: the scheduler starts with the first one, and each gets the mine immediately. */
  ready(master: JobLink): void {
    void this.start();
    if (this.#greeted.has(master.name)) return;
    if (this.#greeted.size === 0) this.#startupStates();
    this.#greeted.add(master.name);
    const entry = this.#schedule.entry(mineJob);
    if (entry && entry.data['enabled'] !== false) this.#mine(entry.data, [master]);
  }

  /** `startup_states`: what is applied when the minion starts. */
  #startupStates(): void {
    const { startup_states: kind, sls_list: names, top_file: top } = this.#parts.opts;
    if (!kind) return;
    const [fun, args]: [string, Value[]] =
      kind === 'sls' ? ['state.sls', [names]] : kind === 'top' ? ['state.top', [top]] : ['state.highstate', []];
    this.#run({ name: '__startup_states', fun, args, kwargs: undefined, data: newDict(), meant: new Date() });
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  request(request: PlainDict): Promise<PlainDict> {
    return answerSchedule(this.#schedule, request);
  }

  async #runningNames(): Promise<string[]> {
    return (await this.#parts.running()).flatMap(({ job }) => job.schedule ?? []);
  }

  async #write(schedule: PlainDict): Promise<void> {
    await writeSaved(this.#path, schedule);
    this.#saved = schedule;
    this.#version = await fileVersion(this.#path);
  }

  /** salt-call and users change the file: changes are applied immediately. */
  async #followFile(): Promise<void> {
    const version = await fileVersion(this.#path);
    if (version === this.#version) return;
    this.#version = version;
    try {
      const fresh = await readSaved(this.#path);
      for (const [name] of dictEntries(this.#saved))
        if (dictGet(fresh, name) === undefined) this.#schedule.deleteOwn(String(name));
      for (const [name, value] of dictEntries(fresh)) {
        const before = dictGet(this.#saved, name);
        if (name !== mineJob && !(before !== undefined && pyEquals(before, value)))
          this.#schedule.setOwn(String(name), value);
      }
      this.#saved = fresh;
    } catch (error) {
      this.#parts.log.error('the saved schedule cannot be read', { file: this.#path, error: messageOf(error) });
    }
  }

  /** Each master has its own mine. Nothing is sent when there is nothing to mine. */
  #mine(data: PlainDict, masters: readonly JobLink[]): void {
    for (const master of masters) {
      const sources = [this.#parts.opts.raw, master.pillar, this.#parts.grains()];
      if (!sources.some((source) => isDict(dictGet(source as Dict, 'mine_functions') ?? null))) continue;
      const { job, delivery } = this.#jobOf({
        name: mineJob,
        fun: 'mine.update',
        args: [],
        kwargs: undefined,
        data,
        meant: new Date(),
      });
      this.#parts.run(job, delivery, master);
    }
  }

  #run(run: ScheduledRun): void {
    if (run.name === mineJob && run.fun === 'mine.update') {
      this.#mine(run.data, this.#parts.masters());
      return;
    }
    const { job, delivery } = this.#jobOf(run);
    this.#parts.run(job, delivery);
  }

  #jobOf(run: ScheduledRun): { job: PublishedJob; delivery: ScheduledDelivery } {
    const { opts } = this.#parts;
    const { data } = run;
    const named = run.kwargs ? [newDict([['__kwarg__', true], ...Object.entries(run.kwargs)])] : [];
    const { metadata, return_config: ret_config = null, return_kwargs: ret_kwargs = null } = data;
    const given = newDict(
      Object.entries({ ret_config, ret_kwargs, metadata: isDict(metadata) ? withTimes(metadata) : null }),
    );
    const job = {
      ...{ jid: generateJid(), fun: run.fun, arg: [...run.args, ...named], tgt: opts.id, tgt_type: 'glob' },
      ...{ user: opts.user, schedule: run.name },
      ret: returnersOf(data['returner'], opts.raw['schedule_returner']),
      options: readJobOptions(given, ['metadata', 'ret_config', 'ret_kwargs']),
    };
    const delivery = data['return_job'] === false ? 'none' : data['return_job'] === 'nocache' ? 'nocache' : 'history';
    return { job, delivery };
  }
}

/** Returners of the job and of the option `schedule_returner`, each once. */
function returnersOf(...given: readonly (Value | undefined)[]): string {
  const names = given.flat();
  return [...new Set(names.filter((name) => typeof name === 'string' && name !== ''))].join(',');
}

/** Salt adds the start time of the job to its metadata. */
function withTimes(metadata: Dict): PlainDict {
  const now = new Date();
  const utc = new Date(now.getTime() + now.getTimezoneOffset() * 60_000);
  const plain = newDict(dictEntries(metadata).map(([key, value]) => [String(key), value]));
  plain['_TOS'] = strftime(now, '%z');
  plain['_TS'] = strftime(now, '%a %b %e %H:%M:%S %Y');
  plain['_TT'] = strftime(utc, '%Y %B %d %a %H %m');
  return plain;
}
