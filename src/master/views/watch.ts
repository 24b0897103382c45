// Follows something that changes: waits for a change, then tells the difference, at most so often. A slow reader gets
// fewer and larger differences: nothing is queued for it.

export interface Changes {
  /** Resolves when something has changed since the last call, or the signal is aborted. */
  next(): Promise<void>;
  close(): void;
}

/** `subscribe` is given a function to call at each change, and returns one that ends the subscription. */
export function followChanges(
  subscribe: (changed: () => void) => () => void,
  signal: AbortSignal,
  everyMs = 0,
): Changes {
  let dirty = false;
  let wake = (): void => undefined;
  const changed = (): void => {
    dirty = true;
    wake();
  };
  const stop = subscribe(changed);
  const timer = everyMs > 0 ? setInterval(changed, everyMs).unref() : undefined;
  const aborted = (): void => wake();
  signal.addEventListener('abort', aborted, { once: true });
  return {
    async next() {
      if (!dirty && !signal.aborted)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      dirty = false;
    },
    close() {
      clearInterval(timer);
      signal.removeEventListener('abort', aborted);
      stop();
    },
  };
}

/** Waits between two differences: longer when one takes long to compute, so that many readers do not block the master. */
export function pause(least: number, costMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.max(least, costMs * costShare));
    signal.addEventListener('abort', done, { once: true });
  });
}

/** A follower uses at most this part of the time of the master. */
const costShare = 20;
