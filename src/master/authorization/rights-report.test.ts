// What the report says about rules that mean something else under Salt.
import { expect, it } from 'vitest';
import type { Value } from '../../base/codec/value.ts';
import { compareRights } from './rights-report.ts';

const functions = {
  modules: ['cmd.run', 'cmd.run_all', 'cmd.run_stdout', 'grains.item', 'grains.items', 'test.ping', 'testing.run'],
  runners: ['jobs.list_job', 'jobs.list_jobs', 'manage.up', 'salt.cmd'],
  wheel: ['key.list', 'key.list_all'],
};
const about = (rules: Value, name = 'fred', module = 'pam', more: Record<string, Value> = {}): string[] =>
  compareRights({ raw: { external_auth: { [module]: { [name]: rules } }, ...more }, functions }).map(
    ({ kind, where, what }) => `${kind} ${where}: ${what}`,
  );

it.each<[string, Value, RegExp[]]>([
  ['nothing', ['test.ping', '.*', { 'web*': ['cmd.run_all'] }, '@jobs'], []],
  [
    'names that begin alike',
    ['cmd.run'],
    [/^less pam: fred: cmd.run means whole names, and in Salt also cmd.run_all, cmd.run_stdout/],
  ],
  ['the same on a target', [{ 'web*': ['grains.item'] }], [/^less .* grains.item on web\* means .* grains.items/]],
  ['modules', ['test.*'], [/^less .* testing.run/]],
  ['a map', { 'web*': ['test.ping'] }, [/^more .* a map directly under a name/]],
  ['several targets', [{ 'a*': ['test.ping'], 'b*': ['test.ping'] }], [/^more .* several targets/]],
  ['limits for wheel functions', [{ '@wheel': [{ 'key.finger': { args: ['m1'] } }] }], [/^more .* wheel functions/]],
  ['all runners', ['@runner'], [/^power .* as root there/]],
  ['a powerful module', ['@salt'], [/^power/]],
  ['part of the runners', [{ '@runner': ['state.*'] }], [/^power/]],
  ['part of the wheel functions', [{ '@wheel': ['config.*'] }], [/^power/]],
  [
    'runners that begin alike',
    [{ '@runner': ['jobs.list_job'] }],
    [/^less .* jobs.list_job on @runner means whole names, and in Salt also jobs.list_jobs/],
  ],
  ['functions of a module that begin alike', [{ '@key': ['list'] }], [/^less .* list on @key .* list_all/]],
  [
    'arguments that begin alike',
    [{ '*': [{ 'test.ping': { args: ['a', 'b.*', null] } }] }],
    [/^less .* limit a of test.ping/],
  ],
  [
    'arguments that are no texts',
    [{ '*': [{ 'test.ping': { args: [5] } }] }],
    [/^less .* name=value/, /^more .* limit 5/],
  ],
  ['keyword arguments', [{ '*': [{ 'test.ping': { kwargs: { a: 'b.*' } } }] }], [/^more .* name=value/]],
  ['no expression', ['*'], [/^mistake .* no valid expression/]],
  ['mistakes', [7, { '*': [{ 'cmd.run_all': { arg: ['x'] } }] }], [/^mistake/, /^mistake/]],
])('says %s', (_, rules, expected) => {
  const said = about(rules);
  expect(said).toHaveLength(expected.length);
  for (const [at, pattern] of expected.entries()) expect(said[at]).toMatch(pattern);
});

it('says what concerns names, modules and tokens', () => {
  expect(about(['test.ping'], 'steve|admin.*')).toEqual([expect.stringMatching(/^more pam: steve\|admin/)]);
  expect(about(['test.ping'], 'dev.*%')).toEqual([expect.stringMatching(/^more pam: dev/)]);
  expect(about(['test.ping'], '*')).toEqual([]);
  expect(about(['test.ping'], 'fred', 'django')).toEqual([expect.stringMatching(/^less django/)]);
  const all = compareRights({ raw: { external_auth: { pam: [] }, eauth_tokens: 'rediscluster' }, functions });
  expect(all.map(({ kind }) => kind)).toEqual(['mistake', 'less']);
  expect(compareRights({ raw: { external_auth: null }, functions })).toEqual([]);
  const blacklist = { publisher_acl_blacklist: { users: ['fr.*'] } };
  expect(about(['test.ping'], 'fred', 'pam', blacklist)).toEqual([expect.stringMatching(/^less .*_blacklist/)]);
  expect(about(['test.ping'], 'fred', 'sharedsecret')).toEqual([
    expect.stringMatching(/^less sharedsecret: .* not set/),
  ]);
  expect(about(['test.ping'], 'fred', 'sharedsecret', { sharedsecret: 'x' })).toEqual([]);
});
