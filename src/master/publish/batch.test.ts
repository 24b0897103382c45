// Batch sizes as operators write them.
import { describe, expect, it } from 'vitest';
import { batchSize } from './batch.ts';

describe('batchSize', () => {
  it.each([
    ['1', 10, 1],
    ['5', 10, 5],
    ['50%', 3, 1],
    ['50%', 10, 5],
    ['1%', 10, 1],
    ['100%', 7, 7],
    ['33.4%', 3, 1],
  ])('reads %s of %i as %i', (text, total, size) => {
    expect(batchSize(text, total)).toBe(size);
  });

  it.each(['', '0', '-3', 'many', '10 percent', '%'])('refuses %j and names the expected form', (text) => {
    expect(() => batchSize(text, 10)).toThrow(/Invalid batch size/);
  });
});
