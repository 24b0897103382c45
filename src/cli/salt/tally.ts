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
  readonly returned: string[] = [];
  readonly failed: string[] = [];
  readonly notConnected: string[] = [];
  readonly silent: string[] = [];
  readonly queued: string[] = [];
  /** Ended by --deadline, whether the minion reported it or not. */
  readonly late: string[] = [];
  worst = 0;
  batch = false;
  /** The answer of a minion for an unknown function. */
  unknown = '';
  /** Minions without an answer so far, with the last output of running ones. */
  readonly #open = new Map<string, string>();

  add(item: JobItem): void {
    switch (item.type) {
      case 'job':
        this.targeted = item.minions.length + item.missing.length;
        if (item.jid) this.jid = item.jid;
        for (const id of item.minions) this.#open.set(id, '');
        break;
      case 'progress':
        if (this.#open.has(item.id)) this.#open.set(item.id, item.text);
        break;
      case 'batch':
        this.batch = true;
        break;
      case 'return':
        this.returned.push(item.id);
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
        this.#open.delete(item.id);
        break;
      case 'queued':
        this.queued.push(item.id);
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
