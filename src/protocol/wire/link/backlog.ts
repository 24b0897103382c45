// Publishes that wait to be sent, in order: each for some targets, bounded in number and memory.
import { HaliteError } from '../../../base/errors/index.ts';

const mostItems = 100_000;
const mostBytes = 512 * 1024 * 1024;
/**
 * Small publishes for the same targets are sent together, up to this size: in a burst each target is written to once,
 * not for each.
 */
const joinedBytes = 64 * 1024;

/** The targets of a publish; a function determines them when it is sent. The same object means the same targets. */
export type Targets<T> = Iterable<T> | (() => Iterable<T>);

interface Item<T, P> {
  targets: Targets<T>;
  payload: P;
  /** Its current position in the list of targets. */
  place: Iterator<T> | undefined;
}

/** One message: a payload for one target. */
export interface Message<T, P> {
  readonly target: T;
  readonly payload: P;
}

export class Backlog<T, P extends { readonly length: number } = Uint8Array> {
  #items: Item<T, P>[] = [];
  #head = 0;
  #bytes = 0;
  readonly #join: ((payloads: readonly P[]) => P) | undefined;

  /** `join` combines several payloads to one. */
  constructor(join?: (payloads: readonly P[]) => P) {
    this.#join = join;
  }

  push(targets: Targets<T>, payload: P): void {
    if (Array.isArray(targets) && targets.length === 0) return;
    const waiting = this.#items.length - this.#head;
    if (waiting >= mostItems || this.#bytes + payload.length > mostBytes) {
      throw new HaliteError('codec.limit', `Too many publishes wait to be sent (${waiting})`, {
        hint: 'Publish fewer jobs at once.',
      });
    }
    this.#items.push({ targets, payload, place: undefined });
    this.#bytes += payload.length;
  }

  get waiting(): boolean {
    return this.#head < this.#items.length;
  }

  /** Removes and returns the next message; undefined when none waits. */
  take(): Message<T, P> | undefined {
    for (let item = this.#items[this.#head]; item; item = this.#items[this.#head]) {
      item.place ??= this.#begin(item);
      const next = item.place.next();
      if (!next.done) return { target: next.value, payload: item.payload };
      this.#shift(item);
    }
    return undefined;
  }

  #begin(item: Item<T, P>): Iterator<T> {
    const targets = resolve(item);
    if (this.#join && item.payload.length < joinedBytes) this.#joinNext(item, targets, this.#join);
    return targets[Symbol.iterator]();
  }

  #joinNext(item: Item<T, P>, targets: Iterable<T>, join: (payloads: readonly P[]) => P): void {
    const payloads = [item.payload];
    let size = item.payload.length;
    let at = this.#head + 1;
    for (let next = this.#items[at]; next; next = this.#items[++at]) {
      size += next.payload.length;
      if (size > joinedBytes || resolve(next) !== targets) break;
      payloads.push(next.payload);
    }
    if (payloads.length === 1) return;
    item.payload = join(payloads);
    this.#items.splice(this.#head + 1, payloads.length - 1);
  }

  #shift(item: Item<T, P>): void {
    this.#bytes -= item.payload.length;
    this.#head += 1;
    if (this.#head < this.#items.length && this.#head <= 4096) return;
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}

function resolve<T, P>(item: Item<T, P>): Iterable<T> {
  if (typeof item.targets === 'function') item.targets = item.targets();
  return item.targets;
}
