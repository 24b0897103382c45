// Bounded expressions: the same results as Python and JavaScript, and bounded time for every hostile expression.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HaliteError } from '../errors/index.ts';
import { boundedRegex } from './bounded-regex.ts';
import { Budget, CostError } from './budget.ts';
import { matchesWhole, pyRegex, pyRegexFull, pyRegexSearch } from './pyregex.ts';

function load<T>(name: string): T {
  const url = new URL(`../../../test/fixtures/python-match/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8')) as T;
}

describe('answers', () => {
  type Groups = (string | null)[] | null;
  const cases = load<[string, [string, Groups, Groups, Groups][] | null][]>('regex');
  it(`are Python's for ${cases.length} expressions`, () => {
    for (const [pattern, results] of cases) {
      if (results === null) {
        expect(() => boundedRegex(pattern), pattern).toThrow(HaliteError);
        continue;
      }
      for (const [text, ...expected] of results) {
        const seen = (['match', 'search', 'full'] as const).map((form) => boundedRegex(pattern, form).test(text));
        expect([pattern, text, seen]).toEqual([pattern, text, expected.map((groups) => groups !== null)]);
      }
    }
  });

  const random = load<[string, string[], string | null][]>('regex-random');
  it(`are Python's for ${random.length} random expressions`, () => {
    expect(random.length).toBeGreaterThan(2000);
    const wrong: unknown[] = [];
    for (const [pattern, texts, expected] of random) {
      const seen = answersOf(pattern, texts);
      if (seen !== expected) wrong.push([pattern, texts, seen, expected]);
    }
    expect(wrong).toEqual([]);
  });

  it('are those of JavaScript for generated expressions', () => {
    const text = fc.string({ unit: fc.constantFrom(...'abA1\n é'), maxLength: 8 });
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'aabbA1(()|*+?.^$[]\\wb{1,2}=!:') }),
        text,
        (pattern, subject) => {
          let expected: boolean[];
          try {
            expected = [pyRegex(pattern), pyRegexSearch(pattern), pyRegexFull(pattern)].map((each) =>
              each.test(subject),
            );
          } catch {
            return;
          }
          const seen = (['match', 'search', 'full'] as const).map((form) => boundedRegex(pattern, form).test(subject));
          expect([pattern, subject, seen]).toEqual([pattern, subject, expected]);
        },
      ),
      { numRuns: 3000 },
    );
  });
});

/** For each text three digits: match, search, fullmatch; null for an invalid expression. */
function answersOf(pattern: string, texts: readonly string[]): string | null {
  try {
    const forms = (['match', 'search', 'full'] as const).map((form) => boundedRegex(pattern, form));
    return texts.map((text) => forms.map((form) => Number(form.test(text))).join('')).join(' ');
  } catch (error) {
    if (error instanceof CostError) throw error;
    return null;
  }
}

describe('hostile expressions', () => {
  const long = `${'a'.repeat(5000)}b`;
  it.each([
    '^(a+)+$',
    '(?:[^!]+)+!',
    '([^!]+)+!',
    '(a|aa)+!',
    '(a|a)*!',
    '(.*a){20}!',
    '(.*)(.*)(.*)(.*)(.*)(.*)!',
    `${'a?'.repeat(200)}${'a'.repeat(200)}!`,
    '(a*)*(a*)*!',
    '(a|b)*a(a|b){300}!',
    '(?=(a+)+!)a',
    '(?!(a+)+!)(a+)+!',
    '\\b(a+ ?)+\\b!',
  ])('%s ends with a result', (pattern) => {
    const budget = new Budget(60_000_000);
    expect(boundedRegex(pattern).test(long, budget)).toBe(false);
    expect(boundedRegex(pattern, 'search').test(long, budget)).toBe(false);
  });

  it.each(['(a*)*\\1!', '(a+)+\\1(a+)+\\2!', '((a*)(a*)(a*)(a*))\\2\\3\\4\\5!', '(?=(a*)(a*))(a*)\\1\\2\\3!'])(
    '%s ends with an error that names it',
    (pattern) => {
      expect(() => boundedRegex(pattern, 'search').test(long)).toThrow(CostError);
      expect(() => boundedRegex(pattern, 'search').test(long)).toThrow(pattern.replace(/\\/g, '\\\\'));
      expect(() => matchesWhole(long, pattern)).toThrow(CostError);
    },
  );

  it.each(['(?>a*)+!', '(?:a{0,50}){0,50}!'])('%s costs no more than its length allows', (pattern) => {
    expect(() => boundedRegex(pattern, 'search').test(long)).toThrow(CostError);
    expect(boundedRegex(pattern, 'search').test(long.slice(0, 60), new Budget(60_000_000))).toBe(false);
  });

  it.each([
    '((a{100}){100}){100}',
    'a{0,4000000000}',
    '(){4000000000}a',
    '(?:){1,99999}',
    '('.repeat(200),
    '(a{5000}){5}',
  ])('%s is refused or accepted without being expanded', (pattern) => {
    const taken = pattern.startsWith('()') || pattern.startsWith('(?:)');
    if (taken) expect(boundedRegex(pattern).test('a')).toBe(true);
    else expect(() => boundedRegex(pattern)).toThrow(HaliteError);
  });

  it('distinguishes an exhausted part from an exhausted whole budget', () => {
    const whole = (steps: number, part: number): boolean | undefined => {
      const budget = new Budget(steps);
      budget.startPart(part);
      try {
        boundedRegex('b', 'search').test(long, budget);
        return undefined;
      } catch (error) {
        return (error as CostError).whole;
      }
    };
    expect(whole(100_000, 10)).toBe(false);
    expect(whole(10, 100_000)).toBe(true);
    expect(whole(100_000, 100_000)).toBeUndefined();
  });
});
