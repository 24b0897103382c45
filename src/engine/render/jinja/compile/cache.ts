// Compiled templates by source, least recently used dropped first.

const maxEntries = 1000;
const maxCharacters = 4_000_000;

/** Keyed by the source itself: V8 hashes the text once, and equal hashes of different texts cannot be confused. */
export class SourceCache<T> {
  readonly #entries = new Map<string, T>();
  #characters = 0;

  get(source: string): T | undefined {
    const found = this.#entries.get(source);
    if (found !== undefined) {
      this.#entries.delete(source);
      this.#entries.set(source, found);
    }
    return found;
  }

  set(source: string, value: T): void {
    if (!this.#entries.has(source)) this.#characters += source.length;
    this.#entries.set(source, value);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= maxEntries && this.#characters <= maxCharacters) break;
      this.#entries.delete(oldest);
      this.#characters -= oldest.length;
    }
  }
}
