// Expensive targets and malicious minion data: refused, or limited to the one minion.
import { describe, expect, it } from 'vitest';
import { dictOf, newDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { Budget, CostError } from '../../base/util/budget.ts';
import { parseTarget, resolve, type Subject, targetBudget } from './index.ts';

const long = 'a'.repeat(5000);
const nested = (depth: number): Value =>
  Array.from({ length: depth }).reduce<Value>((value) => newDict([['a', value]]), 'end');
const honest: Subject = { id: 'm1', grains: newDict([['os', 'Debian']]), pillar: newDict() };

describe('sizes', () => {
  it.each<[string, Value, string]>([
    ['words', Array.from({ length: 10_001 }, () => 'm1').join(' or '), 'compound'],
    ['parentheses', `${'( '.repeat(201)}m1${' )'.repeat(201)}`, 'compound'],
    ['parts of a path', `${'a:'.repeat(300)}x`, 'grain'],
    ['characters of a glob', '*'.repeat(20_000), 'glob'],
    ['characters of an expression', 'a'.repeat(20_000), 'pcre'],
    ['repeats', '((a{99}){99}){99}', 'pcre'],
    ['ids', Array.from({ length: 100_001 }, (_, n) => `n${n}`), 'list'],
    ['ids in a text', Array.from({ length: 100_001 }, (_, n) => `n${n}`).join(), 'list'],
  ])('too many %s are refused', (_what, text, kind) => {
    expect(() => parseTarget(text as string, kind)).toThrow(HaliteError);
    const lenient = parseTarget(text as string, kind, { lenient: true });
    expect(resolve(lenient, [honest]).matched).toEqual([]);
  });

  it('gives a short reason for a target of any length', () => {
    for (const [text, kind] of [
      ['a'.repeat(500_000), 'grain'],
      [`${'x'.repeat(9000)} ${'y'.repeat(9000)}`, 'compound'],
      ['x', 'y'.repeat(100_000)],
    ] as const) {
      try {
        parseTarget(text, kind);
        expect.unreachable();
      } catch (error) {
        expect((error as Error).message.length).toBeLessThan(1000);
      }
    }
  });

  it('accepts targets for a large number of minions', () => {
    const ids = Array.from({ length: 50_000 }, (_, n) => `web${n}`);
    expect(resolve(parseTarget(ids, 'list'), [{ id: 'web49999' }]).matched).toEqual(['web49999']);
    const words = Array.from({ length: 9000 }, (_, n) => `web${n}`).join(' or ');
    expect(resolve(parseTarget(words, 'compound'), [{ id: 'web8999' }]).matched).toEqual(['web8999']);
  });
});

describe('data of one minion', () => {
  const deep = Array.from({ length: 20_000 }).reduce<Value>((value) => [value], 1);
  const odd: [string, Value][] = [
    ['deep', dictOf([['os', deep]])],
    ['long', newDict([['os', long.repeat(1000)]])],
    ['wide', newDict([['os', Array.from({ length: 100_000 }, () => newDict([['os', long]]))]])],
  ];
  it.each(odd)('that is too %s makes that one unknown, with the reason, and no other', (_what, grains) => {
    const fleet = [honest, { id: 'evil', grains: grains as never, pillar: newDict() }, { ...honest, id: 'm2' }];
    for (const text of ['P@os:(d|e.*)\\w+ and m*', 'not P@os:(x*)*\\1y and m*', 'G@os:*e*b?an']) {
      const { matched, unknown, failed } = resolve(parseTarget(text, 'compound'), fleet);
      expect([text, matched]).toEqual([text, ['m1', 'm2']]);
      if (unknown.length > 0) expect([[...(failed?.keys() ?? [])], unknown]).toEqual([['evil'], ['evil']]);
    }
  });

  it('cannot make a path cost more than its part of the budget', () => {
    const fleet = [{ id: 'evil', grains: newDict([['a', nested(60)]]) }, honest];
    const found = resolve(parseTarget(`${'a:'.repeat(55)}x`, 'grain'), fleet);
    expect(found.unknown).toEqual(['evil']);
    expect(found.failed?.get('evil')).toMatch(/too many steps/);
    expect(resolve(parseTarget('os:Debian', 'grain'), fleet)).toEqual({ matched: ['m1'], unknown: [] });
  });
});

describe('the cost of a whole request', () => {
  it('ends it with an error, never with fewer minions', () => {
    const fleet = Array.from({ length: 1000 }, (_, n): Subject => ({ id: `m${n}`, grains: newDict([['os', long]]) }));
    const target = parseTarget('os:a*', 'grain');
    expect(resolve(target, fleet, targetBudget(1000, true)).matched).toHaveLength(1000);
    expect(() => resolve(parseTarget('os:(x|y|a)*b', 'grain_pcre'), fleet, new Budget(1_000_000))).toThrow(CostError);
  });
});
