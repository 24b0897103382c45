// Publishes are sent in order and in small portions: the event loop is never blocked for long.
import { Backlog, type Targets } from './backlog.ts';

const sliceMs = 8;

/** Sends each payload to its targets, one after the other. */
export class PacedQueue<T, P extends { readonly length: number } = Uint8Array> {
  readonly #send: (target: T, payload: P) => void;
  readonly #backlog: Backlog<T, P>;
  #scheduled = false;

  /** `join` combines several small payloads for the same targets to one. */
  constructor(send: (target: T, payload: P) => void, join?: (payloads: readonly P[]) => P) {
    this.#send = send;
    this.#backlog = new Backlog<T, P>(join);
  }

  /** Sends the first message immediately when nothing waits; never blocks. */
  push(targets: Targets<T>, payload: P): void {
    this.#backlog.push(targets, payload);
    if (this.#scheduled || !this.#backlog.waiting) return;
    this.#sendOne();
    this.#schedule();
  }

  /** Sends all waiting messages without pauses: used when the daemon ends. */
  flush(): void {
    while (this.#backlog.waiting) this.#sendOne();
  }

  #schedule(): void {
    this.#scheduled = true;
    setImmediate(() => this.#drain());
  }

  #drain(): void {
    const until = performance.now() + sliceMs;
    while (this.#backlog.waiting && performance.now() < until) this.#sendOne();
    this.#scheduled = false;
    if (this.#backlog.waiting) this.#schedule();
  }

  #sendOne(): void {
    const message = this.#backlog.take();
    if (message) this.#send(message.target, message.payload);
  }
}
