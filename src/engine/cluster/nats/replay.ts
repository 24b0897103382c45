// Refuses what was seen before: each boot numbers its messages, and no number counts twice.

const rememberedBoots = 64;

/** Numbers of one channel must grow: for what its sender sends one after the other. */
export class Ascending {
  readonly #last = new Map<string, number>();

  constructor(known: Iterable<readonly [string, number]> = []) {
    for (const [boot, n] of known) this.#last.set(boot, n);
  }

  accept(boot: string, n: number): boolean {
    const last = this.#last.get(boot);
    if (last !== undefined && n <= last) return false;
    this.#last.delete(boot);
    this.#last.set(boot, n);
    if (this.#last.size > rememberedBoots) this.#last.delete(this.#last.keys().next().value as string);
    return true;
  }

  /** Oldest first. */
  known(): readonly (readonly [string, number])[] {
    return [...this.#last];
  }
}

const windowSize = 2048;

/** Numbers may overtake each other a little: for what a member sends at the same time and tries again. */
export class Window {
  readonly #boots = new Map<string, { lowest: number; readonly seen: Set<number> }>();

  accept(boot: string, n: number): boolean {
    let known = this.#boots.get(boot);
    if (!known) {
      known = { lowest: 0, seen: new Set() };
      this.#boots.set(boot, known);
      if (this.#boots.size > rememberedBoots) this.#boots.delete(this.#boots.keys().next().value as string);
    }
    if (n <= known.lowest || known.seen.has(n)) return false;
    known.seen.add(n);
    if (known.seen.size > windowSize) {
      // The first half in the order of arrival: what is below its highest number is too old from now on.
      let dropped = 0;
      for (const old of known.seen) {
        if (dropped++ === windowSize / 2) break;
        known.seen.delete(old);
        known.lowest = Math.max(known.lowest, Math.min(old, n - windowSize));
      }
    }
    return true;
  }
}
