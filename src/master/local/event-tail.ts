// The latest events with their numbers, for streams that may be interrupted: a reader that comes back names the last
// event it has seen and gets what it missed, or is told that something is missing.
import { randomBytes } from 'node:crypto';
import { PackedValue, pack } from '../../base/codec/msgpack/index.ts';
import { AsyncQueue } from '../../base/util/async-queue.ts';
import type { BusEvent, EventBus } from '../../protocol/event/bus.ts';
import { roughSize } from '../../protocol/event/trim.ts';

export interface Numbered {
  readonly seq: number;
  readonly event: BusEvent;
  /** The data is packed once for all readers. */
  packed(): PackedValue;
}

interface Kept extends Numbered {
  readonly size: number;
}

const mostKept = 10_000;
const mostKeptBytes = 16 * 1024 * 1024;
/** Events that wait for one slow reader; the oldest are dropped, which the numbers show. */
const mostWaiting = 2_000;
/** Without readers events are kept for this time, because a reader may come back. */
const lingerMs = 300_000;

export class EventTail {
  /** Numbers of another run of the master mean nothing. */
  readonly epoch = randomBytes(6).toString('hex');
  readonly #bus: Pick<EventBus, 'subscribe'>;
  readonly #readers = new Set<AsyncQueue<Numbered>>();
  #kept: Kept[] = [];
  #head = 0;
  #bytes = 0;
  #seq = 0;
  #stop: (() => void) | undefined;
  #linger: NodeJS.Timeout | undefined;

  constructor(bus: Pick<EventBus, 'subscribe'>) {
    this.#bus = bus;
  }

  /** The number of the latest event. */
  get seq(): number {
    return this.#seq;
  }

  /** Events after `since` that are kept, then all new ones. */
  open(since: number | undefined, signal: AbortSignal): AsyncQueue<Numbered> {
    clearTimeout(this.#linger);
    this.#stop ??= this.#bus.subscribe('', (event) => this.#take(event));
    const queue: AsyncQueue<Numbered> = new AsyncQueue({
      limit: mostKept + mostWaiting,
      onClose: () => this.#left(queue),
    });
    if (since !== undefined) for (const kept of this.#kept.slice(this.#head)) if (kept.seq > since) queue.push(kept);
    this.#readers.add(queue);
    signal.addEventListener('abort', () => queue.close(), { once: true });
    if (signal.aborted) queue.close();
    return queue;
  }

  close(): void {
    for (const queue of this.#readers) queue.close();
    this.#end();
  }

  #left(queue: AsyncQueue<Numbered>): void {
    this.#readers.delete(queue);
    if (this.#readers.size > 0 || !this.#stop) return;
    clearTimeout(this.#linger);
    this.#linger = setTimeout(() => this.#end(), lingerMs).unref();
  }

  #end(): void {
    clearTimeout(this.#linger);
    this.#stop?.();
    this.#stop = undefined;
    this.#kept = [];
    this.#head = 0;
    this.#bytes = 0;
    // What happens from now on is not numbered: whoever comes back must notice.
    this.#seq += 1;
  }

  #take(event: BusEvent): void {
    const seq = ++this.#seq;
    let bytes: PackedValue | undefined;
    const packed = (): PackedValue => {
      bytes ??= asPacked(event);
      return bytes;
    };
    const kept = { seq, event, packed, size: roughSize(event.data) + event.tag.length };
    this.#kept.push(kept);
    this.#bytes += kept.size;
    while (this.#kept.length - this.#head > mostKept || this.#bytes > mostKeptBytes) this.#drop();
    for (const queue of this.#readers) queue.push(kept);
  }

  #drop(): void {
    this.#bytes -= this.#kept[this.#head]?.size ?? 0;
    this.#head += 1;
    if (this.#head < 1024 || this.#head * 2 < this.#kept.length) return;
    this.#kept = this.#kept.slice(this.#head);
    this.#head = 0;
  }
}

function asPacked({ data }: BusEvent): PackedValue {
  const { buffer, byteOffset, length } = pack(data, { bin: true });
  return new PackedValue(buffer, byteOffset, length);
}
