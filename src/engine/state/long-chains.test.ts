// Long chains of requisites: must neither overflow the stack nor take quadratic time.
import { describe, expect, it } from 'vitest';
import { isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { YamlTreeMinion } from './testing.ts';

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

async function apply(
  count: number,
  link: Link,
  slsOf: (at: number) => string = () => 'chain',
): Promise<{ retcode: Value; states: number }> {
  const minion = new YamlTreeMinion({ files: {} });
  try {
    const run = await minion.open();
    const { retcode, return: results } = await run.apply.high(chain(count, link, slsOf));
    return { retcode, states: isDict(results) ? Object.keys(results).length : 0 };
  } finally {
    minion.remove();
  }
}

// No time is measured; quadratic work would exceed the test's timeout.
describe.each([
  ['forward', forward],
  ['backward', backward],
  ['with require_in', byIn],
] as const)('a chain of requisites, %s', (_name, link) => {
  it('runs six thousand states', async () => {
    expect(await apply(6000, link)).toEqual({ retcode: 0, states: 6000 });
  });
});

it('runs seven hundred states that each require an SLS of as many', async () => {
  const half = 700;
  const link: Link = (at) => (at >= half ? [newDict([['require', [newDict([['sls', 'one']])]]])] : []);
  const applied = await apply(half * 2, link, (at) => (at < half ? 'one' : 'two'));
  expect(applied).toEqual({ retcode: 0, states: half * 2 });
});
