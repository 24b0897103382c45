// One job while somebody or something still cares: the verdict of every expected minion, and who listens.
import type { PlainDict } from '../base/codec/value.ts';
import { type Balance, balanceOf, isFinal, type Reason, type Verdict } from '../protocol/job/verdict.ts';

export type JobUpdate =
  | { readonly type: 'return'; readonly id: string; readonly load: PlainDict }
  | { readonly type: 'missing'; readonly id: string; readonly reason: Reason }
  | { readonly type: 'progress'; readonly id: string; readonly text: string }
  | { readonly type: 'queued'; readonly id: string; readonly until: number; readonly reason: Reason }
  | { readonly type: 'end'; readonly balance: Balance };

export type JobListener = (update: JobUpdate) => void;

export interface Waiting {
  readonly timeoutMs: number;
  readonly gatherMs: number;
}

export class ActiveJob {
  readonly jid: string;
  readonly fun: string;
  readonly started = Date.now();
  readonly waiting: Waiting;
  readonly #verdicts = new Map<string, Verdict>();
  /** Matched by nobody's knowledge: their answer counts, their silence is "not evaluated". */
  readonly #unevaluated: Set<string>;
  readonly #listeners = new Set<JobListener>();
  #open = 0;
  #ended = false;

  constructor(jid: string, fun: string, expected: readonly string[], unevaluated: readonly string[], waiting: Waiting) {
    this.jid = jid;
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
  get watched(): boolean {
    return this.#listeners.size > 0;
  }
  verdict(id: string): Verdict | undefined {
    return this.#verdicts.get(id);
  }
  verdicts(): ReadonlyMap<string, Verdict> {
    return this.#verdicts;
  }
  isUnevaluated(id: string): boolean {
    return this.#unevaluated.has(id);
  }
  balance(): Balance {
    return balanceOf(this.#verdicts.values());
  }

  /** Minions whose fate is still open. */
  open(): string[] {
    const ids: string[] = [];
    for (const [id, verdict] of this.#verdicts) if (!isFinal(verdict)) ids.push(id);
    return ids;
  }

  listen(listener: JobListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A result; also from minions nobody expected, and after the wait has ended: late is better than lost. */
  returned(id: string, load: PlainDict): void {
    const retcode = typeof load['retcode'] === 'number' ? load['retcode'] : 0;
    this.#set(
      id,
      load['success'] === false || retcode !== 0 ? { kind: 'failed', retcode } : { kind: 'returned', retcode },
    );
    this.#tell({ type: 'return', id, load });
    this.#finish();
  }

  running(id: string, text: string): void {
    const before = this.#verdicts.get(id);
    if (!before || isFinal(before)) return;
    const since = before.kind === 'running' ? before.since : Date.now();
    this.#verdicts.set(id, { kind: 'running', since, text: text || (before.kind === 'running' ? before.text : '') });
    if (text) this.#tell({ type: 'progress', id, text });
  }

  missing(id: string, reason: Reason): void {
    const before = this.#verdicts.get(id);
    if (!before || isFinal(before)) return;
    this.#set(id, { kind: 'missing', reason });
    this.#tell({ type: 'missing', id, reason });
    this.#finish();
  }

  /** The job is kept for a minion that is away; whoever waits need not wait for that one. */
  queued(id: string, until: number, reason: Reason): void {
    const before = this.#verdicts.get(id);
    if (!before || isFinal(before)) return;
    this.#set(id, { kind: 'queued', until });
    this.#tell({ type: 'queued', id, until, reason });
    this.#finish();
  }

  /** A kept job ran out of time. */
  expired(id: string, reason: Reason): void {
    if (this.#verdicts.get(id)?.kind === 'queued') this.#verdicts.set(id, { kind: 'missing', reason });
  }

  /** Ends at once when nothing was expected. */
  start(): void {
    this.#finish();
  }

  #set(id: string, verdict: Verdict): void {
    const before = this.#verdicts.get(id);
    if (before && !isFinal(before) && isFinal(verdict)) this.#open--;
    this.#verdicts.set(id, verdict);
  }

  #finish(): void {
    if (this.#ended || this.#open > 0) return;
    this.#ended = true;
    this.#tell({ type: 'end', balance: this.balance() });
  }

  #tell(update: JobUpdate): void {
    for (const listener of this.#listeners) listener(update);
  }
}
