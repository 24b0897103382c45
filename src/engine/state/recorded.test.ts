// Low data, results and errors of many state trees, compared with those of Salt 3006.27 (test/fixtures/state).
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { asJson } from './testing.ts';
import { isException, lowOf, minionOf, type RecordedCase, resultsOf } from './testing-recorded.ts';

const folder = new URL('../../../test/fixtures/state/', import.meta.url);
const read = (name: string): RecordedCase[] =>
  readFileSync(new URL(name, folder), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RecordedCase);

function check(given: RecordedCase): void {
  const { low, run, test, top } = given.expected;
  it(`${given.name}: low data`, async () => {
    const found = await lowOf(given);
    if (isException(low)) expect(found).toBeInstanceOf(Array);
    else expect(found).toEqual(low);
  });
  it(`${given.name}: run`, async () => {
    const done = await resultsOf(given, false);
    if (isException(run)) return expect(done).toBeInstanceOf(Object);
    expect(done).toEqual(run);
    expect(Object.keys(done as object)).toEqual(Object.keys(run as object));
  });
  it(`${given.name}: test=True`, async () => {
    const done = await resultsOf(given, true);
    if (isException(test)) expect(done).toBeInstanceOf(Object);
    else expect(done).toEqual(test);
  });
  if (top === undefined || isException(top)) return;
  it(`${given.name}: top`, async () => {
    const minion = minionOf(given);
    expect(asJson((await (await minion.open()).show.top()).return)).toEqual(top);
    minion.remove();
  });
}

describe('hand-written trees', () => {
  for (const given of read('cases.jsonl')) check(given);
});

describe('random trees', () => {
  for (const given of read('random.jsonl')) check(given);
});
