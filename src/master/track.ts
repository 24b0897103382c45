// Job path 9/9 · from master/handlers/returns.ts · to engine/client: follows every expected minion to its verdict.
import { dictSize, isDict, newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { messageOf } from '../base/errors/index.ts';
import type { Reason } from '../protocol/job/verdict.ts';
import type { VerdictRecord } from '../store/jobs.ts';
import { ActiveJob, type Waiting } from './active-job.ts';
import type { Master } from './core.ts';
import { evidenceOf, knownAbsent, reason, silence } from './reasons.ts';

/** How a find_job question is published; given in by publish.ts so that the two need not know each other. */
export type AskFindJob = (jid: string, ids: readonly string[], waiting: Waiting) => Promise<ActiveJob>;

export type KillJob = (jid: string, ids: readonly string[]) => Promise<void>;

/** After its connection broke, a minion has this long to come back before its running jobs are called missing. */
const reconnectGraceMs = 5_000;
/** A result may still be on its way when the minion already says that it no longer runs the job. */
const inFlightGraceMs = 1_500;
/** A minion that kills a job at its deadline needs a moment to say so. */
const deadlineGraceMs = 1_000;
const keptJobs = 500;

export interface BeginOptions {
  /** Ask minions that do not report by themselves; off for --async. */
  readonly poll: boolean;
  readonly deadlineMs?: number;
  readonly durableUntil?: number;
}

export class Tracker {
  readonly #jobs = new Map<string, ActiveJob>();
  #master!: Master;
  readonly #durable = new Map<string, number>();
  #ask!: AskFindJob;
  #kill!: KillJob;

  connect(master: Master, ask: AskFindJob, kill: KillJob): void {
    this.#master = master;
    this.#ask = ask;
    this.#kill = kill;
  }

  job(jid: string): ActiveJob | undefined {
    return this.#jobs.get(jid);
  }

  active(): ActiveJob[] {
    return [...this.#jobs.values()].filter((job) => !job.ended);
  }

  alreadyReturned(jid: string, id: string): boolean {
    const verdict = this.#jobs.get(jid)?.verdict(id);
    return verdict?.kind === 'returned' || verdict?.kind === 'failed';
  }

  /** Begins to follow a job. Minions known to be away are answered in `begin`, before anybody waits. */
  open(
    jid: string,
    fun: string,
    expected: readonly string[],
    unevaluated: readonly string[],
    waiting: Waiting,
  ): ActiveJob {
    const job = new ActiveJob(jid, fun, expected, unevaluated, waiting);
    this.#jobs.set(jid, job);
    job.listen((update) => {
      if (update.type === 'end') this.#close(job);
    });
    this.#forgetOldest();
    return job;
  }

  /** The job is out: settle what is known already and watch over the rest. `poll` false only listens (--async). */
  begin(job: ActiveJob, options: BeginOptions): void {
    const { deadlineMs, durableUntil } = options;
    if (durableUntil) this.#durable.set(job.jid, durableUntil);
    for (const id of job.open()) {
      const absent = knownAbsent(this.#master, id);
      if (absent) this.#absent(job, id, absent);
    }
    job.start();
    if (job.ended) return;
    if (options.poll) this.#later(job.waiting.timeoutMs, () => this.#poll(job));
    if (deadlineMs) this.#later(deadlineMs + deadlineGraceMs, () => this.#deadline(job, deadlineMs));
  }

  /** No result to be had now: kept for later when the job is durable, missing otherwise. */
  #absent(job: ActiveJob, id: string, why: Reason): void {
    const until = this.#durable.get(job.jid);
    if (until && this.#master.keys.has('accepted', id)) {
      job.queued(id, until, why);
      this.#master.durable.keep(job.jid, [id], until).catch((error: unknown) => {
        this.#master.log.error('a durable job could not be stored', {
          jid: job.jid,
          minion: id,
          error: messageOf(error),
        });
      });
    } else job.missing(id, why);
  }

  /** Halite minions have killed the job themselves by now; the others are told to. */
  #deadline(job: ActiveJob, deadlineMs: number): void {
    const late = job.open();
    if (late.length === 0) return;
    for (const id of late) {
      const evidence = newDict([['deadline_seconds', deadlineMs / 1000]]);
      job.missing(id, reason('deadline', evidence, `${deadlineMs / 1000} s`));
    }
    this.#kill(job.jid, late).catch((error: unknown) =>
      this.#master.log.error('kill_job could not be published', { jid: job.jid, error: messageOf(error) }),
    );
  }

  returned(jid: string, id: string, load: PlainDict): void {
    this.#jobs.get(jid)?.returned(id, load);
  }

  /** Life-cycle message of a Halite minion: as long as they come, nobody needs to ask it. */
  phase(jid: string, id: string, phase: string, text: string): void {
    const job = this.#jobs.get(jid);
    if (!job || phase === 'done') return;
    job.running(id, text);
  }

  /** A connection went: jobs the minion was busy with get their reason unless it is back in a moment. */
  disconnected(id: string): void {
    this.#later(reconnectGraceMs, () => {
      if (this.#master.fleet.connected(id) !== 'no') return;
      const absent = knownAbsent(this.#master, id);
      if (!absent) return;
      for (const job of this.#jobs.values()) if (!job.ended && job.verdict(id)) this.#absent(job, id, absent);
    });
  }

  #later(ms: number, action: () => void): void {
    setTimeout(action, ms).unref();
  }

  /** Salt's way for minions that do not report by themselves: ask who still runs the job, then wait again. */
  async #poll(job: ActiveJob): Promise<void> {
    if (job.ended) return;
    const silent = job.open().filter((id) => !this.#reportsItself(job, id));
    for (const id of silent.filter((other) => job.isUnevaluated(other))) {
      job.missing(id, reason('not-evaluated', evidenceOf(this.#master, id)));
    }
    const asked = silent.filter((id) => !job.isUnevaluated(id));
    if (asked.length > 0) await this.#question(job, asked);
    if (!job.ended) this.#later(job.waiting.timeoutMs, () => this.#poll(job));
  }

  #reportsItself(job: ActiveJob, id: string): boolean {
    return job.verdict(id)?.kind === 'running' && this.#master.fleet.connected(id) === 'yes';
  }

  async #question(job: ActiveJob, ids: readonly string[]): Promise<void> {
    let inquiry: ActiveJob;
    try {
      inquiry = await this.#ask(job.jid, ids, job.waiting);
    } catch (error) {
      this.#master.log.error('find_job could not be published', { jid: job.jid, error: messageOf(error) });
      return;
    }
    const answers = new Map<string, Value>();
    await new Promise<void>((resolve) => {
      const stop = inquiry.listen((update) => {
        if (update.type === 'return') answers.set(update.id, update.load['return'] ?? null);
        if (update.type === 'return' && isRunning(update.load['return'])) job.running(update.id, '');
        if (update.type === 'end') done();
      });
      const done = (): void => {
        stop();
        resolve();
      };
      this.#later(job.waiting.gatherMs, done);
      if (inquiry.ended) done();
    });
    let idle = false;
    for (const id of ids) {
      if (!answers.has(id)) this.#absent(job, id, silence(this.#master, id));
      else if (!isRunning(answers.get(id))) idle = true;
    }
    if (idle) this.#later(inFlightGraceMs, () => this.#settleIdle(job, answers));
  }

  #settleIdle(job: ActiveJob, answers: ReadonlyMap<string, Value>): void {
    for (const [id, answer] of answers) {
      if (!isRunning(answer)) job.missing(id, reason('no-record', evidenceOf(this.#master, id)));
    }
  }

  #close(job: ActiveJob): void {
    const at = Date.now();
    const records: VerdictRecord[] = [];
    for (const [id, verdict] of job.verdicts()) {
      if (verdict.kind !== 'missing') continue;
      const { code, text, evidence } = verdict.reason;
      records.push({ jid: job.jid, id, verdict: 'missing', reason: code, text, evidence: evidence ?? newDict(), at });
    }
    if (records.length === 0) return;
    this.#master.store.saveVerdicts(records).catch((error: unknown) => {
      this.#master.log.limited('store', 'error', 'verdicts could not be stored', { error: messageOf(error) });
    });
  }

  /** Ended jobs are kept a while, to tell second deliveries from first ones. */
  #forgetOldest(): void {
    if (this.#jobs.size <= keptJobs) return;
    for (const [jid, job] of this.#jobs) {
      if (this.#jobs.size <= keptJobs) return;
      if (job.ended || (!job.watched && Date.now() - job.started > 3_600_000)) {
        this.#jobs.delete(jid);
        this.#durable.delete(jid);
      }
    }
  }
}

/** find_job answers with the job's data while it runs, and with an empty map afterwards. */
function isRunning(answer: Value | undefined): boolean {
  return isDict(answer) && dictSize(answer) > 0;
}
