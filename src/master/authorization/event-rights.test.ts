// Which events a user sees: a table of users, tags and data.
import { describe, expect, it } from 'vitest';
import { newDict, type Value } from '../../base/codec/value.ts';
import { EventRights } from './event-rights.ts';
import { readRules } from './rules.ts';

const minions: Record<string, string[]> = { '*': ['web1', 'db1'], 'web*': ['web1'] };
const sees = (rules: Value, tag: string, data: Record<string, Value> = {}, own: string[] = []): boolean =>
  new EventRights({
    rules: readRules(rules),
    targets: { match: (tgt) => ({ matched: minions[String(tgt)] ?? [], unknown: [], missing: [] }) as never },
    started: (jid) => own.includes(jid),
  }).maySee(tag, newDict(Object.entries(data)));

const web: Value = [newDict([['web*', ['test.*']]])];
const job = (id: string, fun: string): [string, Record<string, Value>] => [
  `salt/job/1/ret/${id}`,
  { fun, fun_args: [], id },
];

describe('events', () => {
  it.each<[Value, string, Record<string, Value>, boolean]>([
    [['.*', '@runner', '@wheel'], 'anything', {}, true],
    [['.*', '@runner'], 'anything', {}, false],
    [['.*', '@wheel'], 'salt/auth', {}, true],
    [web, ...job('web1', 'test.ping'), true],
    [web, ...job('db1', 'test.ping'), false],
    [web, ...job('web1', 'cmd.run'), false],
    [web, 'salt/job/1/new', { fun: 'test.ping', arg: [], minions: ['web1'] }, true],
    [web, 'salt/job/1/new', { fun: 'test.ping', arg: [], minions: ['web1', 'db1'] }, false],
    [web, 'salt/job/1/new', { fun: ['test.ping', 'cmd.run'], arg: [[], []], minions: ['web1'] }, false],
    [web, 'salt/job/1/new', { fun: 'test.ping', arg: [], minions: [] }, false],
    [web, ...job('db1', 'saltutil.find_job'), false],
    [web, 'salt/minion/web1/start', {}, true],
    [web, 'salt/beacon/db1/load/', {}, false],
    [web, 'salt/auth', { id: 'web1' }, false],
    [web, 'salt/presence/present', {}, false],
    [web, 'salt/run/1/ret', { fun: 'runner.jobs.list_jobs' }, false],
    [['@jobs'], 'salt/run/1/ret', { fun: 'runner.jobs.list_jobs' }, true],
    [['@jobs'], 'salt/wheel/1/ret', { fun: 'wheel.key.accept' }, false],
    [['@wheel'], 'salt/key', {}, true],
    [[newDict([['@events', ['salt/netapi/hook/ci/.*']]])], 'salt/netapi/hook/ci/x', {}, true],
    [[newDict([['@events', ['salt/netapi/hook/ci/.*']]])], 'salt/netapi/hook/other', {}, false],
    [['@events'], 'salt/netapi/hook/other', {}, true],
    [[], ...job('web1', 'test.ping'), false],
  ])('%j %s %j: %s', (rules, tag, data, wanted) => expect(sees(rules, tag, data)).toBe(wanted));

  it('of own jobs are seen, whatever the rules say now', () => {
    expect(sees([], ...job('db1', 'cmd.run'), ['1'])).toBe(true);
    expect(sees([], 'salt/run/1/ret', { fun: 'runner.x.y' }, ['1'])).toBe(true);
  });
});
