// Random minions and expressions: our matcher compared with brute force, and published targets compared with the rules
// of 2015.5.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compound2015, matches2015 } from '../../../test/support/matcher-2015.ts';
import {
  bruteForce,
  fleets,
  type RandomMinion,
  type Tree,
  trees,
  written,
} from '../../../test/support/random-targets.ts';
import { type Dict, dictOf, type Value } from '../../base/codec/value.ts';
import { matches, parseTarget, publishForm, resolve, type Subject, type Target } from './index.ts';

const runs = { numRuns: 2000 };

function toDict(data: object): Dict {
  const value = (item: unknown): Value =>
    item !== null && typeof item === 'object' && !Array.isArray(item) ? toDict(item) : (item as Value);
  return dictOf(Object.entries(data).map(([key, item]) => [key, value(item)] as const));
}
const subjectOf = ({ id, grains, pillar }: RandomMinion): Subject => ({
  id,
  ...(grains ? { grains: toDict(grains) } : {}),
  ...(pillar ? { pillar: toDict(pillar) } : {}),
});
const word = { true: 'match', false: 'no-match', unknown: 'unknown' } as const;

/** Terms as an old minion evaluates them, by our own matcher for that one term. */
const letterKinds: Record<string, string> = {
  G: 'grain',
  P: 'grain_pcre',
  I: 'pillar',
  J: 'pillar_pcre',
  L: 'list',
  S: 'ipcidr',
  E: 'pcre',
  '': 'glob',
};
const termTest = (minion: RandomMinion) => (letter: string, pattern: string) =>
  matches(parseTarget(pattern, letterKinds[letter] ?? letter, { lenient: true }), subjectOf(minion)) === 'match';

/** In a nodegroup, words without operator, prefix and star are ids or an expression, not globs. */
const inGroup = trees.filter((tree) => /[ *]|@/.test(written(tree)));

describe('any expression over any fleet', () => {
  it('covers exactly those that brute force finds, and is unknown exactly where data is missing', () => {
    fc.assert(
      fc.property(fleets(), trees, (fleet, tree) => {
        const text = written(tree);
        const target = parseTarget(text, 'compound');
        const expected = fleet.map((minion) => word[String(bruteForce(tree, minion)) as keyof typeof word]);
        expect(fleet.map((minion) => matches(target, subjectOf(minion)))).toEqual(expected);
        const { matched, unknown } = resolve(target, fleet.map(subjectOf));
        expect(matched).toEqual(fleet.filter((_, at) => expected[at] === 'match').map(({ id }) => id));
        expect(unknown).toEqual(fleet.filter((_, at) => expected[at] === 'unknown').map(({ id }) => id));
      }),
      runs,
    );
  });

  it('means the same as a nodegroup, as a list of words, and inside another group', () => {
    fc.assert(
      fc.property(fleets(true), inGroup, (fleet, tree) => {
        const text = written(tree);
        const nodegroups = { g: text, words: text.split(' '), outer: 'not N@g', twice: ['N@g', 'or', 'N@words'] };
        const bits = (target: Target): boolean[] =>
          fleet.map((minion) => matches(target, subjectOf(minion)) === 'match');
        const expected = fleet.map((minion) => bruteForce(tree, minion) === true);
        const group = (name: string): boolean[] => bits(parseTarget(name, 'nodegroup', { nodegroups }));
        expect(group('g')).toEqual(expected);
        expect(group('words')).toEqual(expected);
        expect(group('twice')).toEqual(expected);
        expect(group('outer')).toEqual(expected.map((covered) => !covered));
        expect(bits(parseTarget('N@g and *', 'compound', { nodegroups }))).toEqual(expected);
      }),
      runs,
    );
  });
});

describe('the published target', () => {
  /** Custom delimiters with more than two levels have no form that 2015.5 reads. */
  const oldCanRead = (tree: Tree): boolean => !/[GPIJ][|%]@\S+[|%]\S+[|%]/.test(written(tree));

  it('means the same to a minion of 2015.5, as compound target and as nodegroup', () => {
    fc.assert(
      fc.property(fleets(true), inGroup.filter(oldCanRead), (fleet, tree) => {
        const text = written(tree);
        const nodegroups = { g: text, negated: `not N@g`, nested: `( N@negated ) or N@g` };
        const all = [
          [publishForm(parseTarget(text, 'compound')), (covered: boolean) => covered],
          [publishForm(parseTarget('g', 'nodegroup', { nodegroups })), (covered: boolean) => covered],
          [publishForm(parseTarget('negated', 'nodegroup', { nodegroups })), (covered: boolean) => !covered],
          [publishForm(parseTarget('nested', 'nodegroup', { nodegroups })), () => true],
        ] as const;
        for (const [form, meaning] of all) {
          expect(form.tgt_type).toBe('compound');
          for (const minion of fleet) {
            const covered = meaning(bruteForce(tree, minion) === true);
            expect([form.tgt, minion.id, matches2015(form, minion, termTest(minion))]).toEqual([
              form.tgt,
              minion.id,
              covered,
            ]);
          }
        }
      }),
      runs,
    );
  });

  it('is text for every kind but list, and never a kind that minions do not support', () => {
    const nodegroups = { ELK: 'L@web1,web2,', ids: ['web1', 'db1'], not: 'not web*' };
    const cases: [string | string[], string, object][] = [
      ['ELK', 'nodegroup', { tgt: 'L@web1,web2', tgt_type: 'compound' }],
      ['ids', 'nodegroup', { tgt: 'L@web1,db1', tgt_type: 'compound' }],
      ['not', 'nodegroup', { tgt: '( * and not web* )', tgt_type: 'compound' }],
      ['not web*', 'compound', { tgt: '* and not web*', tgt_type: 'compound' }],
      ['db* and ( not web* )', 'compound', { tgt: 'db* and ( * and not web* )', tgt_type: 'compound' }],
      ['web1,db1,', 'list', { tgt: ['web1', 'db1'], tgt_type: 'list' }],
      ['web*', 'glob', { tgt: 'web*', tgt_type: 'glob' }],
    ];
    for (const [expression, kind, form] of cases) {
      expect(publishForm(parseTarget(expression, kind, { nodegroups }))).toEqual(form);
      const published = publishForm(parseTarget(expression, kind, { nodegroups }));
      const hits = ['web1', 'web2', 'db1'].filter((id) => matches2015(published, { id }, termTest({ id })));
      expect(hits.length).toBeGreaterThan(0);
    }
  });

  it('would not reach 2015.5 in the forms that newer masters once used', () => {
    const test = termTest({ id: 'web1' });
    expect(compound2015(['L@web1,web2,'], test)).toBe(false);
    expect(compound2015('not db*', test)).toBe(false);
    expect(compound2015('web* and ( not db* )', test)).toBe(false);
    expect(compound2015('T@x or web1', test)).toBe(false);
    expect(compound2015('L@web1,web2,', test)).toBe(true);
    expect(compound2015('* and not db*', test)).toBe(true);
  });
});
