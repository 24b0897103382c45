// Batches on the master: never more than the batch size at a time, every minion counted exactly once.
import { newDict } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { AsyncQueue } from '../../base/util/async-queue.ts';
import type { JobItem } from '../../engine/client/api.ts';
import type { AskedJob } from '../../protocol/job/job.ts';
import { isFailure } from '../../protocol/job/job-return.ts';
import { isFinal } from '../../protocol/job/verdict.ts';
import type { JobUpdate } from '../tracking/active-job.ts';
import { reason } from '../tracking/reasons.ts';
import { announced, itemOf, jobItem, type StreamParts } from './job-stream.ts';
import { type PreparedBatch, type PublishParts, prepareBatch } from './publish.ts';

export interface BatchParts extends PublishParts, StreamParts {
  readonly log: Pick<Logger, 'info' | 'error' | 'limited'>;
}

export interface BatchOptions {
  /** A number, or a percentage of the matched minions. */
  readonly size: string;
  /** How long a slot stays empty after its minion has finished. */
  readonly waitSeconds: number;
  readonly failhard: boolean;
  readonly announce?: boolean;
}

export function batchSize(text: string, total: number): number {
  const match = /^(\d{1,9}(?:\.\d{1,9})?)\s{0,8}(%?)$/.exec(text.trim());
  const given = Number(match?.[1]);
  if (!match || !(given > 0)) {
    throw new HaliteError('cli.usage', `Invalid batch size '${text.slice(0, 40)}'`, {
      hint: 'Give a number of minions (10) or a percentage (25%).',
    });
  }
  if (!match[2]) return Math.floor(given) || 1;
  const share = (given / 100) * total;
  // Salt: less than one minion rounds up, everything else down.
  return share < 1 ? 1 : Math.floor(share);
}

/** Starts the batch, which continues without listeners, and yields its items until its end or until `signal`. */
export async function* runBatch(
  parts: BatchParts,
  request: AskedJob,
  options: BatchOptions,
  signal: AbortSignal,
): AsyncIterable<JobItem> {
  batchSize(options.size, 1);
  const items = new AsyncQueue<JobItem>();
  const job = prepareBatch(parts, request);
  const run = new BatchRun(parts, job, options, (item) => items.push(item));
  const aborted = (): void => void items.return();
  signal.addEventListener('abort', aborted, { once: true });
  try {
    yield* announced(parts, job.jid, run.begin(), options.announce === true);
    if (signal.aborted) return;
    for await (const item of items) {
      yield item;
      if (item.type === 'end' || signal.aborted) break;
    }
  } finally {
    signal.removeEventListener('abort', aborted);
    run.mute();
  }
}

class BatchRun {
  readonly #parts: BatchParts;
  readonly #job: PreparedBatch;
  readonly #options: BatchOptions;
  #emit: (item: JobItem) => void;
  #waiting: string[] = [];
  readonly #busy = new Set<string>();
  #size = 1;
  #free = 0;
  #stopped = false;

  constructor(parts: BatchParts, job: PreparedBatch, options: BatchOptions, emit: (item: JobItem) => void) {
    this.#parts = parts;
    this.#job = job;
    this.#options = options;
    this.#emit = emit;
  }

  /** Nobody listens any more: the batch continues, the results are in the job store. */
  mute(): void {
    this.#emit = () => {};
  }

  async begin(): Promise<void> {
    const { jid, minions, active } = this.#job;
    this.#emit(jobItem(this.#parts, this.#job));
    active.listen((update) => this.#take(update));
    this.#waiting = await this.#job.begin();
    this.#size = batchSize(this.#options.size, this.#waiting.length || 1);
    this.#free = this.#size;
    this.#parts.log.info('batch started', { jid, minions: minions.length, size: this.#size });
    this.#fill();
  }

  /** Sends the job to as many minions as there are free slots. */
  #fill(): void {
    // Some may have been cancelled while they waited.
    const held = new Set(this.#job.active.held());
    this.#waiting = this.#waiting.filter((id) => held.has(id));
    const wave = this.#waiting.splice(0, this.#free);
    if (wave.length === 0) return;
    this.#free -= wave.length;
    for (const id of wave) this.#busy.add(id);
    this.#emit({ type: 'batch', minions: wave });
    this.#job.sendTo(wave).catch((error: unknown) => {
      this.#parts.log.error('a batch could not be sent', { jid: this.#job.jid, error: messageOf(error) });
    });
  }

  #take(update: JobUpdate): void {
    if (update.type === 'end') {
      this.#emit({ type: 'end', balance: newDict(Object.entries(update.balance)) });
      return;
    }
    this.#emit(itemOf(this.#parts, update));
    if (update.type === 'progress' || update.type === 'more') return;
    const failed = update.type === 'return' && isFailure(update.ret);
    if (failed && this.#options.failhard) this.#stop();
    if (this.#busy.delete(update.id)) this.#freeSlot();
  }

  #freeSlot(): void {
    const free = (): void => {
      this.#free++;
      if (!this.#stopped) this.#fill();
    };
    if (this.#options.waitSeconds <= 0) free();
    else setTimeout(free, this.#options.waitSeconds * 1000);
  }

  /** --failhard: waiting minions are not sent the job; running ones are awaited. */
  #stop(): void {
    this.#stopped = true;
    const { active } = this.#job;
    for (const id of this.#waiting.splice(0)) {
      const verdict = active.verdict(id);
      if (verdict && !isFinal(verdict)) active.missing(id, reason('failhard', newDict()));
    }
  }
}
