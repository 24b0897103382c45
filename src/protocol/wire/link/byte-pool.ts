// Memory shared by many connections. When it is used up, further messages wait in line, so that large messages enter
// one after the other.

import { mostInLine } from './limits.ts';

interface Waiter {
  readonly bytes: number;
  readonly granted: () => void;
}

export class BytePool {
  readonly #capacity: number;
  readonly #line: Waiter[] = [];
  #used = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get used(): number {
    return this.#used;
  }

  /** True when too many wait already. */
  get crowded(): boolean {
    return this.#line.length >= mostInLine;
  }

  /** True while others wait: current holders should finish soon. */
  get contended(): boolean {
    return this.#line.length > 0;
  }

  /**
   * Reserves a part immediately, or (false) calls `granted` later when it is reserved. A request above the capacity
   * enters alone.
   */
  take(bytes: number, granted: () => void): boolean {
    if (this.#line.length === 0 && this.#fits(bytes)) {
      this.#used += bytes;
      return true;
    }
    this.#line.push({ bytes, granted });
    return false;
  }

  give(bytes: number): void {
    this.#used -= bytes;
    this.#admit();
  }

  /** Removes one that waits no longer. */
  leave(granted: () => void): void {
    const at = this.#line.findIndex((waiter) => waiter.granted === granted);
    if (at < 0) return;
    this.#line.splice(at, 1);
    this.#admit();
  }

  #fits(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.#capacity;
  }

  #admit(): void {
    for (let next = this.#line[0]; next && this.#fits(next.bytes); next = this.#line[0]) {
      this.#line.shift();
      this.#used += next.bytes;
      next.granted();
    }
  }
}
