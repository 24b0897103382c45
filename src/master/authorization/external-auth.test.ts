// Which entries of `external_auth` apply to whom.
import { describe, expect, it } from 'vitest';
import { newDict, type Value } from '../../base/codec/value.ts';
import { blockOf, configuredRules, parametersOf } from './external-auth.ts';
import { isBlacklisted } from './publisher-acl.ts';

const block = newDict(
  Object.entries({
    '^filename': '/etc/users',
    fred: ['own'],
    'steve|admin.*': ['by expression'],
    'web?': ['by glob'],
    'ops%': ['of a group'],
    'dev.*%': ['of a kind of group'],
    '*': ['of everybody'],
  } satisfies Record<string, Value>),
);
const rules = (name: string, groups: string[] = [], permissive = false): Value[] =>
  configuredRules(block, { name, groups }, permissive);

describe('external_auth', () => {
  it.each<[string, string[], Value[]]>([
    ['fred', [], ['own']],
    ['fred', ['ops'], ['own', 'of a group']],
    ['steve', [], ['by expression']],
    ['admin7', [], ['by expression']],
    ['stevens', [], ['of everybody']],
    ['web1', [], ['by glob']],
    ['ann', [], ['of everybody']],
    ['ann', ['ops'], ['of a group', 'of everybody']],
    ['ann', ['developers'], ['of a kind of group', 'of everybody']],
    ['ann', ['ops%'], ['of everybody']],
    // Whoever is named gets nothing as another one by writing the name differently.
    ['FRED', [], []],
    ['Fred', ['ops'], ['of a group']],
    // Names of users are never patterns, nor keys of another kind.
    ...['*', '.*', 'f*', 'fred|ann', 'fred%', 'ops%', 'ops', '^filename', ''].map(
      (name): [string, string[], Value[]] => [name, [], ['of everybody']],
    ),
  ])('%s in %j', (name, groups, expected) => {
    expect(rules(name, groups)).toEqual(expected);
  });

  it('adds the rules of everybody with permissive_acl', () => {
    expect(rules('fred', [], true)).toEqual(['own', 'of everybody']);
  });

  it('forbids names however they are written', () => {
    const blacklist = newDict([['users', ['mallory', 'Eve', 'bad.*']]]);
    for (const name of ['mallory', 'MALLORY', 'eve', 'BADGER', 'bad1'])
      expect(isBlacklisted(blacklist, name, []), name).toBe(true);
    for (const name of ['fred', 'mallory2']) expect(isBlacklisted(blacklist, name, []), name).toBe(false);
  });

  it('knows parameters and modules', () => {
    expect(parametersOf(block)).toEqual([['filename', '/etc/users']]);
    expect(blockOf(newDict([['file', block]]), 'file')).toBe(block);
    for (const name of ['', 'pam', '__proto__', 'toString'])
      expect(blockOf(newDict([['file', block]]), name), name).toBeUndefined();
    expect(blockOf(null, 'file')).toBeUndefined();
  });
});
