// Runs jobs of masters: quick functions immediately, everything else in a job process; then returns the result.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pack } from '../../base/codec/msgpack/index.ts';
import { dictGet, isDict, type PlainDict } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { isJid } from '../../base/util/index.ts';
import { replaceFile } from '../../base/util/replace-file.ts';
import { collectWhenIdle } from '../../base/util/small-heap.ts';
import {
  executeJob,
  failed,
  type JobPool,
  jobReturn,
  type Outcome,
  type Runtime,
  usesExecutors,
  type WorkerData,
} from '../../engine/exec/index.ts';
import type { Loader } from '../../extend/loader/index.ts';
import type { MinionServices } from '../../extend/sdk/index.ts';
import { funName, type PublishedJob } from '../../protocol/job/job.ts';
import type { JobReturn } from '../../protocol/job/job-return.ts';
import { runningFields } from '../../protocol/wire/messages/job.ts';
import { returnMessage } from '../../protocol/wire/messages/job-return.ts';
import type { JobLink } from '../link/master-link.ts';
import { runningJobs } from '../services/services.ts';
import { askedMaster, onePerCluster } from './asked-master.ts';
import { armDeadline, deadlineOf, deadlineOutcome } from './deadline.ts';
import type { Claim, DurableMemory } from './durable-memory.ts';
import { followJob, type LifeCycle, lastLine } from './lifecycle.ts';
import type { ProcFiles } from './proc-files.ts';
import type { Returns } from './return.ts';
import type { Returners } from './returners.ts';
import type { Spool } from './spool.ts';

export interface JobParts {
  readonly opts: MinionOpts;
  readonly log: Logger;
  readonly pool: JobPool;
  readonly procFiles: ProcFiles;
  readonly returns: Returns;
  readonly spool: Spool;
  readonly memory: DurableMemory;
  readonly returners: Returners;
  readonly signal: AbortSignal;
  readonly loader: () => Loader;
  readonly services: (link: JobLink) => MinionServices;
  /** For functions that run in the daemon. */
  readonly runtime: (link: JobLink) => Runtime;
  /** Options, grains and pillar for job processes. */
  readonly data: (link: JobLink) => WorkerData;
}

/** Where the result of a scheduled job goes: into the history of every master, only as an event, or nowhere. */
export type ScheduledDelivery = 'history' | 'nocache' | 'none';

interface Scheduled {
  readonly delivery: ScheduledDelivery;
  readonly masters: readonly JobLink[];
}

/**
 * Nothing is returned to a master of Salt sooner than this after a job came: commands of 3007 miss results that come within
 * milliseconds, and then wait for their whole timeout. Its own minions take about as long, because they start a process.
 */
const soonestReturnMs = 150;
/** An ordinary delivery takes milliseconds and is not reported. */
const slowDeliveryMs = 1000;

interface Ended {
  readonly outcome: Outcome;
  /** Killed at its deadline. */
  readonly deadline?: boolean;
}

export class Jobs {
  readonly #parts: JobParts;
  readonly #active = new Map<string, Promise<void>>();
  readonly #scheduled = new Map<string, Scheduled>();
  readonly #leaving = new Map<string, { readonly job: PublishedJob; readonly since: number }>();

  constructor(parts: JobParts) {
    this.#parts = parts;
  }

  /** Accepts a job that is for this minion. */
  handle(link: JobLink, job: PublishedJob): void {
    const { jid } = job;
    // Delivered again while it is running.
    if (this.#active.has(jid)) return;
    const work = this.#work(link, job).catch((error: unknown) => {
      this.#parts.log.error('a job failed outside its function', { jid, error: messageOf(error) });
    });
    this.#active.set(jid, work);
    void work.finally(() => {
      if (this.#active.get(jid) === work) this.#active.delete(jid);
      collectWhenIdle();
    });
  }

  /** A scheduled job: run once, with the first of these masters, and reported to all of them. */
  runScheduled(masters: readonly JobLink[], job: PublishedJob, delivery: ScheduledDelivery): void {
    const [link] = masters;
    const { jid } = job;
    if (!link || this.#active.has(jid)) return;
    this.#scheduled.set(jid, { delivery, masters });
    this.handle(link, job);
    void this.#active.get(jid)?.finally(() => this.#scheduled.delete(jid));
  }

  /** For a master that asks about a job whose result is being delivered, the job still counts as running. */
  delivering(): PublishedJob[] {
    const late = [...this.#leaving.values()].filter(({ since }) => Date.now() - since > slowDeliveryMs);
    return late.map(({ job }) => job);
  }

  /** Waits for results that are being delivered; jobs in processes are not awaited. */
  async settle(): Promise<void> {
    const inProcesses = new Set(this.#parts.pool.running().map((item) => item.job.jid));
    await Promise.allSettled([...this.#active].filter(([jid]) => !inProcesses.has(jid)).map(([, work]) => work));
  }

  async #work(link: JobLink, job: PublishedJob): Promise<void> {
    const { log } = this.#parts;
    const { jid, durableUntil } = job;
    const fun = funName(job.fun);
    const received = performance.now();
    log.info('job received', { jid, fun, user: job.user ?? '' });
    const refusal = this.#parts.returns.refusal;
    if (refusal !== undefined) return this.#refuse(link, job, refusal);
    if (durableUntil !== undefined) {
      const claim = await this.#parts.memory.claim(jid, durableUntil * 1000);
      if (claim !== 'new') return this.#deliveredAgain(link, job, claim);
    }
    const ended = (await this.#runsInline(job))
      ? { outcome: await this.#runInline(link, job) }
      : await this.#runInProcess(link, job);
    const { outcome } = ended;
    if (isDict(outcome.return) && dictGet(outcome.return, '__no_return__')) return;
    log.info('job finished', {
      jid,
      fun,
      retcode: typeof outcome.retcode === 'number' ? outcome.retcode : undefined,
    });
    const early = soonestReturnMs - (performance.now() - received);
    if (early > 0 && link.credentials?.halite !== true)
      await sleep(early, undefined, { signal: this.#parts.signal }).catch(() => undefined);
    await this.finish(link, job, ended);
  }

  /** Better than a job whose result is lost. */
  async #refuse(link: JobLink, job: PublishedJob, why: string): Promise<void> {
    this.#parts.log.limited('job refused', 'error', 'a job is not run', { jid: job.jid, why });
    if (this.#scheduled.has(job.jid)) return;
    const result = jobReturn(this.#parts.opts.id, job, failed(`ERROR: The job was not run: ${why}`));
    await this.#parts.returns.deliverOnce(link, result);
  }

  /** Sends the result; for a durable job the minion records that it is finished. */
  async finish(link: JobLink, job: PublishedJob, { outcome, deadline }: Ended): Promise<void> {
    const { jid, durableUntil } = job;
    const result = jobReturn(this.#parts.opts.id, job, outcome);
    const ret = this.#parts.returners.hand(link, job, deadline ? { ...result, ended: 'deadline' } : result);
    this.#leaving.set(jid, { job, since: Date.now() });
    await this.#deliver(link, ret).finally(() => this.#leaving.delete(jid));
    if (durableUntil !== undefined) await this.#parts.memory.done(jid, durableUntil * 1000);
    await this.#keepCopy(ret);
  }

  async #deliver(link: JobLink, ret: JobReturn): Promise<void> {
    const { returns } = this.#parts;
    const scheduled = this.#scheduled.get(ret.jid);
    if (!scheduled) return returns.deliver(link, ret);
    if (scheduled.delivery === 'none') return;
    const sent = scheduled.delivery === 'nocache' ? { ...ret, jid: 'nocache' } : ret;
    await Promise.all(onePerCluster(scheduled.masters).map((master) => returns.deliver(master, sent)));
  }

  /**
   * A durable job that was started before. It never runs twice; when its result is permanently lost, that is reported
   * as its result.
   */
  async #deliveredAgain(link: JobLink, job: PublishedJob, claim: Claim): Promise<void> {
    const { log, spool, procFiles, pool } = this.#parts;
    const { jid } = job;
    log.info('a durable job was delivered again and is not run twice', { jid, state: claim });
    if (claim === 'done') return;
    const runs = (await runningJobs(pool, procFiles)).some((running) => running.job.jid === jid);
    if (runs || (await spool.has(jid))) return;
    const text =
      'ERROR: This durable job was started here and interrupted without a result; it is not run a second time';
    await this.finish(link, job, { outcome: failed(text) });
  }

  /** Built-in functions that are declared as quick; a user's file of the same name is never run in the daemon. */
  async #runsInline(job: PublishedJob): Promise<boolean> {
    const { fun } = job;
    if (usesExecutors(this.#parts.opts.raw, job)) return false;
    const loader = this.#parts.loader();
    for (const name of typeof fun === 'string' ? [fun] : fun) {
      if (await loader.isUserCode('modules', name.split('.', 1)[0]!)) return false;
      const found = await loader.find('modules', name);
      if (!found?.fn.inline) return false;
    }
    return true;
  }

  #runInline(link: JobLink, job: PublishedJob): Promise<Outcome> {
    const state = { job, signal: this.#parts.signal, progress: () => undefined, retcode: 0 };
    return executeJob(this.#parts.runtime(link), state).catch((error: unknown) => failed(`ERROR: ${messageOf(error)}`));
  }

  async #runInProcess(link: JobLink, job: PublishedJob): Promise<Ended> {
    const { pool, procFiles, spool, opts } = this.#parts;
    const { jid } = job;
    const life = this.#lifeCycle(link, jid);
    const deadlineMs = deadlineOf(job);
    const deadline = deadlineMs === undefined ? undefined : armDeadline(pool, jid, deadlineMs);
    const deadlineAt = deadlineMs === undefined ? undefined : Date.now() + deadlineMs;
    let lastOutput = '';
    const place = await spool.placeFor(askedMaster(link), jid).catch(() => undefined);
    const outcome = await pool.run({
      jid,
      assignment: {
        job,
        services: this.#parts.services(link),
        data: this.#parts.data(link),
        ...(place ? { spool: place } : {}),
        onProgress: (text) => {
          lastOutput = lastLine(text);
          life.progress(text);
        },
      },
      onQueued: () => life.queued(),
      onStarted: (pid) => {
        life.started();
        try {
          procFiles.write(jid, runningFields(job, pid, deadlineAt));
        } catch (error) {
          const fields = { jid, error: messageOf(error), folder: opts.cachedir };
          this.#parts.log.error('the proc file could not be written', fields);
        }
      },
    });
    const killed = await deadline?.settle();
    life.done();
    await procFiles.remove(jid);
    if (!killed || deadlineMs === undefined) return { outcome };
    return { outcome: deadlineOutcome(deadlineMs, killed, lastOutput), deadline: true };
  }

  #lifeCycle(link: JobLink, jid: string): LifeCycle {
    // The master is informed of a scheduled job by its result.
    const understands = link.credentials?.halite === true && !this.#scheduled.has(jid);
    const fire = (tag: string, data: PlainDict) => {
      if (link.ready) void link.fire(tag, data);
    };
    return followJob(this.#parts.opts.id, jid, understands ? fire : undefined);
  }

  /** `cache_jobs`: a copy of every result on the minion. */
  async #keepCopy(ret: JobReturn): Promise<void> {
    const { jid } = ret;
    if (!this.#parts.opts.cache_jobs || !isJid(jid)) return;
    const folder = join(this.#parts.opts.cachedir, 'minion_jobs', jid);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await replaceFile(join(folder, 'return.p'), pack(returnMessage(ret)));
    } catch (error) {
      this.#parts.log.error('the job could not be cached', { jid, error: messageOf(error) });
    }
  }
}
