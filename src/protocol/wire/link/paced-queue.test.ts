// The queue of a publisher: order, pace and bounds.
import { describe, expect, it } from 'vitest';
import { eventually } from '../testing/eventually.ts';
import { PacedQueue } from './paced-queue.ts';

describe('PacedQueue', () => {
  it('keeps the order over targets and payloads', async () => {
    const sent: string[] = [];
    const queue = new PacedQueue<string>((target, payload) => sent.push(`${target}${payload[0]}`));
    queue.push(['a', 'b', 'c'], Uint8Array.of(1));
    expect(sent).toEqual(['a1']);
    queue.push([], Uint8Array.of(2));
    queue.push(['a'], Uint8Array.of(3));
    await eventually(() => sent.length === 4, 'all');
    expect(sent).toEqual(['a1', 'b1', 'c1', 'a3']);
  });

  it('yields to the event loop between portions of a burst', async () => {
    let turns = 0;
    const seenAt: number[] = [];
    const count = () => {
      turns += 1;
      if (seenAt.length < 100) setImmediate(count);
    };
    setImmediate(count);
    const queue = new PacedQueue<number>(() => {
      seenAt.push(turns);
      // Work that takes a millisecond each.
      for (const end = performance.now() + 1; performance.now() < end; );
    });
    for (let i = 0; i < 100; i++) queue.push([i], Uint8Array.of(1));
    await eventually(() => seenAt.length === 100, 'all');
    expect(new Set(seenAt).size).toBeGreaterThanOrEqual(9);
  });

  it('refuses items above its limit and continues', async () => {
    let sent = 0;
    const queue = new PacedQueue<number>(() => sent++);
    const big = new Uint8Array(300 * 1024 * 1024);
    queue.push([1, 2], big);
    expect(() => queue.push([1], big)).toThrow(/Too many publishes/);
    queue.flush();
    queue.push([1], big);
    await eventually(() => sent === 3, 'three');
  });
});
