// The outcome of every minion of a job, as seen by the command.
import type { JobItem } from '../../engine/client/api.ts';
import { notThere } from '../suggest.ts';

export type ReturnItem = Extract<JobItem, { type: 'return' }>;
export type MissingItem = Extract<JobItem, { type: 'missing' }>;
export type QueuedItem = Extract<JobItem, { type: 'queued' }>;

/** Counts for exit code and summary. */
export class Tally {
  targeted = 0;
  jid = '';
  /** The master said that the job is sent. */
  sent = false;
  readonly returned: string[] = [];
  readonly failed: string[] = [];
  readonly notConnected: string[] = [];
  readonly silent: string[] = [];
  readonly queued: string[] = [];
  /** Ended by --deadline, whether the minion reported it or not. */
  readonly late: string[] = [];
  worst = 0;
  batch = false;
  /** Other masters of the cluster, when the job began. */
  others: readonly string[] = [];
  /** The answer of a minion for an unknown function. */
  unknown = '';
  /** Those of a batch to which the job was sent. */
  readonly #sent = new Set<string>();
  /** Minions whose outcome was shown: `true` for a result. */
  readonly #shown = new Map<string, boolean>();
  /** Minions without an answer so far, with the last output of running ones. */
  readonly #open = new Map<string, string>();

  add(item: JobItem): void {
    switch (item.type) {
      case 'sending':
        this.jid = item.jid;
        this.others = item.others;
        break;
      case 'job':
        this.sent = true;
        this.targeted = item.minions.length + item.missing.length;
        if (item.jid) this.jid = item.jid;
        if (item.others) this.others = item.others;
        for (const id of [...item.minions, ...item.missing]) this.#open.set(id, '');
        break;
      case 'more':
        for (const id of item.minions) {
          if (this.#open.has(id) || this.#shown.has(id)) continue;
          this.targeted++;
          this.#open.set(id, '');
        }
        break;
      case 'progress':
        if (this.#open.has(item.id)) this.#open.set(item.id, item.text);
        break;
      case 'batch':
        this.batch = true;
        for (const id of item.minions) this.#sent.add(id);
        break;
      case 'return':
        this.returned.push(item.id);
        this.#shown.set(item.id, true);
        if (item.jid) this.jid = item.jid;
        if (item.retcode !== 0) this.failed.push(item.id);
        if (typeof item.ret === 'string' && item.ret.endsWith(notThere)) this.unknown = item.ret;
        if (item.ended === 'deadline') this.late.push(item.id);
        this.worst = Math.max(this.worst, item.retcode);
        this.#open.delete(item.id);
        break;
      case 'missing':
        (item.connected ? this.silent : this.notConnected).push(item.id);
        if (item.reason.code === 'deadline') this.late.push(item.id);
        this.#shown.set(item.id, false);
        this.#open.delete(item.id);
        break;
      case 'queued':
        this.queued.push(item.id);
        this.#shown.set(item.id, false);
        this.#open.delete(item.id);
        break;
      default:
        break;
    }
  }

  /** Minions whose answer is still missing, and their last output. */
  open(): [string, string][] {
    return [...this.#open];
  }

  /** Of a batch: those that the job was not sent to yet. */
  unsent(): string[] {
    return this.batch ? [...this.#open.keys()].filter((id) => !this.#sent.has(id)) : [];
  }

  /** Whether an item that comes again says nothing new. */
  knows(item: JobItem): boolean {
    if (item.type === 'return') return this.#shown.get(item.id) === true;
    if (item.type === 'missing' || item.type === 'queued') return this.#shown.has(item.id);
    if (item.type === 'job') return this.sent;
    return item.type === 'sending' || item.type === 'batch' || item.type === 'more';
  }

  get missing(): number {
    return this.silent.length + this.notConnected.length;
  }

  /** Whether nothing was returned about any minion. */
  get empty(): boolean {
    return this.returned.length + this.missing + this.queued.length === 0;
  }

  /** False when some minion failed or did not answer; `require` accepts a share or number of successes. */
  satisfied(require: string): boolean {
    if (require === '') return this.failed.length === 0 && this.missing === 0;
    const good = this.returned.length - this.failed.length;
    const total = Math.max(this.targeted, this.returned.length + this.missing + this.queued.length);
    const match = /^(\d+(?:\.\d+)?)%$/.exec(require);
    const needed = match ? (Number(match[1]) / 100) * total : Number(require);
    return good >= needed - 1e-9;
  }
}
