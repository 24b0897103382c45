// The request connections of a process: each has one request at a time, as that of a minion has; the others wait in line.
import { backoff } from '../base/util/backoff.ts';
import type { Counters } from './counters.ts';
import { Line } from './line.ts';
import type { RequestWire, WireEvents } from './wire/types.ts';

export interface Ask {
  /** Called for each try, when a connection is free: what is sent is sealed as late as possible. */
  make(): Uint8Array;
  /** The reply and the milliseconds since its request was sent, or why there is none. */
  done(reply: Buffer | undefined, ms: number, why: string): void;
  /** When it is given up although it was never sent, on the clock of `performance`. */
  readonly until?: number;
  /** Every other connection that gets free is for one of these: as if their minions had connections of their own. */
  readonly urgent?: boolean;
}

interface Waiting {
  readonly ask: Ask;
  tries: number;
}

export interface RequestsOptions {
  readonly open: (events: WireEvents) => RequestWire;
  readonly connections: number;
  readonly timeoutMs: number;
  readonly tries: number;
  readonly counters: Counters;
}

/** More than this in line would be a fleet that asks for more than any master ever answers. */
const mostWaiting = 1_000_000;
const sweepMs = 500;

class Lane {
  readonly #pool: Requests;
  readonly #waits = backoff({ base: 100, max: 5000 });
  #wire: RequestWire | undefined;
  #ready = false;
  #current: Waiting | undefined;
  #sentAt = 0;
  #redial: NodeJS.Timeout | undefined;

  constructor(pool: Requests) {
    this.#pool = pool;
  }

  get free(): boolean {
    return this.#ready && this.#current === undefined;
  }

  get busy(): boolean {
    return this.#current !== undefined;
  }

  dial(): void {
    this.#redial = undefined;
    this.#wire = this.#pool.options.open({
      ready: () => {
        this.#ready = true;
        this.#pool.opened(this);
      },
      message: (payload) => this.#reply(payload),
      ended: (reason) => this.#end(reason),
    });
  }

  send(waiting: Waiting): void {
    this.#current = waiting;
    waiting.tries += 1;
    this.#sentAt = performance.now();
    this.#wire?.send(waiting.ask.make());
  }

  #reply(payload: Buffer): void {
    const waiting = this.#current;
    if (!waiting) throw new Error('the master sent a reply without a request');
    this.#current = undefined;
    this.#waits.reset();
    waiting.ask.done(payload, performance.now() - this.#sentAt, '');
    this.#pool.freed(this);
  }

  /** An answer that comes later would be taken for that of the next request: the connection ends with its request. */
  check(now: number): void {
    if (!this.#current || now - this.#sentAt < this.#pool.options.timeoutMs) return;
    this.#pool.options.counters.add('timeouts');
    this.drop('no answer in time');
  }

  drop(reason: string): void {
    this.#wire?.close();
    if (this.#wire) this.#end(reason);
  }

  #end(reason: string): void {
    const wasReady = this.#ready;
    const waiting = this.#current;
    this.#wire = undefined;
    this.#ready = false;
    this.#current = undefined;
    if (wasReady) this.#pool.reopens();
    else this.#pool.failed(reason);
    if (waiting) this.#pool.again(waiting, reason);
    if (this.#pool.closed || this.#redial) return;
    // Soon when it has answered before; a master that does not answer is not flooded with connections.
    this.#redial = setTimeout(() => this.#again(), this.#waits.next());
  }

  #again(): void {
    this.#redial = undefined;
    if (this.#pool.closed) return;
    if (this.#pool.waiting > 0) this.dial();
    else this.#pool.unneeded(this);
  }

  close(): void {
    clearTimeout(this.#redial);
    this.#redial = undefined;
    this.#wire?.close();
    this.#wire = undefined;
    this.#ready = false;
  }
}

export class Requests {
  readonly options: RequestsOptions;
  readonly #lanes: Lane[];
  readonly #free: Lane[] = [];
  /** Not connected, and not about to be. */
  readonly #unused: Lane[];
  /** About to be connected. */
  #opening = 0;
  readonly #line = new Line<Waiting>();
  readonly #urgent = new Line<Waiting>();
  #urgentNext = true;
  #lastFailure = '';
  readonly #sweep: NodeJS.Timeout;
  closed = false;

  constructor(options: RequestsOptions) {
    this.options = options;
    this.#lanes = Array.from({ length: options.connections }, () => new Lane(this));
    this.#unused = [...this.#lanes];
    this.#sweep = setInterval(() => this.#check(), sweepMs);
  }

  get waiting(): number {
    return this.#line.length + this.#urgent.length;
  }

  get inFlight(): number {
    return this.#lanes.reduce((sum, lane) => sum + (lane.busy ? 1 : 0), 0);
  }

  ask(ask: Ask): void {
    if (this.closed) {
      ask.done(undefined, 0, 'the fleet was stopped');
      return;
    }
    if (this.waiting >= mostWaiting) {
      ask.done(undefined, 0, 'too many requests wait already');
      return;
    }
    const line = ask.urgent ? this.#urgent : this.#line;
    line.push({ ask, tries: 0 });
    this.#pump();
  }

  /** Called by a lane that may send. */
  freed(lane: Lane): void {
    if (this.closed) {
      lane.close();
      return;
    }
    this.#free.push(lane);
    this.#pump();
  }

  opened(lane: Lane): void {
    this.#opening -= 1;
    this.freed(lane);
  }

  /** One that was connected is dialled again. */
  reopens(): void {
    this.#opening += 1;
  }

  unneeded(lane: Lane): void {
    this.#opening -= 1;
    this.#unused.push(lane);
  }

  failed(reason: string): void {
    if (this.#lastFailure !== reason) this.options.counters.because(`request port: ${reason}`);
    this.#lastFailure = reason;
  }

  /** Its connection is gone: it is sent once more, before the others, or given up. */
  again(waiting: Waiting, reason: string): void {
    if (waiting.tries >= this.options.tries || this.closed) {
      waiting.ask.done(undefined, 0, reason);
      return;
    }
    const line = waiting.ask.urgent ? this.#urgent : this.#line;
    line.putFirst(waiting);
  }

  /** All connections end at once and are made again, as after a cut. */
  dropAll(): void {
    for (const lane of this.#lanes) lane.drop('the connection was dropped on purpose');
  }

  close(): void {
    this.closed = true;
    clearInterval(this.#sweep);
    for (const lane of this.#lanes) lane.close();
    for (const line of [this.#urgent, this.#line])
      for (const { ask } of line.remove(() => true)) ask.done(undefined, 0, 'the fleet was stopped');
  }

  #pump(): void {
    while (this.waiting > 0) {
      const lane = this.#free.pop();
      if (!lane) break;
      // It may have ended since it was put there.
      const next = lane.free ? this.#next() : undefined;
      if (next) lane.send(next);
    }
    if (this.waiting > 0) this.#openMore();
  }

  #openMore(): void {
    while (this.#opening < this.waiting) {
      const lane = this.#unused.pop();
      if (!lane) return;
      this.#opening += 1;
      lane.dial();
    }
  }

  /** In turn: neither of them keeps the other from being sent. */
  #next(): Waiting | undefined {
    this.#urgentNext = !this.#urgentNext;
    const [one, other] = this.#urgentNext ? [this.#urgent, this.#line] : [this.#line, this.#urgent];
    return one.take() ?? other.take();
  }

  #check(): void {
    const now = performance.now();
    for (const lane of this.#lanes) lane.check(now);
    for (const line of [this.#urgent, this.#line]) {
      for (const { ask } of line.remove((waiting) => (waiting.ask.until ?? now) < now)) {
        const why = this.#lastFailure === '' ? 'no connection was free in time' : this.#lastFailure;
        ask.done(undefined, 0, why);
      }
    }
    this.#pump();
  }
}
