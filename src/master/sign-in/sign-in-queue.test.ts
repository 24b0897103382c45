// Who is served first, who is told to come back, and what is not done at all.
import { describe, expect, it } from 'vitest';
import type { Value } from '../../base/codec/value.ts';
import { type AskedSignIn, SignInQueue } from './sign-in-queue.ts';

/** A queue whose sign-ins end one after the other, each after `eachMs` of a clock of its own. */
function build(options: { width?: number; patienceMs?: number; stuckMs?: number } = {}) {
  let now = 1000;
  const begun: string[] = [];
  const counted: string[] = [];
  const ends = new Map<string, (value: Value) => void>();
  const queue = new SignInQueue({
    ...{ width: 1, patienceMs: 100, stuckMs: 60_000, ...options },
    counted: (what) => counted.push(what),
    now: () => now,
  });
  const ask = (name: string, more: Partial<AskedSignIn> = {}): Promise<Value | undefined> =>
    queue.run({
      isKnown: () => true,
      isGone: () => false,
      later: undefined,
      sign: () => {
        begun.push(name);
        return new Promise((resolve) => ends.set(name, resolve));
      },
      ...more,
    });
  const end = async (name: string, tookMs = 2): Promise<void> => {
    now += tookMs;
    ends.get(name)?.(name);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { queue, ask, end, begun, counted };
}

const later = (seconds: number): Value => seconds;
const stranger = { isKnown: () => false };

describe('sign-ins that wait', () => {
  it('run in order, a limited number at a time, also after one fails', async () => {
    const { ask, end, begun } = build({ width: 2 });
    const failing = ask('a', { sign: () => Promise.reject(new Error('no')) });
    const all = ['b', 'c', 'd'].map((name) => ask(name));
    await expect(failing).rejects.toThrow('no');
    expect(begun).toEqual(['b', 'c']);
    await end('b');
    expect(begun).toEqual(['b', 'c', 'd']);
    for (const name of ['c', 'd']) await end(name);
    expect(await Promise.all(all)).toEqual(['b', 'c', 'd']);
  });

  it('of known minions come first, and strangers get every fourth turn', async () => {
    const { ask, end, begun } = build();
    void ask('first');
    for (const name of ['s1', 's2']) void ask(name, stranger);
    for (const name of ['k1', 'k2', 'k3', 'k4', 'k5']) void ask(name);
    for (let i = 0; i < 7; i++) await end(begun.at(-1) ?? '');
    expect(begun[0]).toBe('first');
    expect(begun.filter((name) => name.startsWith('k'))).toEqual(['k1', 'k2', 'k3', 'k4', 'k5']);
    expect(begun.indexOf('s1')).toBeLessThanOrEqual(4);
    expect(begun).toContain('s2');
  });

  it('are skipped without any work when their peer has hung up', async () => {
    const { ask, end, begun, counted, queue } = build();
    void ask('a');
    const gone = [ask('b', { isGone: () => true }), ask('c', { isGone: () => true })];
    void ask('d');
    await end('a');
    expect(begun).toEqual(['a', 'd']);
    expect(await Promise.all(gone)).toEqual([undefined, undefined]);
    expect(counted).toEqual(['gone', 'gone']);
    await end('d');
    expect(queue.waiting).toBe(0);
    void ask('e');
    expect(begun.at(-1)).toBe('e');
  });

  it('do not wait without end for one that is stuck', async () => {
    const { ask, begun } = build({ stuckMs: 5 });
    void ask('stuck');
    void ask('next');
    await expect.poll(() => begun).toEqual(['stuck', 'next']);
  });
});

describe('sign-ins beyond what can be served in time', () => {
  it('are told to come back, each later than the one before, and no later than a minute', async () => {
    const { ask, counted, queue } = build({ patienceMs: 100 });
    void ask('busy');
    // At 2 ms each, 51 of them take longer than the patience.
    for (let i = 0; i < 51; i++) void ask(`w${i}`);
    const told: number[] = [];
    for (let i = 0; i < 40_000; i++) told.push(Number(await ask(`t${i}`, { later })));
    expect(queue.waiting).toBe(51);
    expect(told[0]).toBeGreaterThan(0.1);
    expect(told[0]).toBeLessThan(0.5);
    expect(told.every((seconds, at) => at === 0 || seconds >= (told[at - 1] ?? 0))).toBe(true);
    expect(told[20_000]).toBeGreaterThan(35);
    expect(told.at(-1)).toBe(60);
    expect(counted.filter((what) => what === 'busy')).toHaveLength(40_000);
  });

  it('wait when they understand no such answer', async () => {
    const { ask, counted, queue } = build({ patienceMs: 0 });
    void ask('busy');
    for (let i = 0; i < 10; i++) void ask(`w${i}`);
    expect(queue.waiting).toBe(10);
    expect(counted).toEqual([]);
  });

  it('depend on how long one takes on this machine', async () => {
    const { ask, end, begun } = build({ patienceMs: 1000 });
    void ask('a');
    for (let i = 0; i < 300; i++) void ask(`w${i}`);
    for (let i = 0; i < 200; i++) await end(begun.at(-1) ?? '', 50);
    // Some 100 wait, at about 50 ms each.
    const seconds = Number(await ask('told', { later }));
    expect(seconds).toBeGreaterThan(4);
    expect(seconds).toBeLessThan(7);
  });
});
