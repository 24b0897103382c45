// Work grows with the number of states, not with its square.
import { describe, expect, it } from 'vitest';
import { isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { TestMinion } from './testing.ts';

type Link = (at: number, count: number) => Value[];

function chain(count: number, link: Link, slsOf: (at: number) => string): PlainDict {
  const high = newDict();
  for (let at = 0; at < count; at++) {
    const args: Value[] = ['nop', newDict([['order', 10_000 + at]]), ...link(at, count)];
    high[`s${at}`] = newDict([
      ['test', args],
      ['__sls__', slsOf(at)],
      ['__env__', 'base'],
    ]);
  }
  return high;
}

const requires = (id: number): Value => newDict([['require', [newDict([['test', `s${id}`]])]]]);
const forward: Link = (at) => (at > 0 ? [requires(at - 1)] : []);
const backward: Link = (at, count) => (at + 1 < count ? [requires(at + 1)] : []);
const byIn: Link = (at, count) =>
  at + 1 < count ? [newDict([['require_in', [newDict([['test', `s${at + 1}`]])]]])] : [];

/** Processor time, not time on the clock: the machine may be busy with other things. */
async function seconds(count: number, link: Link, slsOf: (at: number) => string = () => 'chain'): Promise<number> {
  const minion = new TestMinion({ files: {} });
  const run = await minion.open();
  const high = chain(count, link, slsOf);
  const start = process.cpuUsage();
  const applied = await run.high(high);
  const used = process.cpuUsage(start);
  const took = (used.user + used.system) / 1e6;
  expect(applied.retcode).toBe(0);
  expect(isDict(applied.return) && Object.keys(applied.return).length).toBe(count);
  minion.remove();
  return took;
}

describe.each([
  ['forward', forward],
  ['backward', backward],
  ['with require_in', byIn],
] as const)('a chain of requisites, %s', (_name, link) => {
  it('takes four thousand states in proportion to one thousand', async () => {
    await seconds(200, link);
    const thousand = await seconds(1000, link);
    const fourThousand = await seconds(4000, link);
    expect(thousand).toBeLessThan(1);
    expect(fourThousand).toBeLessThan(Math.max(1, thousand * 10));
  });
});

it('takes seven hundred states that each require an SLS of as many', async () => {
  const half = 700;
  const link: Link = (at) => (at >= half ? [newDict([['require', [newDict([['sls', 'one']])]]])] : []);
  expect(await seconds(half * 2, link, (at) => (at < half ? 'one' : 'two'))).toBeLessThan(2);
});
