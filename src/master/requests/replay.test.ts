// Encrypted requests are processed once, and a peer that repeats one legitimately gets its answer.
import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Value } from '../../base/codec/value.ts';
import { ReplayGuard } from './replay.ts';

const event = { id: 'm1', cmd: '_minion_event' };

/** Counts how often something was done. */
function work(answer: () => Value = () => null): { run: () => Promise<Value>; done: () => number } {
  let count = 0;
  return {
    run: async () => {
      count++;
      return answer();
    },
    done: () => count,
  };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('ReplayGuard', () => {
  it('processes the same bytes once and answers them each time', async () => {
    const guard = new ReplayGuard(() => 0);
    const sealed = randomBytes(64);
    const { run, done } = work(() => ({ jid: '1' }));
    const answers = [];
    for (let i = 0; i < 5; i++)
      answers.push(await guard.once({ id: 'm1', cmd: 'minion_pub' }, Buffer.from(sealed), run));
    expect(answers).toEqual(Array(5).fill({ jid: '1' }));
    expect(done()).toBe(1);
    await guard.once(event, randomBytes(64), run);
    expect(done()).toBe(2);
  });

  it.each([null, true, false])('answers %s with the same', async (value) => {
    const guard = new ReplayGuard(() => 0);
    const sealed = randomBytes(64);
    const { run } = work(() => value);
    for (let i = 0; i < 3; i++) expect(await guard.once(event, sealed, run)).toBe(value);
  });

  it('makes a repeated request wait for the first, and processes it when the first failed', async () => {
    const guard = new ReplayGuard(() => 0);
    const sealed = randomBytes(64);
    let fail = (_: Error): void => {};
    const first = guard.once(event, sealed, () => new Promise((_, reject) => (fail = reject)));
    const { run, done } = work();
    const second = guard.once(event, sealed, run);
    fail(new Error('the disk is full'));
    await expect(first).rejects.toThrow('full');
    await expect(second).rejects.toThrow('full');
    expect(done()).toBe(0);
    expect(await guard.once(event, sealed, run)).toBeNull();
    expect(done()).toBe(1);
  });

  it('answers read requests again, and reports which of them are repeated', async () => {
    const guard = new ReplayGuard(() => 0);
    const sealed = randomBytes(64);
    const { run, done } = work(() => 'data');
    for (let i = 0; i < 3; i++) await guard.once({ id: 'm1', cmd: '_serve_file' }, sealed, run);
    expect(done()).toBe(3);
    expect(guard.size).toBe(0);
    expect([1, 2, 3].map(() => guard.isRepeated({ id: 'm1' }, sealed))).toEqual([false, true, true]);
  });

  it('stores a digest as long as the master accepts the request, also with a clock that is ahead', async () => {
    vi.useFakeTimers();
    const guard = new ReplayGuard(() => 300);
    const { run, done } = work();
    const [punctual, ahead] = [randomBytes(64), randomBytes(64)];
    const ts = Math.floor(Date.now() / 1000);
    await guard.once({ ...event, id: 'm1', ts }, punctual, run);
    await guard.once({ ...event, id: 'm2', ts: ts + 3000 }, ahead, run);
    for (let minute = 1; minute <= 50; minute++) {
      vi.advanceTimersByTime(60_000);
      // Other requests follow, so that the memory is rotated.
      await guard.once({ ...event, id: 'm2', ts: ts + 3000 }, randomBytes(64), async () => null);
      if (minute < 5) await guard.once({ ...event, id: 'm1', ts }, punctual, run);
      await guard.once({ ...event, id: 'm2', ts: ts + 3000 }, ahead, run);
    }
    expect(done()).toBe(2);
  });

  it('has a limit for each minion, and one minion cannot displace the requests of others', async () => {
    const guard = new ReplayGuard(() => 0);
    const { run, done } = work();
    const sealed = randomBytes(64);
    await guard.once(event, sealed, run);
    for (let i = 0; i < 20_000; i++)
      await guard.once({ ...event, id: 'evil' }, randomBytes(32), async () => ({ n: i }));
    expect(guard.size).toBeLessThanOrEqual(4097);
    await guard.once(event, sealed, run);
    expect(done()).toBe(1);
  });

  it('drops minions that have long been silent', async () => {
    vi.useFakeTimers();
    const guard = new ReplayGuard(() => 0);
    for (let i = 0; i < 100; i++) await guard.once({ ...event, id: `m${i}` }, randomBytes(64), async () => null);
    expect(guard.size).toBe(100);
    vi.advanceTimersByTime(3 * 3_600_000);
    await guard.once({ ...event, id: 'late' }, randomBytes(64), async () => null);
    expect(guard.size).toBe(1);
  });
});
