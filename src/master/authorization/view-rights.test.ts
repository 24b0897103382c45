import { describe, expect, it } from 'vitest';
import { newDict, type Value } from '../../base/codec/value.ts';
import { readRules } from './rules.ts';
import { ViewRights } from './view-rights.ts';

const ids: Readonly<Record<string, string[]>> = {
  'web*': ['web1', 'web2'],
  db1: ['db1'],
  '*': ['web1', 'web2', 'db1'],
};
const targets = {
  match: (expression: string | readonly string[]) => ({
    matched: ids[String(expression)] ?? [],
    unknown: [],
    target: { type: 'glob' as const, pattern: String(expression) },
  }),
};
const rights = (rules: Value, operator = false): ViewRights =>
  new ViewRights({ rules: readRules(rules), operator, targets: targets as never });
const call = (fun: string) => [{ fun, args: [], kwargs: newDict() }];

describe('what a caller may look at', () => {
  it('is everything for operators and for those with all three rules', () => {
    expect(rights([], true).everything).toBe(true);
    expect(rights(['.*', '@runner', '@wheel']).everything).toBe(true);
    for (const less of [['.*'], ['.*', '@runner'], [{ '*': ['.*'] }, '@runner', '@wheel'], []])
      expect(rights(less).everything).toBe(false);
  });

  it('is the minions that some rule is about', () => {
    const limited = rights([{ 'web*': ['test.ping'] }, '@jobs', { '@wheel': ['key.list_all'] }]);
    expect(['web1', 'db1'].map((id) => limited.covers(id))).toEqual([true, false]);
    expect(limited.mayRun(call('test.ping'), ['web1', 'web2'])).toBe(true);
    expect(limited.mayRun(call('test.ping'), ['web1', 'db1'])).toBe(false);
    expect(limited.mayRun(call('cmd.run'), ['web1'])).toBe(false);
    expect(limited.mayRun(call('test.ping'), [])).toBe(false);
    expect([limited.reach('test.ping'), limited.reach('cmd.run')]).toEqual(['some', 'none']);
    expect([limited.mayCall('runners', 'jobs.list_jobs'), limited.seesKeys, limited.operates]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('is nothing with rules about runners only', () => {
    const none = rights(['@runner']);
    expect([none.coversAll, none.covers('web1'), none.reach('test.ping')]).toEqual([false, false, 'none']);
  });
});
