// Gathers items of the ledger into frames: closed at 64 items, 64 kB or 3 ms, larger while another frame is on its way.
import { partBytes, partsOf } from './parts.ts';

const closeItems = 64;
const closeBytes = 64 * 1024;
const closeMs = 3;
/** While the frame before is not acknowledged, this one grows up to here. */
const mostItems = 512;
const mostBytes = 256 * 1024;

export interface Frame {
  /** Recognized by the engine when it is sent again. */
  readonly id: string;
  readonly items: Uint8Array[];
  /** It carries a part of an item that is too long for one frame. */
  readonly isPart: boolean;
  bytes: number;
  /** Resolves when the engine has it. */
  readonly done: Promise<void>;
  settle(error?: unknown): void;
}

export class Frames {
  readonly #boot: string;
  readonly #ready: () => void;
  #count = 0;
  #frames: Frame[] = [];
  #timer: NodeJS.Timeout | undefined;
  #due = false;
  bytes = 0;
  items = 0;

  /** `ready` is called when a frame may be sent. */
  constructor(boot: string, ready: () => void) {
    this.#boot = boot;
    this.#ready = ready;
  }

  get empty(): boolean {
    return this.#frames.length === 0;
  }

  /** The frame that the item is in, or its last part. */
  add(item: Uint8Array): Frame {
    if (item.length <= partBytes) return this.#put(item);
    let last: Frame | undefined;
    for (const part of partsOf(item)) last = this.#put(part, true);
    return last as Frame;
  }

  /** The next frame when it is time to send it; any there is when nothing may wait any more. */
  take(anyway = false): Frame | undefined {
    const frame = this.#frames[0];
    if (!frame) return undefined;
    const isOpen = this.#frames.length === 1 && frame.items.length < closeItems && frame.bytes < closeBytes;
    if (isOpen && !this.#due && !anyway) {
      // It was not alone when it was begun.
      this.#arm();
      return undefined;
    }
    this.#frames.shift();
    this.bytes -= frame.bytes;
    this.items -= frame.items.length;
    if (this.#frames.length === 0) this.#disarm();
    return frame;
  }

  #put(item: Uint8Array, alone = false): Frame {
    let frame = this.#frames.at(-1);
    if (!frame || alone || frame.isPart || frame.items.length >= mostItems || frame.bytes + item.length > mostBytes) {
      frame = newFrame(`${this.#boot}:${++this.#count}`, alone);
      this.#frames.push(frame);
    }
    frame.items.push(item);
    frame.bytes += item.length;
    this.bytes += item.length;
    this.items += 1;
    if (this.#frames.length > 1 || frame.items.length >= closeItems || frame.bytes >= closeBytes) this.#ready();
    else if (!this.#due) this.#arm();
    return frame;
  }

  #arm(): void {
    this.#timer ??= setTimeout(() => this.#expired(), closeMs);
  }

  #expired(): void {
    this.#timer = undefined;
    this.#due = true;
    this.#ready();
  }

  #disarm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#due = false;
  }
}

function newFrame(id: string, isPart: boolean): Frame {
  let settle: Frame['settle'] = () => undefined;
  const done = new Promise<void>((resolve, reject) => {
    settle = (error) => (error === undefined ? resolve() : reject(error));
  });
  // Whoever waits hears of it; nobody has to.
  done.catch(() => undefined);
  return { id, isPart, items: [], bytes: 0, done, settle };
}
