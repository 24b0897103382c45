// The size of file chunks for Halite minions, and the buffers into which they are read.
import { chunkHeadBytes } from '../../base/crypto/index.ts';

/** The maximum that a minion may request; larger chunks cost more than they save. */
export const mostChunkBytes = 2 << 20;
export const leastChunkBytes = 1 << 16;
/** Files up to this size are included in the answer with their digest. */
export const mostBytesAlong = 1 << 16;
/** Maximum number of bytes sent to all minions together, when each of them has this many concurrent requests. */
const mostUnderway = 512 << 20;
const requestsUnderway = 6;
/** A minion that requested nothing for this long has its file. */
const restMs = 2000;

/** Many concurrent minions get smaller chunks each: queued data for slow ones must fit into memory. */
export class ChunkShare {
  /** By id, the time of its last request; in that order. */
  readonly #active = new Map<string, number>();

  /** The size of the next chunk of a minion. */
  size(id: string, now = performance.now()): number {
    this.#active.delete(id);
    this.#active.set(id, now);
    for (const [other, last] of this.#active) {
      if (now - last <= restMs) break;
      this.#active.delete(other);
    }
    const share = mostUnderway / requestsUnderway / this.#active.size;
    // Powers of two: a changed size invalidates requests made in advance.
    const power = 2 ** Math.floor(Math.log2(Math.max(1, share)));
    return Math.min(mostChunkBytes, Math.max(leastChunkBytes, power));
  }
}

/** Reused buffers; when all are in use, callers wait. */
export class ChunkBuffers {
  readonly #free: Buffer[] = [];
  readonly #waiting: ((buffer: Buffer) => void)[] = [];
  #made = 0;
  readonly #most: number;

  constructor(most = 4) {
    this.#most = most;
  }

  /** Runs `use` with a buffer, which is free again when that has ended. */
  async with<T>(use: (buffer: Buffer) => Promise<T>): Promise<T> {
    const buffer = await this.#take();
    try {
      return await use(buffer);
    } finally {
      const next = this.#waiting.shift();
      if (next) next(buffer);
      else this.#free.push(buffer);
    }
  }

  #take(): Buffer | Promise<Buffer> {
    const free = this.#free.pop();
    if (free) return free;
    if (this.#made >= this.#most) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#made++;
    return Buffer.allocUnsafeSlow(chunkHeadBytes + mostChunkBytes);
  }
}
