// Who fails to log in too often has to wait, longer each time; others do not.
import { expect, it } from 'vitest';
import { type Counted, Throttle } from './throttle.ts';

const some: Counted[] = [{ key: 'fred', most: 3 }];
const other: Counted[] = [{ key: 'ann', most: 3 }];

it('lets wait after too many failures in a minute, twice as long each time, up to a quarter of an hour', () => {
  let now = 0;
  const throttle = new Throttle(() => now);
  for (let at = 0; at < 2; at++) throttle.failed(some);
  expect(throttle.waitOf(some)).toBe(0);
  const waits: number[] = [];
  for (let at = 0; at < 10; at++) {
    throttle.failed(some);
    waits.push(throttle.waitOf(some));
    expect(throttle.waitOf(other)).toBe(0);
    now += throttle.waitOf(some);
  }
  expect(waits.slice(0, 3)).toEqual([5_000, 10_000, 20_000]);
  expect(waits.at(-1)).toBe(900_000);
  now += 900_001;
  throttle.failed(some);
  expect(throttle.waitOf(some)).toBe(0);
});

it('forgets after a success, and failures that are long ago', () => {
  let now = 0;
  const throttle = new Throttle(() => now);
  for (let at = 0; at < 3; at++) throttle.failed(some);
  throttle.succeeded(some);
  expect(throttle.waitOf(some)).toBe(0);
  for (let at = 0; at < 2; at++) throttle.failed(some);
  now += 61_000;
  throttle.failed(some);
  expect(throttle.waitOf(some)).toBe(0);
});

it('does not grow without limit', () => {
  const throttle = new Throttle(() => 0);
  for (let at = 0; at < 50_000; at++) throttle.failed([{ key: `user ${at}`, most: 3 }]);
  expect(throttle.size).toBe(20_000);
});
