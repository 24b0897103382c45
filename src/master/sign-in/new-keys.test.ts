import { describe, expect, it } from 'vitest';
import { NewKeys } from './new-keys.ts';

function limits(max_pending_keys: number, there = 0) {
  const clock = { now: 1_000_000, there };
  const keys = new NewKeys({ count: () => clock.there }, { max_pending_keys }, () => clock.now);
  const stored = (times: number, peer: string): number => {
    let count = 0;
    for (let n = 0; n < times; n++) if (keys.refusal('pending', peer) === undefined) count++;
    clock.there += count;
    return count;
  };
  return { clock, keys, stored };
}

describe('keys of unknown ids', () => {
  it('are stored up to the limit, and again when there is space', () => {
    const { clock, keys, stored } = limits(100);
    expect(stored(150, 'zeromq')).toBe(100);
    expect(keys.refusal('pending', 'zeromq')).toMatch(/100 pending keys .*max_pending_keys.*salt-key/);
    clock.there = 20;
    clock.now += 1000;
    expect(stored(150, 'zeromq')).toBe(80);
  });

  it('are stored at a limited rate, with retries for all others', () => {
    const { clock, stored } = limits(0);
    expect(stored(10_000, 'zeromq')).toBe(2000);
    let all = 2000;
    let seconds = 0;
    for (; all < 10_000; seconds += 10) {
      clock.now += 10_000;
      all += stored(10_000 - all, 'zeromq');
    }
    expect(seconds).toBeLessThanOrEqual(180);
  });

  it('of one address leave space for others', () => {
    const { clock, stored } = limits(1000);
    let one = stored(5000, 'tcp://192.0.2.1:1111');
    for (let n = 0; n < 100; n++) {
      clock.now += 10_000;
      one += stored(5000, `tcp://192.0.2.1:${2000 + n}`);
    }
    expect(one).toBe(500);
    expect(stored(100, 'tcp://192.0.2.2:1111')).toBe(100);
  });

  it('are limited for one address at once', () => {
    const { stored } = limits(0);
    expect(stored(5000, 'tcp://192.0.2.1:1111')).toBe(500);
    expect(stored(10, 'tcp://[2001:db8::1]:1111')).toBe(10);
  });

  it('are not more with names that a peer invents, or from other addresses of its network', () => {
    const { stored } = limits(0);
    for (let n = 0; n < 100; n++) stored(10, `tcp://192.0.2.1:1111 name${n}:${n}`);
    expect(stored(10, 'tcp://192.0.2.1:1112 other:1')).toBe(0);
    for (let n = 0; n < 100; n++) stored(10, `tcp://[2001:db8::${n}]:1111`);
    expect(stored(10, 'tcp://[2001:db8::ffff]:1')).toBe(0);
    expect(stored(10, 'tcp://[2001:db8:0:1::1]:1')).toBe(10);
    for (let n = 0; n < 60; n++) stored(10, 'tcp://[::ffff:192.0.2.7]:1');
    expect(stored(10, 'tcp://[::ffff:192.0.2.8]:1')).toBe(10);
  });
});
