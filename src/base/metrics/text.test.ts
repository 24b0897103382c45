// The text of metrics, as Prometheus reads it.
import { expect, it } from 'vitest';
import { Histogram, metricsText, Tally } from './index.ts';

it('escapes what would end a line or a value', () => {
  const samples = [{ labels: { reason: 'a"b\\c\nhalite_up 1' }, value: 1 }];
  expect(metricsText([{ name: 'x_total', type: 'counter', help: 'One\nline \\ "two"', samples }])).toBe(
    '# HELP x_total One\\nline \\\\ "two"\n# TYPE x_total counter\nx_total{reason="a\\"b\\\\c\\nhalite_up 1"} 1\n',
  );
});

it('leaves out a metric without samples, and writes special numbers in its own way', () => {
  const values = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, 1.5].map((value) => ({ value }));
  const text = metricsText([
    { name: 'none', type: 'gauge', help: '', samples: [] },
    { name: 'some', type: 'gauge', help: '', samples: values },
  ]);
  expect(text.split('\n').slice(2, -1)).toEqual(['some +Inf', 'some -Inf', 'some NaN', 'some 1.5']);
  expect(text).not.toContain('none');
});

it('counts words, and what comes after many of them as one', () => {
  const tally = new Tally<string>(['known']);
  for (let at = 0; at < 10_000; at++) tally.add(`word${at}`);
  tally.add('known');
  const samples = tally.samples('word');
  expect(samples.length).toBeLessThanOrEqual(201);
  expect(samples[0]).toEqual({ labels: { word: 'known' }, value: 1 });
  expect(samples.reduce((sum, { value }) => sum + value, 0)).toBe(10_001);
});

it('counts measurements in buckets that include the smaller ones', () => {
  const histogram = new Histogram([0.1, 1]);
  for (const value of [0.05, 0.1, 0.5, 7]) histogram.observe(value);
  expect(metricsText([{ name: 'h', type: 'histogram', help: 'h', samples: histogram.samples() }])).toContain(
    'h_bucket{le="0.1"} 2\nh_bucket{le="1"} 3\nh_bucket{le="+Inf"} 4\nh_sum 7.65\nh_count 4\n',
  );
});
