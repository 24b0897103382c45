import { describe, expect, it } from 'vitest';
import { ConcurrencyLimit } from './concurrency-limit.ts';

describe('a lane', () => {
  it('runs a limited number at a time, in order, also after one fails', async () => {
    const lane = new ConcurrencyLimit(2, 60_000);
    const log: string[] = [];
    const ends: (() => void)[] = [];
    const work = (name: string): Promise<void> =>
      lane.run(async () => {
        log.push(name);
        await new Promise<void>((resolve) => ends.push(resolve));
        if (name === 'a') throw new Error('failed');
      });
    const all = Promise.allSettled(['a', 'b', 'c', 'd'].map(work));
    expect(log).toEqual(['a', 'b']);
    ends[0]?.();
    await expect.poll(() => log).toEqual(['a', 'b', 'c']);
    ends[1]?.();
    await expect.poll(() => log).toEqual(['a', 'b', 'c', 'd']);
    for (const end of ends) end();
    expect((await all).map((each) => each.status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
  });

  it('does not wait without end for one that never finishes', async () => {
    const lane = new ConcurrencyLimit(1, 10);
    void lane.run(() => new Promise(() => {}));
    expect(await lane.run(async () => 'next')).toBe('next');
  });
});
