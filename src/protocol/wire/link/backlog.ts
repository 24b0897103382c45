// Publishes that wait to be sent, in order: each for some targets, and not more of them than memory allows.
import { HaliteError } from '../../../base/errors/index.ts';

const mostItems = 100_000;
const mostBytes = 512 * 1024 * 1024;

interface Item<T> {
  readonly targets: readonly T[];
  readonly payload: Uint8Array;
  next: number;
}

/** One message: a payload for one of its targets. */
export interface Message<T> {
  readonly target: T;
  readonly payload: Uint8Array;
}

export class Backlog<T> {
  private items: Item<T>[] = [];
  private head = 0;
  private bytes = 0;

  push(targets: readonly T[], payload: Uint8Array): void {
    if (targets.length === 0) return;
    const waiting = this.items.length - this.head;
    if (waiting >= mostItems || this.bytes + payload.length > mostBytes) {
      throw new HaliteError('codec.limit', `Too many publishes wait to be sent (${waiting})`, {
        hint: 'Publish fewer jobs at once.',
      });
    }
    this.items.push({ targets, payload, next: 0 });
    this.bytes += payload.length;
  }

  get waiting(): boolean {
    return this.head < this.items.length;
  }

  /** The next message, taken out; undefined when none waits. */
  take(): Message<T> | undefined {
    const item = this.items[this.head];
    if (!item) return undefined;
    const target = item.targets[item.next] as T;
    item.next += 1;
    if (item.next >= item.targets.length) this.shift(item);
    return { target, payload: item.payload };
  }

  private shift(item: Item<T>): void {
    this.bytes -= item.payload.length;
    this.head += 1;
    if (this.head < this.items.length && this.head <= 4096) return;
    this.items = this.items.slice(this.head);
    this.head = 0;
  }
}
