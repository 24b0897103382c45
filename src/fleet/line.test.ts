import { expect, it } from 'vitest';
import { Line } from './line.ts';

it('gives in order, takes back what could not be sent, and forgets what is removed', () => {
  const line = new Line<number>();
  for (let n = 0; n < 5000; n++) line.push(n);
  const taken = Array.from({ length: 3000 }, () => line.take());
  expect(taken).toEqual(Array.from({ length: 3000 }, (_, n) => n));
  line.putFirst(2999);
  expect(line.length).toBe(2001);
  expect(line.take()).toBe(2999);
  expect(line.remove((n) => n % 2 === 1)).toHaveLength(1000);
  expect([line.take(), line.take(), line.length]).toEqual([3000, 3002, 998]);
  while (line.length > 0) line.take();
  expect(line.take()).toBeUndefined();
  line.putFirst(1);
  expect([line.length, line.take()]).toEqual([1, 1]);
});
