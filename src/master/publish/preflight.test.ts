// Shares as operators write them, and the summary line.
import { describe, expect, it } from 'vitest';
import { newDict } from '../../base/codec/value.ts';
import { type PreflightClass, preflightClasses, preflightText, requiredCount } from './preflight.ts';

describe('requiredCount', () => {
  it.each([
    ['98%', 100, 98],
    ['98%', 50, 49],
    ['98%', 10, 10],
    ['98%', 4, 4],
    ['66.7%', 3, 3],
    ['66%', 3, 2],
    ['0%', 5, 0],
    ['100%', 0, 0],
    ['12', 5, 12],
    [' 3 ', 5, 3],
  ])('reads %s of %i as %i', (text, total, needed) => {
    expect(requiredCount(text, total)).toBe(needed);
  });

  it.each(['', 'most', '101%', '-5', '98 percent', '%'])('refuses %j', (text) => {
    expect(() => requiredCount(text, 10)).toThrow(/Invalid share/);
  });
});

describe('preflightText', () => {
  const classes = (given: Partial<Record<PreflightClass, Record<string, string>>>) =>
    Object.fromEntries(preflightClasses.map((name) => [name, newDict(Object.entries(given[name] ?? {}))])) as never;

  it('counts every class with minions, and lists those with a problem', () => {
    const text = preflightText(
      classes({ connected: { a: '', b: '' }, away: { c: 'gone' }, too_old: { d: 'old' }, not_evaluated: { e: '' } }),
    );
    expect(text).toBe('5 minions: 2 connected, 1 away (c: gone), 1 too old (d: old), 1 not evaluated (e)');
  });

  it('truncates long lists and groups digits', () => {
    const away = Object.fromEntries(Array.from({ length: 1200 }, (_, at) => [`m${at}`, '']));
    expect(preflightText(classes({ away }))).toBe('1,200 minions: 1,200 away (m0; m1; m2; m3; m4 and 1,195 more)');
    expect(preflightText(classes({ connected: { a: '' } }))).toBe('1 minion: 1 connected');
  });
});
