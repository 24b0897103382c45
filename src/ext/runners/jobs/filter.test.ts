// The filters of jobs.list_jobs, with what Salt 3006.27 answers for the same arguments.

import { dictOf, type Value } from 'halite/sdk';
import { jidRange, jobTest, traitsOf } from 'halite/sdk/jobs';
import { describe, expect, it } from 'vitest';
import { filterOf, when, words } from './filter.ts';

const none: { functions: Value; targets: Value; metadata: Value } = { functions: null, targets: null, metadata: null };
const now = new Date(2026, 0, 31, 9, 30);

function found(given: Partial<typeof none>, load: [string, Value][]): boolean {
  const filter = filterOf({ ...none, ...given });
  return filter !== undefined && jobTest(filter)(traitsOf(dictOf(load)));
}

describe('filters of jobs.list_jobs', () => {
  it('accepts lists and texts with commas and spaces, and ignores empty values', () => {
    expect(words('test.*, pkg.install')).toEqual(['test.*', 'pkg.install']);
    expect(words(['a, b'])).toEqual(['a, b']);
    for (const empty of [null, '', [], 0, false]) expect(words(empty)).toBeUndefined();
    expect(filterOf({ ...none, metadata: dictOf([]) })).toEqual({});
  });

  it('finds no job by metadata that is not a map', () => {
    expect(filterOf({ ...none, metadata: 'role' })).toBeUndefined();
  });

  it('requires one equal pair of metadata, equal as in Python', () => {
    const load = (metadata: Value): [string, Value][] => [
      ['fun', 'test.ping'],
      ['tgt', 'web1'],
      ['metadata', metadata],
    ];
    const wanted = dictOf([
      ['a', 1],
      [
        'b',
        dictOf([
          ['x', 1],
          ['y', 2],
        ]),
      ],
    ]);
    expect(found({ metadata: wanted }, load(dictOf([['a', true]])))).toBe(true);
    expect(
      found(
        { metadata: wanted },
        load(
          dictOf([
            [
              'b',
              dictOf([
                ['y', 2],
                ['x', 1],
              ]),
            ],
          ]),
        ),
      ),
    ).toBe(true);
    expect(found({ metadata: wanted }, load(dictOf([['a', '1']])))).toBe(false);
    expect(found({ metadata: dictOf([['c', null]]) }, load(dictOf([['a', 1]])))).toBe(false);
    expect(found({ metadata: dictOf([['c', null]]) }, load(dictOf([['c', null]])))).toBe(true);
    expect(found({ metadata: wanted }, load('a'))).toBe(false);
  });

  it('matches the function, and any target of a list, with globs', () => {
    const load: [string, Value][] = [
      ['fun', 'state.apply'],
      ['tgt', ['web1', 'db1']],
    ];
    expect(found({ functions: 'test.*,state.*' }, load)).toBe(true);
    expect(found({ functions: 'state' }, load)).toBe(false);
    expect(found({ targets: 'db*' }, load)).toBe(true);
    expect(
      found({ targets: 'web1,db1' }, [
        ['fun', 'x'],
        ['tgt', 'db1'],
      ]),
    ).toBe(true);
    expect(found({ targets: 'web2' }, load)).toBe(false);
  });

  it.each([
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31 12:00', '2026-01-31T12:00:00.000Z'],
    ['2015, Mar 16 19:00', '2015-03-16T19:00:00.000Z'],
    ['2026, Jan 31 08:01:02.003999', '2026-01-31T08:01:02.003Z'],
    ['Jan 5', '2026-01-05T00:00:00.000Z'],
    ['2026-01-31T12:00:00+02:00', '2026-01-31T10:00:00.000Z'],
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
  ])('reads %s in the time of job ids', (text, wanted) => {
    expect(when(text, 'start_time', now)?.toISOString()).toBe(wanted);
  });

  it('reports an invalid time', () => {
    expect(() => when('whenever', 'end_time')).toThrow('end_time is not a time: whenever');
  });

  it('includes both ends of the time range', () => {
    const at = when('2026, Jan 31 08:01:02.003999', 'end_time', now)!;
    const [from, to] = jidRange({ startAfter: at, startBefore: at });
    for (const jid of ['20260131080102003999', '20260131080102003999_4711']) {
      expect(jid >= from && jid <= to).toBe(true);
    }
    expect('20260131080102004000' <= to).toBe(false);
    expect('20260131080102002999' >= from).toBe(false);
  });
});
