// Which functions of the mine a minion may read according to the master's own rules.
import { describe, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { nullLogger } from '../../../base/log/index.ts';
import type { Sender } from '../sender.ts';
import { mineHandlers } from './mine.ts';

/** What `id` reads when it asks for two functions. */
function read(rules: Value | undefined, id = 'web1'): Value {
  const get = (_tgt: string, _kind: string, functions: readonly string[]): Map<string, PlainDict> =>
    new Map(functions.map((fun) => [fun, newDict([['db1', 1]])]));
  const raw: PlainDict = rules === undefined ? {} : { mine_get: rules };
  const unused = (): never => expect.fail('a query changes nothing');
  const mine = { get, put: unused, drop: unused, flush: unused };
  const load = newDict(Object.entries({ tgt: '*', fun: ['network.ip_addrs', 'disk.usage'] }));
  const sender: Sender = { id, trust: 'proven', version: 3, peer: '', transport: 'tcp' };
  return mineHandlers({ opts: { raw }, log: nullLogger(), mine })['_mine_get']!.run(load, sender) as Value;
}

describe('mine_get', () => {
  it('does not restrict the mine when it is not set', () => {
    expect(Object.keys(read(undefined) as PlainDict)).toEqual(['network.ip_addrs', 'disk.usage']);
  });
  it('grants functions by expressions for ids and names', () => {
    const rules = { 'web\\d': ['network\\..*'], 'db.*': ['.*'] };
    expect(Object.keys(read(rules) as PlainDict)).toEqual(['network.ip_addrs']);
    expect(Object.keys(read(rules, 'db1') as PlainDict)).toEqual(['network.ip_addrs', 'disk.usage']);
    expect(read(rules, 'other')).toEqual({});
  });
  it.each([{}, [], 'all', { 'web.*': 'network.ip_addrs' }, { '(': ['.*'] }])('grants nothing with %j', (rules) => {
    expect(read(rules as Value)).toEqual({});
  });
});
