// Assembles the bytes of one message as they arrive. The allocation follows the received size, not the announced one.

const empty = Buffer.alloc(0);
const smallest = 512;

export class Gather {
  #buffer: Buffer = empty;
  #held = 0;

  get length(): number {
    return this.#held;
  }

  /** Copies `chunk`; `expected` is the final size, as far as it is known. */
  add(chunk: Buffer, expected: number): void {
    const needed = this.#held + chunk.length;
    if (needed > this.#buffer.length) this.#grow(needed, expected);
    chunk.copy(this.#buffer, this.#held);
    this.#held = needed;
  }

  /** The whole message; the next one starts empty. */
  take(): Buffer {
    const whole = this.#buffer.subarray(0, this.#held);
    this.#buffer = empty;
    this.#held = 0;
    return whole;
  }

  /**
   * Four times the received size, up to the expected size: few copies, and never much more than one message in memory.
   */
  #grow(needed: number, expected: number): void {
    const wanted = Math.max(expected, Math.ceil(needed * 1.5));
    const size = Math.max(needed, Math.min(wanted, Math.max(needed * 4, smallest)));
    const larger = Buffer.allocUnsafeSlow(size);
    this.#buffer.copy(larger, 0, 0, this.#held);
    this.#buffer = larger;
  }
}
