// Queued writes. A very long result takes a second or more: the many short writes do not wait for it.
import type { WriteKind } from './statements.ts';

const longBytes = 1024 * 1024;

export interface WriteRequest {
  readonly seq: number;
  readonly kind: WriteKind;
  readonly data: Uint8Array;
}

export class WriteQueue {
  #short: WriteRequest[] = [];
  #long: WriteRequest[] = [];
  #bytes = 0;

  get length(): number {
    return this.#short.length + this.#long.length;
  }
  get bytes(): number {
    return this.#bytes;
  }

  push(request: WriteRequest): void {
    this.#bytes += request.data.byteLength;
    if (request.data.byteLength < longBytes) this.#short.push(request);
    else this.#long.push(request);
  }

  /** The writes of one transaction: short ones together, a long one alone. */
  take(most: number): WriteRequest[] {
    const batch = this.#short.length > 0 ? this.#short.splice(0, most) : this.#long.splice(0, 1);
    for (const request of batch) this.#bytes -= request.data.byteLength;
    return batch;
  }

  /** Puts writes back before all others, in their order. */
  putBack(batch: readonly WriteRequest[]): void {
    const [short, long] = [this.#short, this.#long];
    this.#short = [];
    this.#long = [];
    this.#bytes = 0;
    for (const request of [...batch, ...short, ...long]) this.push(request);
  }

  /** Removes and returns all of them. */
  empty(): WriteRequest[] {
    const all = [...this.#short, ...this.#long];
    this.#short = [];
    this.#long = [];
    this.#bytes = 0;
    return all;
  }
}
