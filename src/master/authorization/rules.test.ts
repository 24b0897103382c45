// The grammar of rules, and which requests they permit.
import { describe, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { type MasterKind, permitsMaster, permitsPublish, type RequestedCall, readRules } from './rules.ts';

const call = (fun: string, args: Value[] = [], kwargs: PlainDict = newDict()): RequestedCall => ({ fun, args, kwargs });
/** Minions that the target reaches, and those that each expression matches. */
const covers =
  (wanted: readonly string[]) =>
  (expression: string): boolean =>
    wanted.every((id) => new RegExp(`^${expression.replaceAll('*', '.*')}$`).test(id));
const may = (rules: Value, calls: RequestedCall | RequestedCall[], wanted: string[] = ['web1']): boolean =>
  permitsPublish(readRules(rules), [calls].flat(), covers(wanted));

describe('rules for jobs', () => {
  it.each<[string, Value, RequestedCall | RequestedCall[], boolean]>([
    ['a function', ['test.ping'], call('test.ping'), true],
    ['not the start of a name', ['cmd.run'], call('cmd.run_all'), false],
    ['a module', ['test.*'], call('test.echo'), true],
    ['not a module with a longer name', ['test.*'], call('testing.echo'), false],
    ['a target', [{ 'web*': ['test.ping'] }], call('test.ping'), true],
    ['one function as a text', [{ 'web*': 'test.ping' }], call('test.ping'), true],
    ['not another target', [{ 'db*': ['test.ping'] }], call('test.ping'), false],
    ['a map under the user', { 'web*': ['test.ping'] }, call('test.ping'), true],
    ['a map of several targets', [{ 'db*': ['test.ping'], 'web*': ['test.ping'] }], call('test.ping'), true],
    ['every function of a job', ['test.ping'], [call('test.ping'), call('cmd.run')], false],
    [
      'functions by different rules',
      ['test.ping', { 'web*': ['cmd.run'] }],
      [call('test.ping'), call('cmd.run')],
      true,
    ],
    ['no function', ['.*'], [], false],
    ['looking for a job', [], call('saltutil.find_job', ['20260101000000000000']), true],
    ['arguments by position', [{ '*': [{ 'cmd.run': { args: ['uptime'] } }] }], call('cmd.run', ['uptime', 'x']), true],
    ['not other arguments', [{ '*': [{ 'cmd.run': { args: ['uptime'] } }] }], call('cmd.run', ['id']), false],
    ['not more than an expression', [{ '*': [{ 'cmd.run': { args: ['up.*'] } }] }], call('cmd.run', ['xup']), false],
    ['a missing argument', [{ '*': [{ 'cmd.run': { args: [null] } }] }], call('cmd.run'), false],
    ['any argument', [{ '*': [{ 'cmd.run': { args: [null] } }] }], call('cmd.run', ['x']), true],
    ['alternatives', [{ '*': [{ f: [{ args: ['a'] }, { args: ['b'] }] }] }], call('f', ['b']), true],
    ['names', [{ '*': [{ f: { kwargs: { a: '1' } } }] }], call('f', [], newDict([['a', 1]])), true],
    ['values as Python prints them', [{ '*': [{ f: { args: ['True', 'None'] } }] }], call('f', [true, null]), true],
    ['no mistake opens anything', [{ '*': [{ 'cmd.run': { arg: ['uptime'] } }] }], call('cmd.run', ['id']), false],
    ['no limit opens nothing', [{ '*': [{ 'cmd.run': null }] }], call('cmd.run', ['id']), false],
    ['@runner is no function', ['@runner', '@wheel', '@jobs'], call('jobs.list'), false],
    ['@runner is no target', [{ '@runner': ['.*'] }], call('test.ping'), false],
    ['a number', [7], call('test.ping'), false],
    ['a text instead of a list', 'test.ping', call('test.ping'), false],
  ])('%s', (_, rules, calls, allowed) => {
    expect(may(rules, calls)).toBe(allowed);
  });

  it('says what is not a rule', () => {
    const problems: string[] = [];
    readRules(['test.ping', 7, { '*': [{ f: { arg: [] } }, 8] }], (text) => problems.push(text));
    expect(problems).toHaveLength(3);
    readRules('test.ping', (text) => problems.push(text));
    expect(problems[3]).toMatch(/no list of rules/);
  });

  it('only ever adds rights, in any order', () => {
    const pool: Value[] = ['test.ping', 'cmd.*', { 'web*': ['pkg.install'] }, { 'db*': ['.*'] }, '@runner', { x: 'y' }];
    const asked = ['test.ping', 'cmd.run', 'pkg.install', 'state.apply'].map((fun) => call(fun));
    for (let set = 0; set < 2 ** pool.length; set++) {
      const some = pool.filter((_, at) => set & (1 << at));
      for (const each of asked) {
        const allowed = may(some, each);
        expect(may([...some].reverse(), each)).toBe(allowed);
        if (allowed) for (const more of pool) expect(may([...some, more], each)).toBe(true);
      }
    }
  });
});

describe('rules for runners and wheel functions', () => {
  it.each<[Value, MasterKind, RequestedCall, boolean]>([
    [['@runner'], 'runners', call('jobs.list_jobs'), true],
    [['@runners'], 'runners', call('jobs.list_jobs'), true],
    [['@runner'], 'wheel', call('key.accept'), false],
    [['@wheel'], 'wheel', call('key.accept'), true],
    [['@wheels'], 'runners', call('jobs.list_jobs'), false],
    [['@jobs'], 'runners', call('jobs.list_jobs'), true],
    [['@jobs'], 'runners', call('manage.up'), false],
    [['@key'], 'wheel', call('key.list_all'), true],
    [[{ '@runner': ['jobs.list_.*'] }], 'runners', call('jobs.list_jobs'), true],
    [[{ '@runner': 'manage.up' }], 'runners', call('manage.up'), true],
    [[{ '@runner': ['jobs.list_.*'] }], 'runners', call('jobs.lookup_jid'), false],
    [[{ '@jobs': ['list_.*'] }], 'runners', call('jobs.list_job'), true],
    [[{ '@jobs': ['list_.*'] }], 'runners', call('jobs.lookup_jid'), false],
    [[{ '@runner': [{ 'jobs.list_job': { args: ['2026.*'] } }] }], 'runners', call('jobs.list_job', ['2025']), false],
    [[{ '@runner': [{ 'jobs.list_job': { args: ['2026.*'] } }] }], 'runners', call('jobs.list_job', ['20261']), true],
    [['.*', '*', 'jobs.*', 'jobs.list_jobs'], 'runners', call('jobs.list_jobs'), false],
    [[{ '*': ['.*'] }], 'wheel', call('key.accept'), false],
    [['@runner'], 'runners', call('jobs'), false],
    [['@runner'], 'runners', call('salt.cmd.x'), false],
    [['@runner'], 'runners', call('.x'), false],
    [['@'], 'runners', call('.x'), false],
  ])('%j permits %s %j: %s', (rules, kind, each, allowed) => {
    expect(permitsMaster(readRules(rules), kind, each)).toBe(allowed);
  });
});
