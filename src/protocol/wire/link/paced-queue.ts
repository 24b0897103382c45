// Publishes leave in order and in small portions: the loop is never held up, and no burst overruns a socket's queue.
import { HaliteError } from '../../../base/errors/index.ts';

const SLICE_MS = 8;
const MAX_ITEMS = 100_000;
const MAX_BYTES = 512 * 1024 * 1024;

interface Item<T> {
  readonly targets: readonly T[];
  readonly payload: Uint8Array;
  next: number;
}

/** Sends each payload to its targets, one after the other. */
export class PacedQueue<T> {
  private readonly send: (target: T, payload: Uint8Array) => void;
  private readonly burst: number;
  private items: Item<T>[] = [];
  private head = 0;
  private bytes = 0;
  private scheduled = false;

  /**
   * `hwm` is how many messages the socket holds, 0 for no bound: at most a quarter of it is sent per millisecond,
   * because ZeroMQ silently drops what goes beyond.
   */
  constructor(hwm: number, send: (target: T, payload: Uint8Array) => void) {
    this.burst = hwm > 0 ? Math.max(1, hwm >> 2) : Number.POSITIVE_INFINITY;
    this.send = send;
  }

  /** Sends the first message at once when nothing waits; never blocks. */
  push(targets: readonly T[], payload: Uint8Array): void {
    if (targets.length === 0) return;
    if (this.items.length - this.head >= MAX_ITEMS || this.bytes + payload.length > MAX_BYTES) {
      throw new HaliteError('codec.limit', `Too many publishes wait to be sent (${this.items.length - this.head})`, {
        hint: 'Publish fewer jobs at once.',
      });
    }
    this.items.push({ targets, payload, next: 0 });
    this.bytes += payload.length;
    if (this.scheduled) return;
    this.sendOne();
    this.schedule(0);
  }

  /** Sends all that waits, whatever the pace: for the end of the daemon. */
  flush(): void {
    while (this.waiting) this.sendOne();
  }

  private get waiting(): boolean {
    return this.head < this.items.length;
  }

  private schedule(sent: number): void {
    this.scheduled = true;
    if (sent >= this.burst) setTimeout(() => this.drain(), 1);
    else setImmediate(() => this.drain());
  }

  private drain(): void {
    const until = performance.now() + SLICE_MS;
    let sent = 0;
    while (this.waiting && sent < this.burst && performance.now() < until) {
      this.sendOne();
      sent += 1;
    }
    this.scheduled = false;
    if (this.waiting) this.schedule(sent);
  }

  private sendOne(): void {
    const item = this.items[this.head] as Item<T>;
    const target = item.targets[item.next] as T;
    item.next += 1;
    if (item.next >= item.targets.length) this.shift(item);
    this.send(target, item.payload);
  }

  private shift(item: Item<T>): void {
    this.bytes -= item.payload.length;
    this.head += 1;
    if (this.head === this.items.length || this.head > 4096) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
  }
}
