// Rules of several states set at once (`aggregate: true`).
import { newDict, type PlainDict, type StateContext } from 'halite/sdk';
import { applyState } from 'halite/testing';
import { describe, expect, it } from 'vitest';
import iptables from './index.ts';

const chunk = (id: string, more: Record<string, string | number> = {}): PlainDict =>
  newDict(Object.entries({ state: 'iptables', fun: 'append', __id__: id, name: id, chain: 'INPUT', ...more }));

describe('aggregated rules', () => {
  it('are those of the first state and of all later ones that have not run', async () => {
    const [one, two, three, other] = [chunk('one'), chunk('two'), chunk('three'), chunk('four', { fun: 'insert' })];
    const running = { 'iptables_|-three_|-three_|-append': newDict() };
    const chunks = [one, two, three, other] as PlainDict[];
    const low = await iptables.modAggregate?.(one as PlainDict, chunks, running, {} as StateContext);
    expect(((low?.['rules'] ?? []) as PlainDict[]).map((rule) => rule['name'])).toEqual(['one', 'two']);
    expect(two?.['__agg__']).toBe(true);
    expect(other?.['__agg__']).toBeUndefined();
  });

  it('fail when one of them fails', async () => {
    const results = [false, true];
    const calls = {
      'iptables.build_rule': () => 'x',
      'iptables.check': () => false,
      'iptables.append': () => results.shift() ?? true,
    };
    const rules = [chunk('one'), chunk('two')];
    const done = await applyState({ states: [iptables], modules: [], calls }, 'iptables.append', {
      name: 'many',
      rules,
    });
    expect([done.result, JSON.parse(JSON.stringify(done.changes))]).toEqual([false, { locale: ['two'] }]);
  });
});
