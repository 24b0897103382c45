// Publishes queued for a slow subscriber. The bytes are the same for all subscribers and are stored once.
import type { ServerConnection } from './server-connection.ts';

/** How long a subscriber may take nothing before messages above its high-water mark are dropped, as with Salt. */
const patienceMs = 1000;
/** Limits for one subscriber, and for all of them with every message counted once. */
const mostBytesEach = 32 * 1024 * 1024;
const mostBytesAll = 128 * 1024 * 1024;

/** One message to many subscribers; its bytes are encoded once per protocol generation. */
export class SharedFrame {
  readonly length: number;
  /** The number of messages in it; small ones may be joined. */
  readonly messages: number;
  holders = 0;
  readonly #encode: (form: number) => Uint8Array;
  readonly #forms: (Uint8Array | undefined)[] = [];

  constructor(length: number, encode: (form: number) => Uint8Array, messages = 1) {
    this.length = length;
    this.messages = messages;
    this.#encode = encode;
  }

  static join(frames: readonly SharedFrame[]): SharedFrame {
    let length = 0;
    for (const frame of frames) length += frame.length;
    return new SharedFrame(length, (form) => Buffer.concat(frames.map((frame) => frame.bytes(form))), frames.length);
  }

  bytes(form: number): Uint8Array {
    const known = this.#forms[form];
    if (known) return known;
    const made = this.#encode(form);
    this.#forms[form] = made;
    return made;
  }
}

/** The queued messages of all subscribers of one port. */
export class Waiting {
  #bytes = 0;

  get full(): boolean {
    return this.#bytes > mostBytesAll;
  }

  hold(frame: SharedFrame): void {
    frame.holders += 1;
    if (frame.holders === 1) this.#bytes += frame.length;
  }

  release(frame: SharedFrame): void {
    frame.holders -= 1;
    if (frame.holders === 0) this.#bytes -= frame.length;
  }
}

export class Delivery {
  readonly #connection: ServerConnection;
  readonly #waiting: Waiting;
  readonly #hwm: number;
  readonly #form: () => number;
  #queue: SharedFrame[] = [];
  #head = 0;
  #bytes = 0;
  #messages = 0;
  #missed = 0;

  constructor(connection: ServerConnection, waiting: Waiting, hwm: number, form: () => number = () => 0) {
    this.#connection = connection;
    this.#waiting = waiting;
    this.#hwm = hwm > 0 ? hwm : Number.POSITIVE_INFINITY;
    this.#form = form;
  }

  send(frame: SharedFrame): void {
    const { out, socket } = this.#connection;
    if (socket.destroyed) return;
    if (out.unsent === 0 && this.#head === this.#queue.length) out.write(frame.bytes(this.#form()));
    else if (this.#mustMiss(frame)) this.#miss();
    else this.#keep(frame);
  }

  #keep(frame: SharedFrame): void {
    this.#queue.push(frame);
    this.#bytes += frame.length;
    this.#messages += frame.messages;
    this.#waiting.hold(frame);
    if (this.#waiting.full) this.#connection.guard.cutSlowest();
  }

  /** Called when the subscriber took the data it was sent. */
  drained(): void {
    const { out } = this.#connection;
    for (let frame = this.#queue[this.#head]; frame && out.unsent === 0; frame = this.#queue[this.#head]) {
      this.#head += 1;
      this.#bytes -= frame.length;
      this.#messages -= frame.messages;
      this.#waiting.release(frame);
      out.write(frame.bytes(this.#form()));
    }
    if (this.#head < this.#queue.length && this.#head < 1024) return;
    this.#queue = this.#queue.slice(this.#head);
    this.#head = 0;
    if (this.#queue.length === 0) this.#missed = 0;
  }

  closed(): void {
    for (const frame of this.#queue.slice(this.#head)) this.#waiting.release(frame);
    this.#queue = [];
    this.#head = 0;
    this.#bytes = 0;
    this.#messages = 0;
  }

  #mustMiss(frame: SharedFrame): boolean {
    if (this.#bytes + frame.length > mostBytesEach && this.#bytes > 0) return true;
    if (this.#messages < this.#hwm) return false;
    return performance.now() - this.#connection.out.progressAt > patienceMs;
  }

  #miss(): void {
    this.#missed += 1;
    if (this.#missed > 1) return;
    const { guard, peer } = this.#connection;
    guard.problem({ kind: 'slow', peer, detail: 'reads publishes too slowly and misses some' });
  }
}
