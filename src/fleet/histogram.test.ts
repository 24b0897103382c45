import { describe, expect, it } from 'vitest';
import { Histogram } from './histogram.ts';

describe('latencies', () => {
  it('are within two percent of the exact percentiles', () => {
    const histogram = new Histogram();
    for (let n = 1; n <= 10_000; n++) histogram.add(n / 10);
    const { count, p50, p99, p999, max, mean } = histogram.percentiles();
    expect([count, max]).toEqual([10_000, 1000]);
    expect(mean).toBeCloseTo(500.05, 2);
    for (const [found, exact] of [
      [p50, 500],
      [p99, 990],
      [p999, 999],
    ] as const)
      expect(Math.abs(found - exact) / exact).toBeLessThan(0.021);
  });

  it('of several processes add up to those of one', () => {
    const [one, a, b] = [new Histogram(), new Histogram(), new Histogram()];
    for (let n = 0; n < 1000; n++) {
      one.add(n * 3.7);
      (n % 3 === 0 ? a : b).add(n * 3.7);
    }
    expect(new Histogram().merge(a.packed()).merge(b.packed()).percentiles()).toEqual(one.percentiles());
  });

  it('of nothing, of nothing measurable and of an hour', () => {
    expect(new Histogram().percentiles()).toEqual({ count: 0, mean: 0, p50: 0, p99: 0, p999: 0, max: 0 });
    const histogram = new Histogram();
    histogram.add(0);
    histogram.add(3_600_000);
    expect(histogram.percentiles()).toMatchObject({ count: 2, p50: 0.01, max: 3_600_000, p999: 3_600_000 });
  });
});
