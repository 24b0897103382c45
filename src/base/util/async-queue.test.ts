import { describe, expect, it } from 'vitest';
import { AsyncQueue } from './async-queue.ts';

async function all<T>(queue: AsyncQueue<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of queue) items.push(item);
  return items;
}

describe('an async queue', () => {
  it('delivers items in order, whether they are pushed before or after a reader waits', async () => {
    const queue = new AsyncQueue<number>();
    queue.push(1);
    const reading = all(queue);
    await Promise.resolve();
    for (const item of [2, 3, 4]) queue.push(item);
    queue.close();
    expect(await reading).toEqual([1, 2, 3, 4]);
  });

  it('accepts undefined and null as items', async () => {
    const queue = new AsyncQueue<unknown>();
    queue.push(undefined);
    queue.push(null);
    queue.close();
    expect(await all(queue)).toEqual([undefined, null]);
  });

  it('drops the oldest beyond its limit and counts them', async () => {
    const queue = new AsyncQueue<number>({ limit: 3 });
    for (let item = 0; item < 5000; item++) queue.push(item);
    queue.close();
    expect(queue.dropped).toBe(4997);
    expect(await all(queue)).toEqual([4997, 4998, 4999]);
  });

  it('throws its error once, after the queued items', async () => {
    const queue = new AsyncQueue<number>();
    queue.push(1);
    queue.fail(new Error('broken'));
    queue.push(2);
    expect(await queue.next()).toEqual({ done: false, value: 1 });
    await expect(queue.next()).rejects.toThrow('broken');
    expect(await queue.next()).toEqual({ done: true, value: undefined });
  });

  it('rejects waiting readers', async () => {
    const queue = new AsyncQueue<number>();
    const waiting = [queue.next(), queue.next()];
    queue.fail(new Error('broken'));
    for (const reader of waiting) await expect(reader).rejects.toThrow('broken');
  });

  it('calls back when an item is taken, and once when it is closed', async () => {
    const told: string[] = [];
    const queue = new AsyncQueue<number>({ onTake: () => told.push('take'), onClose: () => told.push('close') });
    const waiting = queue.next();
    queue.push(1);
    await waiting;
    queue.push(2);
    await queue.next();
    await queue.return();
    queue.close();
    expect(told).toEqual(['take', 'take', 'close']);
  });
});
