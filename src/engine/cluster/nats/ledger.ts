// The ledger on NATS: frames of a member go out one after the other; what the engine does not take is held on disk.
import { packValue } from '../../../base/codec/msgpack/index.ts';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import type { Ledger } from '../api.ts';
import { itemValue } from '../codec.ts';
import type { LedgerItem } from '../messages.ts';
import type { HeldSpool } from '../ports.ts';
import type { Core } from './core.ts';
import { followLedger } from './follow.ts';
import { type Frame, Frames } from './frames.ts';
import { HeldFrames } from './held.ts';
import { mostItemBytes } from './parts.ts';
import { subjectOf } from './streams.ts';

/** A frame that the engine does not take in this time goes to disk: well before a minion is told that it is stored. */
const directMs = 700;
/** Of a held frame, on a slow link. */
const heldMs = 10_000;
const pauseMs = 200;
/** In memory: what is beyond goes to disk. */
const mostBytesInMemory = 8 * 1024 * 1024;

export class NatsLedger implements Ledger {
  readonly #core: Core;
  readonly #frames: Frames;
  readonly #held: HeldFrames;
  #busy = false;
  /** A frame is on its way from memory: what is behind it goes to disk only when it is known whether that one must, too. */
  #direct = false;
  #stopped: Promise<void> = Promise.resolve();
  #since = 0;

  constructor(core: Core, spool: HeldSpool) {
    this.#core = core;
    this.#frames = new Frames(core.envelope.boot, () => this.#ready());
    this.#held = new HeldFrames(spool, core.log);
    if (!this.#held.empty) this.#hold();
  }

  append(item: LedgerItem): Promise<void> {
    const packed = packValue(itemValue(item));
    if (packed.length > mostItemBytes) {
      return Promise.reject(
        new HaliteError('codec.limit', `An item of ${packed.length} bytes is too large for the ledger`),
      );
    }
    const frame = this.#frames.add(packed);
    if (this.#frames.bytes > mostBytesInMemory) this.#hold();
    return frame.done;
  }

  follow(...args: Parameters<Ledger['follow']>): Promise<void> {
    return followLedger(this.#core, ...args);
  }

  held(): ReturnType<Ledger['held']> {
    const { items, bytes } = this.#held;
    return { items: items + (this.#since > 0 ? this.#frames.items : 0), bytes, since: this.#since };
  }

  /** Waits for what is on its way, but not long. */
  async flush(ms: number): Promise<void> {
    const until = performance.now() + ms;
    while ((this.#busy || !this.#frames.empty) && this.#since === 0 && performance.now() < until) await this.#pause(10);
  }

  /** What is still in memory goes to disk. */
  async close(): Promise<void> {
    await this.#stopped;
    for (let frame = this.#frames.take(true); frame; frame = this.#frames.take(true)) this.#held.add(frame);
    await this.#held.settled();
  }

  #ready(): void {
    if (this.#since === 0) this.#work();
    else if (!this.#direct) this.#spill();
  }

  /** From now on everything goes to disk first, so that the order stays. */
  #hold(): void {
    if (this.#since === 0) this.#since = Date.now();
    if (!this.#direct) this.#spill();
    this.#work();
  }

  #spill(): void {
    for (let frame = this.#frames.take(); frame; frame = this.#frames.take()) this.#held.add(frame);
  }

  #work(): void {
    if (this.#busy || this.#core.signal.aborted) return;
    this.#busy = true;
    this.#stopped = this.#loop()
      .catch((error: unknown) => this.#core.log.error('the ledger cannot be sent', { error: messageOf(error) }))
      .finally(() => {
        this.#busy = false;
      });
  }

  async #loop(): Promise<void> {
    while (!this.#core.signal.aborted) {
      if (this.#since > 0) {
        if (this.#held.empty) this.#since = 0;
        else if (!(await this.#sendHeld())) await this.#pause();
        continue;
      }
      const frame = this.#frames.take();
      if (!frame) return;
      this.#direct = true;
      const sent = await this.#send(frame, directMs);
      this.#direct = false;
      if (sent) frame.settle();
      else {
        if (this.#since === 0) this.#since = Date.now();
        this.#held.add(frame);
      }
      if (this.#since > 0) this.#spill();
    }
  }

  async #sendHeld(): Promise<boolean> {
    const next = await this.#held.next();
    if (!next) return false;
    const began = performance.now();
    const sent = await this.#send(next, heldMs);
    this.#held.told(sent, performance.now() - began);
    if (sent) this.#held.delivered(next);
    return sent;
  }

  /** One at a time: a frame is tried until it is taken or given up, so that frames never overtake each other. */
  async #send(frame: Pick<Frame, 'id' | 'items' | 'isPart'>, timeoutMs: number): Promise<boolean> {
    try {
      // Fails at once when there is no connection.
      const js = this.#core.js();
      const subject = subjectOf.log(this.#core.options.name, this.#core.slot());
      const body = packValue([frame.items, frame.isPart ? 1 : 0]);
      const { bytes } = this.#core.envelope.seal(subject, null, body);
      const until = performance.now() + timeoutMs;
      for (;;) {
        const left = until - performance.now();
        try {
          await js.publish(subject, bytes, { id: frame.id, timeoutMs: Math.max(50, Math.min(left, timeoutMs / 2)) });
          return true;
        } catch (error) {
          if (performance.now() >= until || this.#core.signal.aborted || !js.connection.connected) throw error;
          await this.#pause(50);
        }
      }
    } catch (error) {
      this.#core.log.limited('ledger:held', 'warn', 'results are held until the nats-servers take them', {
        why: messageOf(error),
      });
      return false;
    }
  }

  #pause(ms = pauseMs): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }
}
