// Received bytes, queued until there are enough; chunks are joined only when they are taken.

export class ByteQueue {
  #parts: Buffer[] = [];
  #held = 0;

  get length(): number {
    return this.#held;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#parts.push(chunk);
    this.#held += chunk.length;
  }

  /** The first `count` bytes, which must be available. */
  take(count: number): Buffer {
    const first = this.#parts[0];
    if (first && first.length >= count) {
      if (first.length === count) this.#parts.shift();
      else this.#parts[0] = first.subarray(count);
      this.#held -= count;
      return first.subarray(0, count);
    }
    const all = Buffer.concat(this.#parts, this.#held);
    this.#parts = all.length > count ? [all.subarray(count)] : [];
    this.#held -= count;
    return all.subarray(0, count);
  }

  /** Puts back bytes that were taken too early. */
  unread(bytes: Buffer): void {
    this.#parts.unshift(bytes);
    this.#held += bytes.length;
  }
}
