// The syndic: takes jobs of higher masters to the master of this machine, and brings back which minions have them, what
// they return, and why some return nothing.
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dictGet, newDict, type Value } from '../base/codec/value.ts';
import { type MasterOpts, type MinionOpts, masterAddresses } from '../base/config/index.ts';
import { messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import { keepSeconds } from '../base/util/keep-jobs.ts';
import type { LocalPublish } from '../engine/client/api.ts';
import { RecentJobs } from '../minion/jobs/recent-jobs.ts';
import type { Identity } from '../minion/link/identity.ts';
import { MasterLink } from '../minion/link/master-link.ts';
import { MasterTrust } from '../minion/link/trust.ts';
import { funName, type PublishedJob } from '../protocol/job/job.ts';
import type { Transport } from '../protocol/wire/transport.ts';
import { Downward, isLost } from './downward.ts';
import { Following } from './following.ts';
import { type JobNote, JobNotes } from './job-notes.ts';
import { OwnEvents } from './own-events.ts';
import { type Result, Upward } from './upward.ts';

export interface SyndicParts {
  readonly opts: MinionOpts;
  readonly master: MasterOpts;
  readonly log: Logger;
  readonly identity: Identity;
  readonly transport: Transport;
}

/** Jobs that are under way at a time. */
const mostJobs = 5_000;
/** Jobs whose late results are still told to the master that asked. */
const rememberedJobs = 5_000;
/** Before results are offered again to a higher master that is there and does not take them. */
const againMs = 5_000;
/** Results may be fetched for so long when the master of this machine keeps them for ever. */
const longestKeptMs = 7 * 86_400_000;
/** Questions about jobs: whoever asked asks again. */
const notNoted = new Set(['saltutil.find_job', 'saltutil.kill_job', 'saltutil.running']);

interface Upper {
  readonly link: MasterLink;
  readonly up: Upward;
}

export class SyndicDaemon {
  readonly #parts: SyndicParts;
  readonly #control = new AbortController();
  readonly #uppers: Upper[] = [];
  readonly #down: Downward;
  readonly #notes: JobNotes;
  /** How many parts of each job are followed: a batch sends one job in several. */
  readonly #active = new Map<string, number>();
  /** Jobs from above that were followed before. */
  readonly #over = new Map<string, JobNote>();
  /** Noted jobs that wait for their higher master. */
  readonly #waiting = new Map<string, JobNote>();
  readonly #events: OwnEvents;

  constructor(parts: SyndicParts) {
    const { opts, master, log } = parts;
    this.#parts = parts;
    const { signal } = this.#control;
    this.#down = new Downward({ opts: master, log, signal });
    this.#notes = new JobNotes(opts.cachedir, log);
    this.#events = new OwnEvents({
      id: opts.id,
      everything: this.#mode() === 'sync',
      masterId: master.master_id ?? '',
      mostJobs: Math.max(1, master.syndic_jid_forward_cache_hwm),
      event: (tag, data) => this.#anyUpper()?.up.event(tag, data),
      result: (result) => this.#looseResult(result),
      fromAbove: (jid) => (this.#active.has(jid) ? 'followed' : this.#over.has(jid) ? 'over' : undefined),
    });
  }

  /** Starts everything; the masters are connected in the background. `fatal`: when none of them will accept this one. */
  async start(fatal: (error: Error) => void): Promise<void> {
    const { opts, master, log, identity, transport } = this.#parts;
    const kept = keepSeconds(master.raw) * 1000;
    for (const note of await this.#notes.restore(kept > 0 ? kept : longestKeptMs)) this.#waiting.set(note.jid, note);
    const recent = new RecentJobs(opts.minion_jid_queue_hwm, {
      ...{ file: join(opts.cachedir, 'halite', 'syndic-recent'), log },
    });
    await recent.restore();
    const trust = await MasterTrust.load(opts, 'syndic_master');
    const boot = randomBytes(8).toString('hex');
    for (const address of masterAddresses(opts)) {
      const name = `${address.host}:${address.port}`;
      const link: MasterLink = new MasterLink({
        ...{ opts, address, identity, trust, transport, boot, recent, syndic: true },
        log: log.with({ master: name }),
        grains: async () => newDict(),
        isTarget: async () => true,
        jobKey: partKey,
        onJob: (_self, job) => this.#job(job, upper),
        onReady: () => this.#resume(upper),
        onPillar: () => undefined,
      });
      const up = new Upward({ link, id: opts.id, log, tickMs: master.syndic_event_forward_timeout * 1000 });
      const upper: Upper = { link, up };
      this.#uppers.push(upper);
      void this.#run(link, fatal);
    }
    void this.#watchEvents();
  }

  async stop(): Promise<void> {
    this.#control.abort();
    for (const { link, up } of this.#uppers) {
      up.stop();
      link.stop();
    }
    this.#down.stop();
  }

  async #run(link: MasterLink, fatal: (error: Error) => void): Promise<void> {
    try {
      await link.start();
    } catch (error) {
      if (this.#control.signal.aborted) return;
      this.#parts.log.error('a higher master is no longer used', { master: link.name, error: messageOf(error) });
      link.stop();
      if (this.#uppers.every((upper) => upper.link.state === 'stopped'))
        fatal(error instanceof Error ? error : new Error(messageOf(error)));
    }
  }

  #mode(): string {
    return this.#parts.master.syndic_mode ?? 'sync';
  }

  #job(job: PublishedJob, upper: Upper): void {
    const { master, log } = this.#parts;
    const { jid, options } = job;
    const masterId = options?.master_id;
    // Its own job, which came back in a circle.
    if (masterId !== undefined && masterId === master.master_id) {
      log.info('a job of this master came back from above', { jid });
      void upper.up.list(jid, []);
      return;
    }
    if (this.#active.size >= mostJobs) {
      log.limited('syndic-jobs', 'warn', 'a job of a higher master is refused: too many are under way', { jid });
      return;
    }
    const fun = funName(job.fun);
    const named = masterId === undefined ? {} : { masterId };
    const note: JobNote = { jid, upper: upper.up.name, fun, since: Date.now(), ...named };
    void this.#follow(note, upper, publishCall(job, master.timeout));
  }

  async #follow(note: JobNote, upper: Upper, call?: LocalPublish): Promise<void> {
    const { log } = this.#parts;
    const { jid, fun } = note;
    const { signal } = this.#control;
    const following = new Following({ down: this.#down, log, signal }, note, upper.up);
    this.#active.set(jid, (this.#active.get(jid) ?? 0) + 1);
    this.#waiting.delete(jid);
    try {
      if (call && !notNoted.has(fun)) await this.#notes.add(note);
      const done = await following.run(call);
      if (signal.aborted) return;
      if (!done && !notNoted.has(fun)) this.#postpone(note, upper);
    } catch (error) {
      if (!signal.aborted) log.error('a job of a higher master failed', { jid, error: messageOf(error) });
    } finally {
      await this.#ended(note);
    }
  }

  async #ended(note: JobNote): Promise<void> {
    const { jid } = note;
    const others = (this.#active.get(jid) ?? 1) - 1;
    if (others > 0) this.#active.set(jid, others);
    else this.#active.delete(jid);
    this.#remember(note);
    if (others === 0 && !this.#control.signal.aborted && !this.#waiting.has(jid)) await this.#notes.remove(jid);
  }

  /** Its results stay in the store of the master of this machine. */
  #postpone(note: JobNote, upper: Upper): void {
    this.#waiting.set(note.jid, note);
    setTimeout(() => this.#resume(upper), againMs).unref();
  }

  #remember(note: JobNote): void {
    this.#over.delete(note.jid);
    this.#over.set(note.jid, note);
    const [oldest] = this.#over.keys();
    if (this.#over.size > rememberedJobs && oldest !== undefined) this.#over.delete(oldest);
  }

  /** A higher master is there (again): what it has not got yet is fetched. A master that is not listed any more gets nothing. */
  #resume(upper: Upper): void {
    if (!upper.up.ready) return;
    const listed = new Set(this.#uppers.map(({ up }) => up.name));
    for (const note of [...this.#waiting.values()]) {
      if (!listed.has(note.upper)) {
        this.#waiting.delete(note.jid);
        void this.#notes.remove(note.jid);
      } else if (note.upper === upper.up.name && !this.#active.has(note.jid)) void this.#follow(note, upper);
    }
  }

  /** One that takes events now: `syndic_failover` says in which order they are tried. */
  #anyUpper(): Upper | undefined {
    const ready = this.#uppers.filter(({ up }) => up.ready);
    const at = this.#parts.master.syndic_failover === 'ordered' ? 0 : Math.floor(Math.random() * ready.length);
    return ready[at];
  }

  /** A late result of a job from above goes to the master that asked, one of an own job to any of them. */
  #looseResult(result: Result): void {
    const asked = this.#over.get(result.jid);
    const upper = asked ? this.#uppers.find(({ up }) => up.name === asked.upper) : this.#anyUpper();
    if (!upper) return;
    void upper.up.result({ ...result, masterId: asked?.masterId ?? result.masterId }).then((delivered) => {
      if (delivered || !asked || notNoted.has(asked.fun)) return;
      this.#waiting.set(asked.jid, asked);
      void this.#notes.add(asked);
    });
  }

  /** The events of the master of this machine, as long as this daemon runs. */
  async #watchEvents(): Promise<void> {
    const { signal } = this.#control;
    while (!signal.aborted) {
      try {
        const client = await this.#down.client();
        try {
          for await (const event of client.events(this.#mode() === 'sync' ? '' : 'salt/job/')) this.#events.take(event);
        } catch (error) {
          if (!isLost(error)) throw error;
        }
        this.#down.lost(client);
      } catch (error) {
        if (signal.aborted) return;
        this.#parts.log.limited('syndic-events', 'error', 'the events of the master of this machine cannot be read', {
          error: messageOf(error),
        });
      }
      await sleep(againMs / 10, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}

/** The same job for the same minions: it may come from several members of a cluster, or in a circle. */
function partKey({ jid, tgt, tgt_type, fun }: PublishedJob): string {
  const part = createHash('sha256')
    .update(JSON.stringify([tgt, tgt_type, fun]))
    .digest('hex')
    .slice(0, 16);
  return `${jid} ${part}`;
}

/** The job as the master of this machine gets it: one second less at each level, as with Salt. */
function publishCall(job: PublishedJob, timeout: number): LocalPublish {
  const { jid, tgt, tgt_type, fun, arg, ret = '', delimiter, options, extra, deadlineSeconds, durableUntil } = job;
  const to = extra && dictGet(extra, 'to');
  const given: Value | undefined = extra && dictGet(extra, 'auth_list');
  const { id: _minion, ...passed } = options ?? {};
  return {
    job: {
      ...{ jid, tgt, tgt_type, fun, arg, ret, options: passed, fromAbove: true as const },
      timeoutSeconds: Math.max(1, Math.round(typeof to === 'number' ? to : timeout) - 1),
      ...(Array.isArray(given) ? { authList: given } : {}),
      ...(delimiter === undefined ? {} : { delimiter }),
      ...(deadlineSeconds === undefined ? {} : { deadlineSeconds }),
      ...(durableUntil === undefined ? {} : { durableSeconds: Math.max(1, durableUntil - Date.now() / 1000) }),
    },
  };
}
