// One tracked job: the verdict of every expected minion, and its listeners.
import { asText } from '../../base/codec/value.ts';
import { exitCode, isFailure, type JobReturn } from '../../protocol/job/job-return.ts';
import { type Balance, balanceOf, isFinal, type Reason, type Verdict } from '../../protocol/job/verdict.ts';

export type JobUpdate =
  | { readonly type: 'return'; readonly id: string; readonly ret: JobReturn }
  | { readonly type: 'missing'; readonly id: string; readonly reason: Reason }
  | { readonly type: 'progress'; readonly id: string; readonly text: string }
  | { readonly type: 'queued'; readonly id: string; readonly until: number; readonly reason: Reason }
  /** Minions that became known after the job was sent: those of lower masters. None when these are all. */
  | { readonly type: 'more'; readonly minions: readonly string[] }
  | { readonly type: 'end'; readonly balance: Balance };

export type JobListener = (update: JobUpdate) => void;

export interface Waiting {
  readonly timeoutMs: number;
  readonly gatherMs: number;
}

/** What a minion reported about the job before its result, and when; times in milliseconds. */
export interface JobMilestones {
  sent?: number;
  accepted?: number;
  started?: number;
  /** Answered find_job with "it is running". */
  confirmed?: number;
  output?: { readonly at: number; readonly text: string };
  /** The minion was restarted since: its earlier reports may no longer apply. */
  doubted?: boolean;
}
/** The content of a life-cycle message; times in milliseconds. */
export interface LifecycleReport {
  readonly text: string;
  readonly accepted?: number | undefined;
  readonly started?: number | undefined;
}
export type Phase = 'accepted' | 'started' | 'progress' | 'confirmed';

/** This master goes on with a job of another one, which is gone, or gave it away before its own end. */
export interface Adopted {
  readonly by: string;
  readonly from: string;
  readonly at: number;
  readonly why: 'is gone' | 'gave it away';
}

// Most minions of all jobs have one of these two: one object for all of them.
const notYet: Verdict = { kind: 'waiting' };
const succeeded: Verdict = { kind: 'returned', retcode: 0 };

export class ActiveJob {
  readonly jid: string;
  readonly fun: string;
  readonly started = Date.now();
  readonly waiting: Waiting;
  /** The user of the job: no other user may add minions to it. */
  readonly user: string;
  /** Asked by a higher master: further minions may follow under the same jid. */
  fromAbove = false;
  /** For the part that stores the job; waiting callers use listeners. */
  onEnd: (() => void) | undefined;
  /** Called with the first verdict of each minion on which nothing more is expected. */
  onVerdict: ((verdict: Verdict) => void) | undefined;
  /** Another master followed it before. */
  adopted: Adopted | undefined;
  readonly #verdicts = new Map<string, Verdict>();
  readonly #milestones = new Map<string, JobMilestones>();
  /** Those whose result is not their verdict. */
  readonly #answered = new Set<string>();
  /** Minions that could not be evaluated: their result counts, their silence is "not evaluated". */
  readonly #unevaluated: Set<string>;
  /** Expected, but the job was not sent to them yet (batches). */
  readonly #held = new Set<string>();
  readonly #listeners = new Set<JobListener>();
  #open = 0;
  #ended = false;
  /** How many parts may still add minions. */
  #growing = 0;

  constructor(
    jid: string,
    fun: string,
    expected: readonly string[],
    unevaluated: readonly string[],
    waiting: Waiting,
    user = 'root',
  ) {
    this.jid = jid;
    this.user = user;
    this.fun = fun;
    this.waiting = waiting;
    this.#unevaluated = new Set(unevaluated);
    for (const id of [...expected, ...unevaluated]) this.#verdicts.set(id, notYet);
    this.#open = this.#verdicts.size;
  }

  get ended(): boolean {
    return this.#ended;
  }
  /** Whether minions may still be added. */
  get growing(): boolean {
    return this.#growing > 0;
  }
  get size(): number {
    return this.#verdicts.size;
  }
  /** Whether a caller waits for it. */
  get watched(): boolean {
    return this.#listeners.size > 0;
  }
  verdict(id: string): Verdict | undefined {
    return this.#verdicts.get(id);
  }
  verdicts(): ReadonlyMap<string, Verdict> {
    return this.#verdicts;
  }
  milestones(id: string): Readonly<JobMilestones> | undefined {
    return this.#milestones.get(id);
  }
  hasReturned(id: string): boolean {
    const kind = this.#verdicts.get(id)?.kind;
    return kind === 'returned' || kind === 'failed' || this.#answered.has(id);
  }
  isUnevaluated(id: string): boolean {
    return this.#unevaluated.has(id);
  }
  balance(): Balance {
    return balanceOf(this.#verdicts.values());
  }

  /** Minions that were sent the job and have no verdict yet. */
  open(): string[] {
    return [...this.#verdicts.keys()].filter((id) => this.isOpen(id));
  }
  isOpen(id: string): boolean {
    const verdict = this.#verdicts.get(id);
    return verdict !== undefined && !isFinal(verdict) && !this.#held.has(id);
  }

  /** More minions get the same job: Salt's own batches publish one jid in several steps. */
  expect(ids: readonly string[], unevaluated: readonly string[]): void {
    for (const id of unevaluated) this.#unevaluated.add(id);
    for (const id of [...ids, ...unevaluated]) {
      if (this.#verdicts.has(id)) continue;
      this.#verdicts.set(id, notYet);
      this.#open++;
      this.#ended = false;
    }
  }

  /** Minions may be added until the returned function is called: the job does not end before. */
  grow(): () => void {
    this.#growing++;
    let over = false;
    return () => {
      if (over) return;
      over = true;
      this.#growing--;
      // All are known now: a master above this one waits for that.
      if (this.#growing === 0) this.#tell({ type: 'more', minions: [] });
      this.#finish();
    };
  }

  /** Minions that a lower master has: new ones, and those that were asked for by name. */
  add(ids: readonly string[]): void {
    if (ids.length === 0) return;
    this.expect(ids, []);
    this.#tell({ type: 'more', minions: ids });
  }

  /** These do not have the job yet: they are not asked about it. */
  hold(ids: readonly string[]): void {
    for (const id of ids) this.#held.add(id);
  }
  held(): string[] {
    return [...this.#held];
  }
  release(ids: readonly string[]): void {
    for (const id of ids) {
      this.#held.delete(id);
      this.#milestonesOf(id).sent = Date.now();
    }
  }

  listen(listener: JobListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A result; also from unexpected minions, and after the wait has ended: late is better than lost. */
  returned(ret: JobReturn): void {
    const { id } = ret;
    const verdict = returnVerdict(ret);
    if (verdict.kind === 'deadline') this.#answered.add(id);
    this.#set(id, verdict);
    this.#tell({ type: 'return', id, ret });
    this.#finish();
  }

  /** A sign that the minion is working on it. */
  running(id: string, phase: Phase, { text, ...report }: LifecycleReport = { text: '' }): void {
    const before = this.#verdicts.get(id);
    if (!before || isFinal(before)) return;
    const reached = this.#milestonesOf(id);
    const now = Date.now();
    if (phase === 'confirmed') reached.confirmed = now;
    else {
      reached.accepted ??= report.accepted ?? now;
      if (phase !== 'accepted') reached.started ??= report.started ?? now;
      reached.doubted = false;
    }
    if (text && phase === 'progress') reached.output = { at: now, text };
    const since = before.kind === 'running' ? before.since : (reached.started ?? reached.accepted ?? now);
    this.#verdicts.set(id, { kind: 'running', since, text: text || (before.kind === 'running' ? before.text : '') });
    if (text) this.#tell({ type: 'progress', id, text });
  }

  /** Its minion is now another process and does not report about this job by itself. */
  doubt(id: string): void {
    this.#milestonesOf(id).doubted = true;
  }

  missing(id: string, reason: Reason): void {
    this.#settle(id, { kind: reason.code === 'deadline' ? 'deadline' : 'missing', reason }, reason);
  }

  /** The job is kept for a disconnected minion; callers need not wait for it. */
  queued(id: string, until: number, reason: Reason): void {
    const before = this.#verdicts.get(id);
    if (!before || isFinal(before)) return;
    this.#set(id, { kind: 'queued', until, reason });
    this.#tell({ type: 'queued', id, until, reason });
    this.#finish();
  }

  /** A kept job expired or was cancelled. */
  expired(id: string, reason: Reason): void {
    if (this.#verdicts.get(id)?.kind === 'queued') this.#verdicts.set(id, { kind: 'expired', reason });
  }

  /** Ends immediately when nothing was expected. */
  start(): void {
    this.#finish();
  }

  #settle(id: string, verdict: Verdict, reason: Reason): void {
    const before = this.#verdicts.get(id);
    if (!before || isFinal(before)) return;
    this.#held.delete(id);
    this.#set(id, verdict);
    this.#tell({ type: 'missing', id, reason });
    this.#finish();
  }

  #milestonesOf(id: string): JobMilestones {
    let reached = this.#milestones.get(id);
    if (!reached) {
      reached = {};
      this.#milestones.set(id, reached);
    }
    return reached;
  }

  #set(id: string, verdict: Verdict): void {
    const before = this.#verdicts.get(id);
    if (before && !isFinal(before) && isFinal(verdict)) {
      this.#open--;
      this.onVerdict?.(verdict);
    }
    this.#verdicts.set(id, verdict);
  }

  #finish(): void {
    if (this.#ended || this.#open > 0 || this.#growing > 0) return;
    this.#ended = true;
    this.onEnd?.();
    this.#tell({ type: 'end', balance: this.balance() });
  }

  #tell(update: JobUpdate): void {
    for (const listener of this.#listeners) listener(update);
  }
}

function returnVerdict(ret: JobReturn): Verdict {
  if (ret.ended === 'deadline') {
    const text = asText(ret.return) ?? '';
    return { kind: 'deadline', reason: { code: 'deadline', text, evidence: { killed_by_minion: true } } };
  }
  const retcode = exitCode(ret);
  if (isFailure(ret)) return { kind: 'failed', retcode };
  return retcode === 0 ? succeeded : { kind: 'returned', retcode };
}
