// Job path 9/9 · from master/handlers/returns.ts · to engine/client: follows every expected minion to its verdict.
import { dictSize, isDict, newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { messageOf } from '../base/errors/index.ts';
import type { VerdictRecord } from '../store/jobs.ts';
import { ActiveJob, type Waiting } from './active-job.ts';
import type { Master } from './core.ts';
import { evidenceOf, knownAbsent, reason, silence } from './reasons.ts';

/** How a find_job question is published; given in by publish.ts so that the two need not know each other. */
export type AskFindJob = (jid: string, ids: readonly string[], waiting: Waiting) => Promise<ActiveJob>;

/** After its connection broke, a minion has this long to come back before its running jobs are called missing. */
const reconnectGraceMs = 5_000;
/** A result may still be on its way when the minion already says that it no longer runs the job. */
const inFlightGraceMs = 1_500;
const keptJobs = 500;

export class Tracker {
  readonly #jobs = new Map<string, ActiveJob>();
  #master!: Master;
  #ask!: AskFindJob;

  connect(master: Master, ask: AskFindJob): void {
    this.#master = master;
    this.#ask = ask;
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
  begin(job: ActiveJob, poll: boolean): void {
    for (const id of job.open()) {
      const absent = knownAbsent(this.#master, id);
      if (absent) job.missing(id, absent);
    }
    job.start();
    if (!job.ended && poll) this.#later(job.waiting.timeoutMs, () => this.#poll(job));
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
      for (const job of this.#jobs.values()) if (!job.ended) job.missing(id, absent);
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
      if (!answers.has(id)) job.missing(id, silence(this.#master, id));
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
      if (job.ended || (!job.watched && Date.now() - job.started > 3_600_000)) this.#jobs.delete(jid);
    }
  }
}

/** find_job answers with the job's data while it runs, and with an empty map afterwards. */
function isRunning(answer: Value | undefined): boolean {
  return isDict(answer) && dictSize(answer) > 0;
}
