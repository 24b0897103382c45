// Every outputter against what Salt 3006.27 printed for the same data (test/fixtures/outputters).
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Outputter, Value } from 'halite/sdk';
import { type Tagged, untag } from 'halite/sdk/codec';
import { describe, expect, it } from 'vitest';
import highstate from './highstate.ts';
import json from './json.ts';
import key from './key.ts';
import nested from './nested.ts';
import newlineValuesOnly from './newline_values_only.ts';
import noReturn from './no_return.ts';
import pprint from './pprint.ts';
import profile from './profile.ts';
import progress from './progress.ts';
import quiet from './quiet.ts';
import raw from './raw.ts';
import table from './table.ts';
import txt from './txt.ts';
import yaml from './yaml.ts';

interface Recorded {
  out: string;
  data: Tagged;
  opts: [string, Tagged][];
  retcode?: number;
  text?: string;
  raises?: string;
}

const outputters: Record<string, Outputter> = Object.fromEntries(
  [highstate, json, key, nested, newlineValuesOnly, noReturn, pprint, profile, quiet, raw, table, txt, yaml].map(
    (outputter) => [outputter.name, outputter],
  ),
);
const file = new URL('../../../test/fixtures/outputters/recorded.json.gz', import.meta.url);
const recorded = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Recorded[];
// The base options of the recording.
const base = { state_verbose: true, state_output: 'full', state_output_profile: true, state_output_diff: false };

function render(sample: Recorded): string {
  const opts: Record<string, Value> = { ...base };
  for (const [name, value] of sample.opts) opts[name] = untag(value);
  const options = { color: opts['color'] === true, opts, retcode: sample.retcode ?? 0 };
  return String(outputters[sample.out]!.render(untag(sample.data), options));
}

describe.each(Object.keys(outputters))('%s', (name) => {
  const samples = recorded.filter((sample) => sample.out === name);
  it(`prints ${samples.length} samples as Salt does`, () => {
    expect(samples.length).toBeGreaterThan(20);
    for (const sample of samples) {
      const about = JSON.stringify([sample.data, sample.opts]);
      if (sample.raises) expect(() => render(sample), `${sample.raises} ${about}`).toThrow();
      else expect(render(sample), about).toBe(sample.text);
    }
  });
});

describe('progress', () => {
  const show = (data: Value) => progress.render(data, { color: false, opts: {} });
  it('draws the share that answered', () => {
    expect(show({ minion_count: 4, return_count: 1 })).toBe(` 25% |${'#'.repeat(10).padEnd(40)}| Returns: [1/4]`);
    expect(show({ minion_count: 1, return_count: 2 })).toContain('100%');
  });
  it('leaves other data alone', () => {
    expect(() => show({ web1: true })).toThrow();
    expect(() => show(true)).toThrow();
  });
});

describe('an indent that no terminal has', () => {
  it.each([Number.POSITIVE_INFINITY, 1e9, Number.NaN, Number.NEGATIVE_INFINITY])(
    '%s still gives the data',
    (indent) => {
      for (const outputter of [json, yaml, pprint]) {
        const text = String(outputter.render({ m1: { a: 1 } }, { color: false, opts: { output_indent: indent } }));
        expect(text.length, outputter.name).toBeLessThan(10_000);
        expect(text.replace(/\s/g, ''), outputter.name).toMatch(/m1.*a.*1/);
      }
    },
  );
});
