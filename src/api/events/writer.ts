// Writes to a reader that may be slow: waits until it has read, and gives up after a while.
import type { Writable } from 'node:stream';

const patienceMs = 30_000;

/** False when the reader does not read, or has left. */
export function written(to: Writable, text: string | Uint8Array): Promise<boolean> {
  if (to.destroyed || to.writableEnded) return Promise.resolve(false);
  if (to.write(text)) return Promise.resolve(true);
  return new Promise((resolve) => {
    const done = (went: boolean): void => {
      clearTimeout(timer);
      to.off('drain', drained);
      to.off('close', closed);
      resolve(went);
    };
    const drained = (): void => done(true);
    const closed = (): void => done(false);
    const timer = setTimeout(() => done(false), patienceMs);
    to.once('drain', drained);
    to.once('close', closed);
  });
}
