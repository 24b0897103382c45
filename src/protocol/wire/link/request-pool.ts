// The request client behind every transport: queues, dials on demand, matches replies, enforces deadlines.
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import { backoff } from '../../../base/util/index.ts';
import type { RequestClient } from '../transport.ts';

/** One open connection. A transport without correlation ids has one request at a time (`capacity` 1). */
export interface Link {
  readonly capacity: number;
  /**
   * Sends; the reply arrives through `LinkEvents.onReply` with the same ticket. Throws when the connection is closed.
   */
  send(ticket: number, payload: Uint8Array): void;
  /** The reply is no longer needed. False when the link cannot be reused because of that. */
  forget(ticket: number): boolean;
  close(): void;
}

export interface LinkEvents {
  onReply(ticket: number, payload: Uint8Array): void;
  /** Called at most once, and never after `close()`. */
  onClosed(reason: string): void;
}

export interface PoolOptions {
  /** For messages: `tcp://master:4506`. */
  readonly target: string;
  readonly maxLinks: number;
  readonly idleMs?: number;
  /** Dials; must finish by itself in bounded time. `attempt` counts failed dials in a row. */
  readonly open: (events: LinkEvents, attempt: number) => Promise<Link>;
}

// Node fires longer timers immediately.
const maxTimerMs = 2 ** 31 - 1;
const maxTries = 3;

interface Job {
  readonly ticket: number;
  readonly payload: Uint8Array;
  readonly settle: (result: Uint8Array | HaliteError) => void;
  sentAt: number;
  tries: number;
}

interface Slot {
  link: Link;
  readonly jobs: Map<number, Job>;
  idleTimer: NodeJS.Timeout | undefined;
  lastHeard: number;
  gone: boolean;
}

export class RequestPool implements RequestClient {
  readonly #options: PoolOptions;
  readonly #waits = backoff({ base: 100, max: 5000 });
  readonly #waiting = new Map<number, Job>();
  readonly #slots: Slot[] = [];
  readonly #owners = new Map<number, Slot>();
  #dialing = 0;
  #attempt = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #lastFailure = '';
  #nextTicket = 1;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  request(payload: Uint8Array, options: { timeoutMs: number; signal?: AbortSignal }): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const { signal } = options;
      if (this.#closed) return reject(new HaliteError('wire.closed', 'The connection was closed by its owner'));
      if (signal?.aborted) return reject(new HaliteError('wire.closed', 'The request was cancelled'));
      const ticket = this.#nextTicket++;
      const onAbort = () => this.#giveUp(job, new HaliteError('wire.closed', 'The request was cancelled'));
      const timeoutMs = Math.min(options.timeoutMs, maxTimerMs);
      const timer = setTimeout(() => this.#giveUp(job, this.#timeout(timeoutMs)), timeoutMs);
      const job: Job = {
        ticket,
        payload,
        sentAt: 0,
        tries: 0,
        settle: (result) => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
          if (result instanceof HaliteError) reject(result);
          else resolve(result);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.set(ticket, job);
      this.#pump();
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#retryTimer);
    const error = () => new HaliteError('wire.closed', 'The connection was closed by its owner');
    for (const slot of new Set([...this.#slots, ...this.#owners.values()])) this.#drop(slot, error);
    for (const job of this.#waiting.values()) job.settle(error());
    this.#waiting.clear();
  }

  #timeout(ms: number): HaliteError {
    const unreached = this.#slots.length === 0;
    const why = unreached && this.#lastFailure ? `: ${this.#lastFailure}` : '';
    return new HaliteError('wire.timeout', `No answer from ${this.#options.target} in ${ms} ms${why}`, {
      hint: unreached ? 'Check that the master runs and that its ports can be reached from here.' : undefined,
    });
  }

  /**
   * Assigns waiting requests to free links, newest link first so that extra ones become idle, and dials for the rest.
   */
  #pump(): void {
    for (const job of this.#waiting.values()) {
      const slot = this.#slots.findLast((candidate) => candidate.jobs.size < candidate.link.capacity);
      if (!slot) break;
      this.#waiting.delete(job.ticket);
      this.#give(slot, job);
    }
    while (this.#mayDial()) this.#dial();
  }

  #mayDial(): boolean {
    if (this.#closed || this.#retryTimer || this.#waiting.size <= this.#dialing) return false;
    // While nothing answers, one dial at a time is enough to notice when that changes.
    const limit = this.#attempt > 0 ? 1 : this.#options.maxLinks - this.#slots.length;
    return this.#dialing < limit;
  }

  #give(slot: Slot, job: Job): void {
    clearTimeout(slot.idleTimer);
    slot.idleTimer = undefined;
    slot.jobs.set(job.ticket, job);
    this.#owners.set(job.ticket, slot);
    job.sentAt = performance.now();
    try {
      slot.link.send(job.ticket, job.payload);
    } catch (thrown) {
      // It was never sent, so another connection may send it.
      this.#leave(slot, job);
      job.tries += 1;
      if (job.tries >= maxTries) job.settle(this.#lost(messageOf(thrown)));
      else this.#waiting.set(job.ticket, job);
      this.#drop(slot, () => this.#lost(messageOf(thrown)));
    }
  }

  #lost(reason: string): HaliteError {
    return new HaliteError('wire.closed', `The connection to ${this.#options.target} was lost: ${reason}`);
  }

  #dial(): void {
    this.#dialing += 1;
    let slot: Slot | undefined;
    let early: string | undefined;
    const events: LinkEvents = {
      onReply: (ticket, payload) => this.#reply(ticket, payload),
      onClosed: (reason) => {
        if (slot) this.#drop(slot, () => this.#lost(reason));
        else early = reason;
      },
    };
    this.#options.open(events, this.#attempt).then(
      (link) => {
        this.#dialing -= 1;
        if (this.#closed) return link.close();
        if (early !== undefined) return this.#dialFailed(early);
        this.#attempt = 0;
        this.#waits.reset();
        slot = { link, jobs: new Map(), idleTimer: undefined, lastHeard: performance.now(), gone: false };
        this.#slots.push(slot);
        this.#rest(slot);
        this.#pump();
      },
      (thrown: unknown) => {
        this.#dialing -= 1;
        if (!this.#closed) this.#dialFailed(messageOf(thrown));
      },
    );
  }

  #dialFailed(reason: string): void {
    this.#lastFailure = reason;
    this.#attempt += 1;
    if (this.#retryTimer || this.#waiting.size === 0) return;
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = undefined;
      this.#pump();
    }, this.#waits.next());
  }

  #reply(ticket: number, payload: Uint8Array): void {
    const slot = this.#owners.get(ticket);
    const job = slot?.jobs.get(ticket);
    if (!slot || !job) return;
    slot.lastHeard = performance.now();
    this.#leave(slot, job);
    job.settle(payload);
    this.#rest(slot);
    this.#pump();
  }

  #leave(slot: Slot, job: Job): void {
    slot.jobs.delete(job.ticket);
    this.#owners.delete(job.ticket);
  }

  /**
   * Deadline or cancellation. A link that was silent since the request was sent may be half open: nothing more is sent
   * on it.
   */
  #giveUp(job: Job, error: HaliteError): void {
    this.#waiting.delete(job.ticket);
    const slot = this.#owners.get(job.ticket);
    if (slot) {
      this.#leave(slot, job);
      const silent = error.code === 'wire.timeout' && slot.lastHeard <= job.sentAt;
      if (!slot.link.forget(job.ticket) || silent) this.#remove(slot);
      this.#rest(slot);
    }
    job.settle(error);
    this.#pump();
  }

  /** A link without requests is closed after a while, and immediately when it is no longer usable. */
  #rest(slot: Slot): void {
    if (slot.jobs.size > 0 || slot.gone) return;
    if (!this.#slots.includes(slot)) {
      this.#drop(slot, () => this.#lost('it went silent'));
      return;
    }
    clearTimeout(slot.idleTimer);
    slot.idleTimer = setTimeout(() => this.#drop(slot, () => this.#lost('idle')), this.#options.idleMs ?? 30_000);
    slot.idleTimer.unref();
  }

  #remove(slot: Slot): void {
    const index = this.#slots.indexOf(slot);
    if (index >= 0) this.#slots.splice(index, 1);
  }

  #drop(slot: Slot, error: () => HaliteError): void {
    if (slot.gone) return;
    slot.gone = true;
    clearTimeout(slot.idleTimer);
    this.#remove(slot);
    slot.link.close();
    for (const job of [...slot.jobs.values()]) {
      this.#leave(slot, job);
      job.settle(error());
    }
    if (!this.#closed) this.#pump();
  }
}
