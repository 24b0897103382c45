// Publishes leave over ZeroMQ in order. No burst overruns a subscriber's queue, and one that stands still holds nobody up for long.
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import type { XPublisher } from 'zeromq';
import { HaliteError } from '../../../base/errors/index.ts';

const sliceMs = 8;
/** How long a full queue is waited for; afterwards its subscriber misses messages, as with Salt. */
const patienceMs = 100;
/** How long nobody is waited for after that. */
const impatientMs = 5000;
const mostItems = 100_000;
const mostBytes = 512 * 1024 * 1024;

interface Item {
  readonly topics: readonly string[];
  readonly payload: Uint8Array;
  next: number;
}

/**
 * With it a full queue is an error we see, not a message that is gone. It counts at once, also on a socket that is bound;
 * the library warns on stderr that it did not, as it does for every option.
 */
function setNoDrop(socket: XPublisher, noDrop: boolean): void {
  const warn = process.emitWarning;
  process.emitWarning = () => undefined;
  try {
    socket.noDrop = noDrop;
  } finally {
    process.emitWarning = warn;
  }
}

export class Outbox {
  readonly #socket: XPublisher;
  #items: Item[] = [];
  #head = 0;
  #bytes = 0;
  #sending = false;
  #fullSince = 0;
  #impatientUntil = 0;

  constructor(socket: XPublisher) {
    this.#socket = socket;
    setNoDrop(socket, true);
  }

  /** One message for each topic; the first leaves at once when nothing waits. Never blocks. */
  push(topics: readonly string[], payload: Uint8Array): void {
    if (topics.length === 0) return;
    const waiting = this.#items.length - this.#head;
    if (waiting >= mostItems || this.#bytes + payload.length > mostBytes) {
      throw new HaliteError('codec.limit', `Too many publishes wait to be sent (${waiting})`, {
        hint: 'Publish fewer jobs at once.',
      });
    }
    this.#items.push({ topics, payload, next: 0 });
    this.#bytes += payload.length;
    if (!this.#sending) void this.#sendAll();
  }

  /** Sends all that waits, whatever becomes of it: for the end of the daemon. */
  flush(): void {
    if (this.#socket.closed) return;
    setNoDrop(this.#socket, false);
    for (let item = this.#first(); item; item = this.#first()) {
      this.#message(item).catch(() => undefined);
      this.#sent(item);
    }
  }

  async #sendAll(): Promise<void> {
    this.#sending = true;
    let until = performance.now() + sliceMs;
    for (let item = this.#first(); item && !this.#socket.closed; item = this.#first()) {
      try {
        const going = this.#message(item);
        this.#sent(item);
        await going;
        this.#fullSince = 0;
      } catch {
        if (!this.#socket.closed) await this.#again(item);
      }
      if (performance.now() < until) continue;
      await turn();
      until = performance.now() + sliceMs;
    }
    this.#sending = false;
  }

  /** Somebody's queue is full: waits a little, and for the patient while only. */
  async #again(item: Item): Promise<void> {
    const now = performance.now();
    this.#unsent(item);
    this.#fullSince ||= now;
    if (now - this.#fullSince <= patienceMs) {
      await pause(1);
      return;
    }
    this.#fullSince = 0;
    this.#impatientUntil = now + impatientMs;
    setNoDrop(this.#socket, false);
    setTimeout(() => {
      if (!this.#socket.closed && performance.now() >= this.#impatientUntil) setNoDrop(this.#socket, true);
    }, impatientMs + 10).unref();
  }

  #message(item: Item): Promise<void> {
    const topic = item.topics[item.next]!;
    return this.#socket.send(topic === '' ? item.payload : [topic, item.payload]);
  }

  #first(): Item | undefined {
    return this.#items[this.#head];
  }

  #sent(item: Item): void {
    item.next++;
    if (item.next < item.topics.length) return;
    this.#bytes -= item.payload.length;
    this.#head++;
    if (this.#head < this.#items.length && this.#head <= 4096) return;
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }

  #unsent(item: Item): void {
    item.next--;
    if (this.#first() === item) return;
    this.#bytes += item.payload.length;
    if (this.#head > 0) this.#head--;
    else this.#items.unshift(item);
  }
}
