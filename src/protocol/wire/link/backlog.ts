// Publishes that wait to be sent, in order: each for some targets, and not more of them than memory allows.
import { HaliteError } from '../../../base/errors/index.ts';

const mostItems = 100_000;
const mostBytes = 512 * 1024 * 1024;

/** Those a publish is for; a function finds them when its turn has come. */
export type Targets<T> = readonly T[] | (() => readonly T[]);

interface Item<T, P> {
  targets: Targets<T>;
  readonly payload: P;
  next: number;
}

/** One message: a payload for one of its targets. */
export interface Message<T, P> {
  readonly target: T;
  readonly payload: P;
}

export class Backlog<T, P extends { readonly length: number } = Uint8Array> {
  private items: Item<T, P>[] = [];
  private head = 0;
  private bytes = 0;

  push(targets: Targets<T>, payload: P): void {
    if (typeof targets !== 'function' && targets.length === 0) return;
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
  take(): Message<T, P> | undefined {
    for (let item = this.items[this.head]; item; item = this.items[this.head]) {
      if (typeof item.targets === 'function') item.targets = item.targets();
      const { targets, payload, next } = item;
      item.next += 1;
      if (item.next >= targets.length) this.shift(item);
      if (next < targets.length) return { target: targets[next] as T, payload };
    }
    return undefined;
  }

  private shift(item: Item<T, P>): void {
    this.bytes -= item.payload.length;
    this.head += 1;
    if (this.head < this.items.length && this.head <= 4096) return;
    this.items = this.items.slice(this.head);
    this.head = 0;
  }
}
