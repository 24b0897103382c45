import { describe, expect, it } from 'vitest';
import { noteClock } from './clock.ts';

const at = 1_790_000_000_000;
function seen(...requests: readonly (readonly [sentAt: number, receivedAt: number])[]): number | undefined {
  const record = { skewSeconds: undefined as number | undefined, skewAt: 0 };
  for (const [sentAt, receivedAt] of requests) noteClock(record, at / 1000 + sentAt, at + receivedAt * 1000);
  return record.skewSeconds;
}

describe('the clock of a minion', () => {
  it('is not behind because a request was late', () => {
    expect(seen([0, 1], [10, 70])).toBe(-1);
    expect(seen([0, 60], [61, 62])).toBe(-1);
  });
  it('is behind or ahead when every request says so', () => {
    expect(seen([-40, 0], [-30, 11], [-20, 70])).toBe(-40);
    expect(seen([40, 0], [50, 40], [90, 51])).toBe(40);
  });
  it('is right again two minutes after it was corrected', () => {
    expect(seen([40, 0], [10, 10], [119, 119])).toBe(40);
    expect(seen([40, 0], [10, 10], [120, 121])).toBe(-1);
    expect(seen([-40, 0], [10, 10.5])).toBe(-0.5);
  });
});
