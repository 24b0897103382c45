// What concerns one thing is done one after the other; different things do not wait for each other.

export class InOrder {
  readonly #chains = new Map<string, Promise<unknown>>();

  /** After everything that was given before for the same key, whether that succeeded or not. */
  run<T>(key: string, act: () => Promise<T>): Promise<T> {
    const run = (this.#chains.get(key) ?? Promise.resolve()).then(act, act);
    this.#chains.set(key, run);
    const done = (): void => {
      if (this.#chains.get(key) === run) this.#chains.delete(key);
    };
    run.then(done, done);
    return run;
  }
}
