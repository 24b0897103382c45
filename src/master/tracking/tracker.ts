// Tracks every expected minion to its verdict.
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { JobReturn } from '../../protocol/job/job-return.ts';
import type { Reason } from '../../protocol/job/verdict.ts';
import type { JobStore, VerdictRecord } from '../../store/jobs.ts';
import type { KeyStore } from '../../store/keys.ts';
import { ActiveJob, type LifecycleReport, type Phase, type Waiting } from './active-job.ts';
import type { DurableJobs } from './durable.ts';
import { JobCounts } from './job-counts.ts';
import { jobEvidence, type Reasons, reason } from './reasons.ts';
import { JobWatch, type WatchParts } from './watch.ts';

export type KillJob = (jid: string, ids: readonly string[]) => Promise<void>;

/** After its connection broke, a minion has this long to reconnect before its running jobs count as missing. */
const reconnectGraceMs = 1_500;
/** A Halite minion kills the job itself at its deadline, and needs a moment to report it. */
const deadlineGraceMs = 2_000;
const keptJobs = 500;
/** Of all tracked jobs together: 500 jobs on a fleet of 10,000 would need half a gigabyte. */
const keptVerdicts = 500_000;
/** New verdicts between two searches for old ones. */
const sweepVerdicts = keptVerdicts / 4;
/** A job without waiting callers that does not end is ended after this time, or when there are too many of them. */
const forgottenAfterMs = 3_600_000;
const mostOpenJobs = 10_000;
/** Number of new jobs between two searches for old ones. */
const sweepEvery = 100;
const phases = new Set<string>(['accepted', 'started', 'progress'] satisfies Phase[]);

export interface BeginOptions {
  /** Ask minions that do not report by themselves; disabled for --async. */
  readonly poll: boolean;
  readonly deadlineMs?: number;
  readonly durableUntil?: number;
  /** It reached only the minions of this master, because of that. */
  readonly cutOff?: string;
}

export interface TrackerParts extends WatchParts {
  readonly log: Pick<Logger, 'error' | 'limited'>;
  readonly keys: Pick<KeyStore, 'ids' | 'has'>;
  readonly store: Pick<JobStore, 'saveVerdicts'>;
  readonly reasons: WatchParts['reasons'] & Pick<Reasons, 'knownAbsent' | 'unfinished'>;
  readonly durable: WatchParts['durable'] & Pick<DurableJobs, 'keep'>;
  readonly kill: KillJob;
  /** The other member of the cluster that has a minion, or had it last. */
  elsewhere?(id: string): string | undefined;
}

export class Tracker {
  readonly counts = new JobCounts();
  readonly #jobs = new Map<string, ActiveJob>();
  readonly #watches = new WeakMap<ActiveJob, JobWatch>();
  #sweepAt = keptJobs;
  /** Since the last search. */
  #newVerdicts = 0;
  readonly #parts: TrackerParts;
  readonly #durable = new Map<string, number>();

  constructor(parts: TrackerParts) {
    this.#parts = parts;
  }

  job(jid: string): ActiveJob | undefined {
    return this.#jobs.get(jid);
  }

  active(): ActiveJob[] {
    return [...this.#jobs.values()].filter((job) => !job.ended);
  }

  alreadyReturned(jid: string, id: string): boolean {
    return this.#jobs.get(jid)?.hasReturned(id) ?? false;
  }

  /** Starts to track a job. Minions known to be disconnected get their verdict in `begin`, before any caller waits. */
  open(
    jid: string,
    fun: string,
    expected: readonly string[],
    unevaluated: readonly string[],
    waiting: Waiting,
    user = 'root',
  ): ActiveJob {
    const job = new ActiveJob(jid, fun, expected, unevaluated, waiting, user);
    this.#jobs.set(jid, job);
    job.onEnd = () => this.#close(job);
    job.onVerdict = (verdict) => this.counts.verdict(verdict);
    this.#newVerdicts += job.size;
    if (this.#jobs.size > this.#sweepAt || this.#newVerdicts > sweepVerdicts) this.#forgetOldest(job);
    return job;
  }

  /** The job was sent to `ids`: settle known outcomes and watch the rest. `poll` false only listens. */
  begin(job: ActiveJob, options: BeginOptions, ids: readonly string[] = job.open()): void {
    const { deadlineMs, durableUntil, poll, cutOff } = options;
    if (durableUntil) this.#durable.set(job.jid, durableUntil);
    const { fleet, keys } = this.#parts;
    const accepted = new Set(keys.ids('accepted'));
    for (const id of ids) {
      // Most may answer: nothing is looked up on disk for them.
      if (accepted.has(id) && fleet.connected(id) !== 'no') continue;
      const absent = job.isOpen(id) ? this.#parts.reasons.knownAbsent(id) : undefined;
      if (absent) this.absent(job, id, absent);
    }
    if (cutOff !== undefined) this.#unreachable(job, ids, cutOff);
    job.start();
    if (job.ended) return;
    if (poll) this.#watch(job).over(ids);
    if (deadlineMs) this.#deadlineFor(job, ids, deadlineMs);
  }

  /** A lower master has these minions and sent them the job. */
  addBelow(job: ActiveJob, options: BeginOptions, ids: readonly string[]): void {
    job.add(ids);
    if (ids.length > 0) this.begin(job, options, ids);
  }

  /** What a lower master knows about a minion of it that returns nothing. */
  missingBelow(jid: string, id: string, why: Reason): void {
    const job = this.#jobs.get(jid);
    if (job?.isOpen(id)) job.missing(id, why);
  }

  /** The job did not leave this master: minions of the others do not get it now. */
  #unreachable(job: ActiveJob, ids: readonly string[], why: string): void {
    for (const id of ids) {
      const master = job.isOpen(id) ? this.#parts.elsewhere?.(id) : undefined;
      if (master === undefined) continue;
      const evidence = { ...this.#parts.reasons.evidenceOf(id), master, why };
      this.absent(job, id, reason('cut-off', evidence, `${master} had it last`));
    }
  }

  /** No result is possible now: kept for later when the job is durable, missing otherwise. */
  absent(job: ActiveJob, id: string, why: Reason): void {
    if (job.isUnevaluated(id)) {
      job.missing(id, reason('not-evaluated', { ...why.evidence, otherwise: why.text }));
      return;
    }
    const until = this.#durable.get(job.jid);
    // A Salt minion that was seen working would run the job a second time.
    const begun = job.milestones(id)?.confirmed !== undefined && !this.#parts.fleet.isHalite(id);
    if (!until || begun || !this.#parts.keys.has('accepted', id)) {
      job.missing(id, { ...why, evidence: { ...why.evidence, ...jobEvidence(job, id) } });
      return;
    }
    this.#parts.durable.keep(job.jid, [id], until).then(
      () => job.queued(id, until, why),
      (error: unknown) => {
        this.#parts.log.error('a durable job could not be stored', {
          ...{ jid: job.jid, minion: id, error: messageOf(error) },
        });
        job.missing(id, why);
      },
    );
  }

  /** One watch for each job: a minion that is watched again is removed from the old round. */
  #watch(job: ActiveJob): JobWatch {
    const known = this.#watches.get(job);
    if (known) return known;
    const watch = new JobWatch(this.#parts, this, job);
    this.#watches.set(job, watch);
    return watch;
  }

  isDurable(jid: string): boolean {
    return this.#durable.has(jid);
  }

  /** Removes minions from a batch to which the job was not sent yet. */
  cancel(jid: string, ids?: readonly string[]): string[] {
    const job = this.#jobs.get(jid);
    const cancelled = (job?.held() ?? []).filter((id) => !ids || ids.includes(id));
    for (const id of cancelled) job?.missing(id, reason('cancelled', this.#parts.reasons.evidenceOf(id)));
    return cancelled;
  }

  forget(jid: string): void {
    this.#jobs.delete(jid);
  }

  /** Halite minions kill the job themselves and get a moment to report it; the others are sent kill_job. */
  #deadlineFor(job: ActiveJob, ids: readonly string[], deadlineMs: number): void {
    const { fleet } = this.#parts;
    const [own, others]: [string[], string[]] = [[], []];
    for (const id of ids) (fleet.isHalite(id) && fleet.connected(id) === 'yes' ? own : others).push(id);
    if (others.length > 0) later(deadlineMs, () => this.#deadline(job, others, deadlineMs));
    if (own.length > 0) later(deadlineMs + deadlineGraceMs, () => this.#deadline(job, own, deadlineMs));
  }

  #deadline(job: ActiveJob, ids: readonly string[], deadlineMs: number): void {
    const late = ids.filter((id) => job.isOpen(id));
    if (late.length === 0) return;
    this.#parts
      .kill(job.jid, late)
      .catch((error: unknown) =>
        this.#parts.log.error('kill_job could not be published', { jid: job.jid, error: messageOf(error) }),
      );
    for (const id of late) {
      const evidence = newDict([
        ['deadline_seconds', deadlineMs / 1000],
        ['kill_job', 'sent'],
        ...Object.entries({ ...this.#parts.reasons.evidenceOf(id), ...jobEvidence(job, id) }),
      ]);
      job.missing(id, reason('deadline', evidence, `${deadlineMs / 1000} s`));
    }
  }

  returned(ret: JobReturn): void {
    this.#jobs.get(ret.jid)?.returned(ret);
  }

  /** Life-cycle message of a Halite minion: as long as they arrive, the minion need not be asked. */
  phase(jid: string, id: string, phase: string, said: LifecycleReport): void {
    if (phases.has(phase)) this.#jobs.get(jid)?.running(id, phase as Phase, said);
  }

  /** A connection ended: running jobs of the minion get their reason unless it reconnects soon. */
  disconnected(id: string): void {
    later(reconnectGraceMs, () => {
      this.lost(id);
    });
  }

  /** If it is certain that this minion returns no result now, its open jobs get the reason. */
  lost(id: string): void {
    const absent = this.#parts.reasons.knownAbsent(id);
    if (!absent) return;
    for (const job of this.#jobs.values()) if (!job.ended && job.isOpen(id)) this.absent(job, id, absent);
  }

  /** Another process now uses this id: what the old one reported about its jobs may no longer apply. */
  restarted(id: string): void {
    for (const job of this.#jobs.values()) {
      if (job.ended || !job.isOpen(id)) continue;
      job.doubt(id);
      this.#watch(job).over([id]);
    }
  }

  #close(job: ActiveJob): void {
    this.counts.ended++;
    const records = [...job.verdicts().keys()].flatMap((id) => recordOf(job, id) ?? []);
    if (records.length === 0) return;
    this.#parts.store.saveVerdicts(records).catch((error: unknown) => {
      this.#parts.log.limited('store', 'error', 'verdicts could not be stored', { error: messageOf(error) });
    });
  }

  /** Ended jobs are kept for a while, to recognize repeated deliveries. */
  #forgetOldest(fresh: ActiveJob): void {
    let verdicts = 0;
    for (const { size } of this.#jobs.values()) verdicts += size;
    for (const [jid, job] of this.#jobs) {
      const tooMany = this.#jobs.size > keptJobs;
      if (!tooMany && verdicts <= keptVerdicts) break;
      const old = Date.now() - job.started > forgottenAfterMs || this.#jobs.size > mostOpenJobs;
      if (tooMany && !job.ended && !job.watched && old && job !== fresh) this.#giveUp(job);
      if (!job.ended || job === fresh) continue;
      verdicts -= job.size;
      this.#jobs.delete(jid);
      this.#durable.delete(jid);
    }
    this.#newVerdicts = 0;
    this.#sweepAt = Math.max(keptJobs, this.#jobs.size) + sweepEvery;
  }

  /** Nobody waits for it any more; the minions that had no verdict. */
  giveUp(jid: string): string[] {
    const job = this.#jobs.get(jid);
    return job ? this.#giveUp(job) : [];
  }

  /** No longer tracked: what is now known of its minions becomes their verdict. */
  #giveUp(job: ActiveJob): string[] {
    const open = job.open();
    for (const id of open) job.missing(id, this.#parts.reasons.unfinished(job, id));
    return open;
  }
}

function later(ms: number, action: () => void): void {
  setTimeout(action, ms).unref();
}

/** What is stored in addition to the results: reasons, and for long jobs the reports of their minions. */
function recordOf(job: ActiveJob, id: string): VerdictRecord | undefined {
  const verdict = job.verdict(id);
  const base = { jid: job.jid, id, at: Date.now() };
  if (verdict && 'reason' in verdict && verdict.kind !== 'queued') {
    const { code, text, evidence } = verdict.reason;
    return {
      ...base,
      verdict: verdict.kind,
      reason: code,
      text,
      evidence: { ...evidence, ...milestoneTimes(job, id) },
    };
  }
  const evidence = milestoneTimes(job, id);
  if (!verdict || Object.keys(evidence).length === 0) return undefined;
  return { ...base, verdict: verdict.kind, reason: '', text: '', evidence };
}

/** The milestones as milliseconds, for the timeline, and who goes on with the job. */
export function milestoneTimes(job: ActiveJob, id: string): PlainDict {
  const times = reportedTimes(job, id);
  if (job.adopted) {
    const { by, from, at, why } = job.adopted;
    times['adoption'] = newDict(Object.entries({ by, at, text: `because ${from} ${why}` }));
  }
  return times;
}

function reportedTimes(job: ActiveJob, id: string): PlainDict {
  const { sent, accepted, started, confirmed, output } = job.milestones(id) ?? {};
  const times: Record<string, number | undefined> = { sent, accepted, started, confirmed, output: output?.at };
  const given = Object.entries(times).filter((entry): entry is [string, number] => entry[1] !== undefined);
  if (given.length === 0) return newDict();
  return newDict([['milestones', newDict(given)], ...(output ? [['last_output', output.text] as const] : [])]);
}
