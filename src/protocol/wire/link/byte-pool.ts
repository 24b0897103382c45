// A share of the memory that many connections draw on. Who finds it used up waits in line, so large messages enter one after the other.

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

  /** True when too many wait for one more to do so. */
  get crowded(): boolean {
    return this.#line.length >= mostInLine;
  }

  /** True while somebody waits: who holds a part should hurry. */
  get contended(): boolean {
    return this.#line.length > 0;
  }

  /** Takes a part at once, or (false) calls `granted` when it has been taken. More than the capacity enters alone. */
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

  /** One that waits no longer. */
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
