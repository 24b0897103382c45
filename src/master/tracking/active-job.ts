// One tracked job: the verdict of every expected minion, and its listeners.
import { asText } from '../../base/codec/value.ts';
import { exitCode, isFailure, type JobReturn } from '../../protocol/job/job-return.ts';
import { type Balance, balanceOf, isFinal, type Reason, type Verdict } from '../../protocol/job/verdict.ts';

export type JobUpdate =
  | { readonly type: 'return'; readonly id: string; readonly ret: JobReturn }
  | { readonly type: 'missing'; readonly id: string; readonly reason: Reason }
  | { readonly type: 'progress'; readonly id: string; readonly text: string }
  | { readonly type: 'queued'; readonly id: string; readonly until: number; readonly reason: Reason }
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

export class ActiveJob {
  readonly jid: string;
  readonly fun: string;
  readonly started = Date.now();
  readonly waiting: Waiting;
  /** The user of the job: no other user may add minions to it. */
  readonly user: string;
  /** For the part that stores the job; waiting callers use listeners. */
  onEnd: (() => void) | undefined;
  readonly #verdicts = new Map<string, Verdict>();
  readonly #milestones = new Map<string, JobMilestones>();
  readonly #answered = new Set<string>();
  /** Minions that could not be evaluated: their result counts, their silence is "not evaluated". */
  readonly #unevaluated: Set<string>;
  /** Expected, but the job was not sent to them yet (batches). */
  readonly #held = new Set<string>();
  readonly #listeners = new Set<JobListener>();
  #open = 0;
  #ended = false;

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
    for (const id of [...expected, ...unevaluated]) this.#verdicts.set(id, { kind: 'waiting' });
    this.#open = this.#verdicts.size;
  }

  get ended(): boolean {
    return this.#ended;
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
    return this.#answered.has(id);
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
      this.#verdicts.set(id, { kind: 'waiting' });
      this.#open++;
      this.#ended = false;
    }
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
    this.#answered.add(id);
    this.#set(id, returnVerdict(ret));
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
    if (before && !isFinal(before) && isFinal(verdict)) this.#open--;
    this.#verdicts.set(id, verdict);
  }

  #finish(): void {
    if (this.#ended || this.#open > 0) return;
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
  return { kind: isFailure(ret) ? 'failed' : 'returned', retcode: exitCode(ret) };
}
