import { describe, expect, it } from 'vitest';
import { readJobQuery } from './job-query.ts';

const now = Date.UTC(2026, 10, 19, 12);

describe('the query of jobs', () => {
  it('has conditions that must all hold', () => {
    const { conditions, values, running, internal } = readJobQuery('fun=state.* and failed since 2d fred running', now);
    expect(conditions).toHaveLength(4);
    expect(values).toEqual(['state.*', now - 2 * 86_400_000, '%fred%', '%fred%', '%fred%', '%fred%']);
    expect([running, internal]).toEqual([true, false]);
  });

  it('reads times ago, times and job ids', () => {
    const at = (text: string): unknown => readJobQuery(`until ${text}`, now).values[0];
    expect(at('90s')).toBe(now - 90_000);
    expect(at('1w')).toBe(now - 7 * 86_400_000);
    expect(at('2026-11-19T10:00Z')).toBe(Date.UTC(2026, 10, 19, 10));
    expect(at('20261119100000000000')).toBeTypeOf('number');
  });

  it('keeps texts out of the SQL, and their signs out of the patterns', () => {
    const { conditions, values } = readJobQuery(`user=x'--;DROP 100%_\\`, now);
    expect(conditions.join(' ')).not.toContain('DROP');
    expect(values).toContain('%100\\%\\_\\\\%');
  });

  it.each([
    ...['since', 'since yesterday', 'until 5y', 'nothing=1', '__proto__=1', 'constructor=x', 'fun=*a*a*a*'],
    'a '.repeat(40),
  ])('refuses %j', (q) => {
    expect(() => readJobQuery(q, now)).toThrow();
  });

  it('takes names of properties as words', () => {
    for (const word of ['constructor', 'toString', '__proto__']) expect(readJobQuery(word, now).values).toHaveLength(4);
  });
});
