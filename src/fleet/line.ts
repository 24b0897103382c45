// A queue that takes from its head without moving the rest.

export class Line<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  putFirst(item: T): void {
    if (this.#head > 0) this.#items[--this.#head] = item;
    else this.#items.unshift(item);
  }

  take(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head++] = undefined;
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Removes those for which the test holds, and gives them. */
  remove(test: (item: T) => boolean): T[] {
    const removed: T[] = [];
    const kept: T[] = [];
    for (let at = this.#head; at < this.#items.length; at++) {
      const item = this.#items[at] as T;
      (test(item) ? removed : kept).push(item);
    }
    if (removed.length > 0) {
      this.#items = kept;
      this.#head = 0;
    }
    return removed;
  }
}
