// Runs what masters ask for: quick functions at once, everything else in a job process; then sends the result back.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pack } from '../base/codec/msgpack/index.ts';
import { type Dict, dictGet, isDict, type PlainDict } from '../base/codec/value.ts';
import type { MinionOpts } from '../base/config/index.ts';
import { messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import { isJid } from '../base/util/index.ts';
import {
  failed,
  type JobPool,
  type Outcome,
  type Runtime,
  returnLoad,
  runJob,
  type WorkerData,
} from '../engine/exec/index.ts';
import type { Loader } from '../extend/loader/index.ts';
import type { MinionServices } from '../extend/sdk/index.ts';
import { followJob, type LifeCycle } from './lifecycle.ts';
import type { MasterLink } from './master-link.ts';
import type { ProcFiles } from './proc-files.ts';
import type { Returns } from './return.ts';
import { userOf } from './services.ts';
import type { Spool } from './spool.ts';

export interface JobParts {
  readonly opts: MinionOpts;
  readonly log: Logger;
  readonly pool: JobPool;
  readonly procFiles: ProcFiles;
  readonly returns: Returns;
  readonly spool: Spool;
  readonly signal: AbortSignal;
  readonly loader: () => Loader;
  readonly services: (link: MasterLink) => MinionServices;
  /** For functions that run in the daemon. */
  readonly runtime: (link: MasterLink) => Runtime;
  /** Options, grains and pillar for job processes. */
  readonly data: (link: MasterLink) => WorkerData;
}

export class Jobs {
  private readonly parts: JobParts;
  private readonly active = new Map<string, Promise<void>>();

  constructor(parts: JobParts) {
    this.parts = parts;
  }

  /** Takes a job that is for this minion. */
  handle(link: MasterLink, job: Dict): void {
    const work = this.work(link, job).catch((error: unknown) => {
      this.parts.log.error('a job failed outside its function', {
        jid: String(dictGet(job, 'jid')),
        error: messageOf(error),
      });
    });
    const jid = String(dictGet(job, 'jid'));
    this.active.set(jid, work);
    void work.finally(() => {
      if (this.active.get(jid) === work) this.active.delete(jid);
    });
  }

  /** Waits for results that are being delivered; jobs in processes are not waited for. */
  async settle(): Promise<void> {
    const inProcesses = new Set(this.parts.pool.running().map((item) => item.job.jid));
    await Promise.allSettled([...this.active].filter(([jid]) => !inProcesses.has(jid)).map(([, work]) => work));
  }

  private async work(link: MasterLink, job: Dict): Promise<void> {
    const { log, opts } = this.parts;
    const jid = String(dictGet(job, 'jid'));
    const fun = dictGet(job, 'fun') ?? '';
    log.info('job received', { jid, fun: String(fun), user: userOf(job) });
    const outcome = (await this.runsInline(fun))
      ? await this.runInline(link, job)
      : await this.runInProcess(link, job, jid);
    if (isDict(outcome.return) && dictGet(outcome.return, '__no_return__')) return;
    const load = returnLoad(opts.id, job, outcome);
    log.info('job finished', {
      jid,
      fun: String(fun),
      retcode: typeof outcome.retcode === 'number' ? outcome.retcode : undefined,
    });
    await this.parts.returns.deliver(link, load);
    await this.keepCopy(jid, load);
    this.noReturners(job);
  }

  /** Built-in functions that declare to be quick; a user's file of the same name is never run in the daemon. */
  private async runsInline(fun: unknown): Promise<boolean> {
    const loader = this.parts.loader();
    for (const name of Array.isArray(fun) ? fun : [fun]) {
      const text = String(name);
      if (await loader.isUserCode('modules', text.split('.', 1)[0]!)) return false;
      const found = await loader.find('modules', text);
      if (!found?.fn.inline) return false;
    }
    return true;
  }

  private runInline(link: MasterLink, job: Dict): Promise<Outcome> {
    const state = { job, signal: this.parts.signal, progress: () => undefined, retcode: 0 };
    return runJob(this.parts.runtime(link), state).catch((error: unknown) => failed(`ERROR: ${messageOf(error)}`));
  }

  private async runInProcess(link: MasterLink, job: Dict, jid: string): Promise<Outcome> {
    const { pool, procFiles, spool, opts } = this.parts;
    const life = this.lifeCycle(link, jid);
    let written: Promise<void> | undefined;
    const outcome = await pool.run({
      jid,
      assignment: {
        job,
        services: this.parts.services(link),
        data: this.parts.data(link),
        spool: spool.pathFor(link.name, jid),
        onProgress: (text) => life.progress(text),
      },
      onQueued: () => life.queued(),
      onStarted: (pid) => {
        life.started();
        written = procFiles.write(job, pid).catch((error: unknown) => {
          this.parts.log.error('the proc file could not be written', {
            jid,
            error: messageOf(error),
            folder: opts.cachedir,
          });
        });
      },
    });
    life.done();
    await written;
    await procFiles.remove(jid);
    return outcome;
  }

  private lifeCycle(link: MasterLink, jid: string): LifeCycle {
    const understands = link.credentials?.halite === true;
    const fire = (tag: string, data: PlainDict) => {
      if (link.ready) void link.fire(tag, data);
    };
    return followJob(this.parts.opts.id, jid, understands ? fire : undefined);
  }

  /** `cache_jobs`: a copy of every result on the minion. */
  private async keepCopy(jid: string, load: PlainDict): Promise<void> {
    if (!this.parts.opts.cache_jobs || !isJid(jid)) return;
    const folder = join(this.parts.opts.cachedir, 'minion_jobs', jid);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(join(folder, 'return.p'), pack(load), { mode: 0o600 });
    } catch (error) {
      this.parts.log.error('the job could not be cached', { jid, error: messageOf(error) });
    }
  }

  /** Returners on the minion do not exist yet: asking for one must not pass in silence. */
  private noReturners(job: Dict): void {
    const asked = [dictGet(job, 'ret'), this.parts.opts.return].filter(
      (name) => typeof name === 'string' && name !== '',
    );
    if (asked.length > 0) this.parts.log.error('Returner could not be loaded', { returner: asked.join(',') });
  }
}
