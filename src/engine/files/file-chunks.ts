// How large the chunks of files are that Halite minions get, and the buffers they are read into.
import { chunkHeadBytes } from '../../base/crypto/index.ts';

/** What a minion may ask for; larger ones cost more than they save. */
export const mostChunkBytes = 2 << 20;
export const leastChunkBytes = 1 << 16;
/** Files up to this size go along with the answer that says what they are. */
export const mostBytesAlong = 1 << 16;
/** Most bytes on their way to all minions together, when each of them has this many requests out. */
const mostUnderway = 512 << 20;
const requestsUnderway = 6;
/** A minion that asked for nothing this long has its file. */
const restMs = 2000;

/** Many minions at once get smaller chunks each: what waits in queues to slow ones must fit into memory. */
export class ChunkShare {
  /** By id, when it asked last; in that order. */
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
    // Powers of two: a size that changed voids what was asked for ahead.
    const power = 2 ** Math.floor(Math.log2(Math.max(1, share)));
    return Math.min(mostChunkBytes, Math.max(leastChunkBytes, power));
  }
}

/** Buffers that are used again; who finds none waits for one. */
export class ChunkBuffers {
  readonly #free: Buffer[] = [];
  readonly #waiting: ((buffer: Buffer) => void)[] = [];
  #made = 0;
  readonly #most: number;

  constructor(most = 4) {
    this.#most = most;
  }

  /** Runs `use` with a buffer, which is free again as soon as that has ended. */
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
