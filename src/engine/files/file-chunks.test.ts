// Sizes of chunks and the buffers they are read into.
import { describe, expect, it } from 'vitest';
import { ChunkBuffers, ChunkShare, mostChunkBytes } from './file-chunks.ts';

describe('the size of chunks', () => {
  it('shrinks with the number of minions that fetch, and grows again when they are done', () => {
    const share = new ChunkShare();
    expect(share.size('m0', 0)).toBe(mostChunkBytes);
    for (let n = 1; n < 200; n++) share.size(`m${n}`, 10);
    const crowded = share.size('m0', 20);
    expect(crowded).toBeLessThan(mostChunkBytes);
    expect(crowded * 6 * 200).toBeLessThanOrEqual(512 << 20);
    for (let n = 200; n < 5000; n++) share.size(`m${n}`, 30);
    expect(share.size('m0', 40)).toBe(1 << 16);
    expect(share.size('m0', 10_000)).toBe(mostChunkBytes);
  });

  it('does not change with every request', () => {
    const share = new ChunkShare();
    const sizes = new Set(Array.from({ length: 1000 }, (_, n) => share.size(`m${n}`, 0)));
    expect([...sizes]).toEqual([21, 20, 19, 18, 17, 16].map((power) => 2 ** power));
  });
});

describe('buffers', () => {
  it('are limited in number, and pass to the next waiter', async () => {
    const buffers = new ChunkBuffers(2);
    const seen = new Set<Buffer>();
    let inUse = 0;
    let most = 0;
    const use = async (buffer: Buffer): Promise<void> => {
      seen.add(buffer);
      most = Math.max(most, ++inUse);
      await new Promise(setImmediate);
      inUse--;
    };
    await Promise.all(Array.from({ length: 20 }, () => buffers.with(use)));
    expect([seen.size, most, inUse]).toEqual([2, 2, 0]);
  });

  it('are returned after a failure', async () => {
    const buffers = new ChunkBuffers(1);
    await expect(buffers.with(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await buffers.with(async () => 'yes')).toBe('yes');
  });
});
