// Caches the lists of environments for a while, because all minions request the same ones at the same time.
import type { FileLists } from './backend.ts';

interface Entry {
  readonly lists: Promise<FileLists>;
  readonly at: number;
}

/** Names come from peers, so their number has a limit. */
const maxEntries = 200;

export class ListCache {
  readonly #entries = new Map<string, Entry>();
  readonly #ageMs: number;

  constructor(ageMs: number) {
    this.#ageMs = ageMs;
  }

  get(saltenv: string, make: () => Promise<FileLists>): Promise<FileLists> {
    const known = this.#entries.get(saltenv);
    if (known && performance.now() - known.at < this.#ageMs) return known.lists;
    this.#entries.delete(saltenv);
    if (this.#entries.size >= maxEntries) this.#entries.delete(this.#entries.keys().next().value as string);
    const entry = { lists: make(), at: performance.now() };
    this.#entries.set(saltenv, entry);
    entry.lists.catch(() => {
      if (this.#entries.get(saltenv) === entry) this.#entries.delete(saltenv);
    });
    return entry.lists;
  }

  /** Clears some or all; returns the cleared names. */
  forget(saltenvs?: readonly string[]): string[] {
    const names = [...this.#entries.keys()].filter((name) => !saltenvs || saltenvs.includes(name));
    for (const name of names) this.#entries.delete(name);
    return names.sort();
  }
}
