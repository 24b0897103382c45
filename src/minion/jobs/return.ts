// Delivers results to masters, also across failures of the master.
import { setTimeout as sleep } from 'node:timers/promises';
import type { PlainDict } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { JobReturn } from '../../protocol/job/job-return.ts';
import { returnMessage } from '../../protocol/wire/messages/job-return.ts';
import type { Spool } from './spool.ts';

/** The destination of a return. */
export interface ReturnTarget {
  /** `host:port`; the same after a restart, so that spooled results find their master again. */
  readonly name: string;
  readonly ready: boolean;
  /** What is known about the master: a Halite master keeps the jid of a scheduled job, others assign their own. */
  readonly credentials?: { readonly halite?: boolean } | undefined;
  request(load: PlainDict, options: { timeoutMs: number; signal?: AbortSignal }): Promise<unknown>;
}

const soonMs = 1000;
const afterFailureMs = 30_000;

export class Returns {
  readonly #opts: MinionOpts;
  readonly #spool: Spool;
  readonly #log: Logger;
  readonly #signal: AbortSignal;
  readonly #draining = new Map<string, Promise<void>>();
  readonly #retrying = new Set<string>();

  constructor(opts: MinionOpts, spool: Spool, log: Logger, signal: AbortSignal) {
    this.#opts = opts;
    this.#spool = spool;
    this.#log = log;
    this.#signal = signal;
  }

  /**
   * Sends a return; when the master does not accept it, it is stored on disk. A master counts it once even if it gets
   * it twice.
   */
  async deliver(target: ReturnTarget, ret: JobReturn): Promise<void> {
    if (!this.#opts.pub_ret) return;
    const { jid } = ret;
    const tries = target.ready ? Math.max(1, this.#opts.return_retry_tries) : 0;
    for (let attempt = 1; attempt <= tries; attempt++) {
      try {
        await this.#send(target, ret);
        return;
      } catch (error) {
        this.#log.warn('a return was not accepted', { jid, master: target.name, attempt, error: messageOf(error) });
      }
      if (!target.ready || this.#signal.aborted || attempt === tries) break;
      await sleep(this.#retryMs(), undefined, { signal: this.#signal }).catch(() => undefined);
    }
    this.#log.warn('no master accepts the return: it waits in the spool', { jid, master: target.name });
    await this.#spool.add(target.name, ret);
    this.#tryLater(target, soonMs);
  }

  /** The master may have come back while the file was being written, or be merely slow: a timer tries again too. */
  #tryLater(target: ReturnTarget, delayMs: number): void {
    if (this.#retrying.has(target.name)) return;
    this.#retrying.add(target.name);
    const timer = setTimeout(() => {
      this.#retrying.delete(target.name);
      if (this.#signal.aborted) return;
      if (target.ready) void this.replay(target);
      else this.#tryLater(target, soonMs);
    }, delayMs);
    timer.unref();
  }

  /** Called when a master is reachable (again). */
  replay(target: ReturnTarget): Promise<void> {
    let running = this.#draining.get(target.name);
    if (!running) {
      running = this.#drain(target).finally(() => this.#draining.delete(target.name));
      this.#draining.set(target.name, running);
    }
    return running;
  }

  async #drain(target: ReturnTarget): Promise<void> {
    try {
      const count = await this.#spool.drain(target.name, (ret) => this.#send(target, ret));
      if (count > 0) this.#log.info('returns from the spool were delivered', { master: target.name, count });
    } catch (error) {
      this.#log.warn('returns stay in the spool', { master: target.name, error: messageOf(error) });
      this.#tryLater(target, afterFailureMs);
    }
  }

  async #send(target: ReturnTarget, ret: JobReturn): Promise<void> {
    const named = ret.schedule === undefined || target.credentials?.halite === true;
    const sent = named || ret.jid === 'nocache' ? ret : { ...ret, jid: 'req' };
    await target.request(returnMessage(sent), { timeoutMs: Math.max(5000, this.#retryMs()), signal: this.#signal });
  }

  /** Salt: a random time between return_retry_timer and return_retry_timer_max. */
  #retryMs(): number {
    const { return_retry_timer: low, return_retry_timer_max: high } = this.#opts;
    return (high > low ? low + Math.random() * (high - low) : low) * 1000;
  }
}
