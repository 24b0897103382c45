// A user with few rights: publisher_acl allows some functions on m1, and no request does more than that.
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Request } from 'zeromq';
import { pack, unpack } from '../../src/base/codec/msgpack/index.ts';
import { isDict, type PlainDict, type Value } from '../../src/base/codec/value.ts';
import { Deployment } from '../support/deployment.ts';
import { LocalCaller, userKey } from '../support/local-caller.ts';

/** An account of every Linux system; its key is all that proves it. */
const user = 'nobody';
const config = `
publisher_acl:
  ${user}:
    - sys.list_functions
    - m1:
      - test.ping
      - test.echo:
        - args: ['ok']
      - test.arg:
        - kwargs: {version: '5'}
    - 'G@role:web':
      - test.version
  'no.*x': ['.*']
publisher_acl_blacklist:
  modules: [cmd.*]
nodegroups:
  mine: m1
`;

let fleet: Deployment;
let limited: LocalCaller;
let root: LocalCaller;

beforeAll(async () => {
  fleet = await Deployment.create({ masterConfig: config });
  await fleet.startMaster();
  fleet.startMinion('m1', undefined, 'grains: {role: web}');
  fleet.startMinion('m2');
  await fleet.answering('m1', 'm2');
  limited = await LocalCaller.connect(fleet, user);
  root = await LocalCaller.connect(fleet, 'root');
});
afterAll(async () => {
  limited?.close();
  root?.close();
  await fleet?.destroy();
});

type Fields = Record<string, Value>;
const ping: Fields = { tgt: 'm1', fun: 'test.ping' };
const touch = (): string => `touch ${fleet.path('ran')}`;
const record = async (jid: string): Promise<Record<string, unknown>> => {
  const { stdout } = await fleet.run('salt-run', ['jobs.list_job', jid, '--out=json']);
  return JSON.parse(stdout) as Record<string, unknown>;
};
const returned = (items: readonly PlainDict[]): PlainDict =>
  Object.fromEntries(items.filter(({ type }) => type === 'return').map(({ id, ret }) => [String(id), ret as Value]));

describe('a limited user on the local socket', () => {
  const allowed: [string, Fields, Fields][] = [
    ['the function itself', ping, { m1: true }],
    ['several functions', { ...ping, fun: ['test.ping', 'test.echo'], arg: [[], ['ok']] }, {}],
    ['an argument as the rule has it', { ...ping, fun: 'test.echo', arg: ['ok'] }, { m1: 'ok' }],
    ['a group of the master', { ...ping, tgt: 'mine', tgt_type: 'nodegroup' }, { m1: true }],
    ['a grain that the rule names', { fun: 'test.version', tgt: 'role:web', tgt_type: 'grain' }, {}],
    ['metadata', { ...ping, kwargs: { metadata: { ticket: 7 } } }, { m1: true }],
  ];
  it.each(allowed)('may: %s', async (_, fields, results) => {
    const { items, error } = await limited.publish(fields);
    expect(error).toBeUndefined();
    expect(returned(items)).toMatchObject(results);
    expect(Object.keys(returned(items))).toEqual(['m1']);
  });

  const kwargsOf = (named: Fields): Value => ({ ...named, __kwarg__: true });
  const refused: [string, Fields, RegExp][] = [
    ['another function', { ...ping, fun: 'test.fib' }, /may not run test.fib/],
    ['a name in which the dot is another character', { ...ping, fun: 'testXping' }, /may not run/],
    ['more beside an allowed function', { ...ping, fun: ['test.ping', 'cmd.run'], arg: [[], ['id']] }, /may not run/],
    ['functions with a comma', { ...ping, fun: 'test.ping,cmd.run', arg: [[], ['id']] }, /may not run/],
    ['no function at all', { ...ping, fun: [] }, /no function/],
    ['another target', { ...ping, tgt: '*' }, /on this target/],
    ['a list', { ...ping, tgt: ['m1', 'm2'], tgt_type: 'list' }, /on this target/],
    ['an expression', { ...ping, tgt: 'm1 or m2', tgt_type: 'compound' }, /on this target/],
    ['a regular expression', { ...ping, tgt: 'm.', tgt_type: 'pcre' }, /on this target/],
    ['another argument', { ...ping, fun: 'test.echo', arg: ['bad'] }, /may not run/],
    ['no argument', { ...ping, fun: 'test.echo' }, /may not run/],
    ['arguments that are no list', { ...ping, fun: 'test.echo', arg: 'ok' }, /not a list/],
    ['a list for one of two', { fun: ['test.echo', 'test.echo'], arg: [['ok'], ['bad']], tgt: 'm1' }, /may not run/],
    ['text for a list', { fun: ['test.echo', 'test.echo'], arg: ['ok', 'bad'], tgt: 'm1' }, /a list of arguments/],
    ['a second value of a name', { ...ping, fun: 'test.arg', arg: [kwargsOf({ version: 5 }), 'version=6'] }, /may not/],
    ['a name hidden in a text', { ...ping, fun: 'test.echo', arg: ['text=bad', 'ok=1'] }, /may not run/],
    ['a returner', { ...ping, ret: 'webhook' }, /returner/],
    ['its options', { ...ping, kwargs: { ret_kwargs: { url: 'http://127.0.0.1:1', body: '#!js\n1' } } }, /ret_kwargs/],
    ['its configuration', { ...ping, kwargs: { ret_config: 'other' } }, /ret_config/],
    ['an executor', { ...ping, kwargs: { module_executors: ['sudo'] } }, /module_executors/],
    ['options of executors', { ...ping, kwargs: { executor_opts: { a: 1 } } }, /executor_opts/],
    ['a batch elsewhere', { ...ping, tgt: '*', batch: { size: '1' } }, /on this target/],
    ['a durable job elsewhere', { ...ping, tgt: 'm2', durable: 60 }, /on this target/],
    ['a forbidden function', { ...ping, fun: 'cmd.run', arg: ['id'] }, /publisher_acl_blacklist/],
  ];
  it.each(refused)('may not: %s', async (_, fields, why) => {
    const { items, error } = await limited.publish(fields);
    expect(items).toEqual([]);
    expect(error).toMatch(why);
  });

  it('cannot define node groups', async () => {
    const { items } = await limited.publish({
      ...ping,
      tgt: 'mine',
      tgt_type: 'nodegroup',
      nodegroups: { mine: 'm2' },
    });
    expect(returned(items)).toEqual({ m1: true });
  });

  it('changes nothing of what was authorised by other fields', async () => {
    const other = { fun: 'cmd.run', arg: [touch()], tgt: '*', tgt_type: 'glob', user: 'root', ret: 'x', id: 'm2' };
    const bend = { ...other, jid: '20260101000000000000', cmd: '_return', halite_durable: 9e9, __proto__: other };
    const { items, error } = await limited.publish({ ...ping, kwargs: bend });
    expect(error).toBeUndefined();
    expect(returned(items)).toEqual({ m1: true });
    const job = await record(String(items[0]?.['jid']));
    expect(job).toMatchObject({ Function: 'test.ping', Target: 'm1', User: user, Arguments: [], Minions: ['m1'] });
    expect(existsSync(fleet.path('ran'))).toBe(false);
  });

  it('does not publish under the jid of somebody else', async () => {
    const { items } = await root.publish({ tgt: 'm?', fun: 'test.echo', arg: ['of root'] });
    const jid = String(items[0]?.['jid']);
    const before = await record(jid);
    expect((await limited.publish({ ...ping, jid })).error).toContain('is in use');
    // The record on disk counts when the master was started anew.
    await fleet.master.stop();
    await fleet.startMaster();
    limited = await LocalCaller.connect(fleet, user);
    root = await LocalCaller.connect(fleet, 'root');
    await fleet.answering('m1', 'm2');
    expect((await limited.publish({ ...ping, jid })).error).toContain('is in use');
    expect(await record(jid)).toEqual(before);
  });

  it('cannot use the name of a user with more rights', async () => {
    for (const name of ['root', 'sudo_root', `sudo_${user}`, 'no.x', ''])
      expect((await limited.publish({ ...ping, user: name })).error, name).toContain('Authentication failure');
  });

  it('allows root everything except the blacklist', async () => {
    const kwargs = { module_executors: ['direct_call'] };
    expect(returned((await root.publish({ ...ping, tgt: '*', kwargs })).items)).toEqual({ m1: true, m2: true });
    expect((await root.publish({ ...ping, fun: 'cmd.run' })).error).toContain('publisher_acl_blacklist');
  });
});

describe('a limited user on the request port', () => {
  async function publish(fields: Fields): Promise<PlainDict> {
    const socket = new Request({ linger: 0, receiveTimeout: 20_000 });
    socket.connect(`tcp://127.0.0.1:${fleet.ports.requests}`);
    const load = {
      cmd: 'publish',
      user,
      key: userKey(fleet, user),
      tgt_type: 'glob',
      arg: [],
      ret: '',
      jid: '',
      ...fields,
    };
    try {
      await socket.send(pack({ enc: 'clear', load, version: 3 }));
      const [reply] = await socket.receive();
      const value = unpack(reply!);
      return isDict(value) && !(value instanceof Map) ? value : {};
    } finally {
      socket.close();
    }
  }

  it('may do what the rule allows', async () => {
    expect(await publish(ping)).toMatchObject({ load: { minions: ['m1'] } });
  });

  const refused: [string, Fields][] = [
    ['another function', { ...ping, fun: 'cmd.run' }],
    ['another target', { ...ping, tgt: '*' }],
    ['several functions', { ...ping, fun: ['test.ping', 'cmd.run'], arg: [[], ['id']] }],
    ['no function', { ...ping, fun: [] }],
    ['a returner', { ...ping, ret: 'rawfile_json' }],
    ['an executor', { ...ping, kwargs: { module_executors: ['sudo'] } }],
    ['the name of another minion', { ...ping, kwargs: { id: 'm2' } }],
    ['the name of another master', { ...ping, kwargs: { master_id: 'x' } }],
  ];
  it.each(refused)('may not: %s', async (_, fields) => {
    expect(await publish(fields)).toMatchObject({ error: { message: expect.any(String) } });
  });

  it('changes nothing by other fields', async () => {
    const kwargs = { fun: 'cmd.run', arg: [touch()], tgt: '*', user: 'root' };
    const { load } = await publish({ ...ping, kwargs });
    const { jid } = load as PlainDict;
    expect(await record(String(jid))).toMatchObject({ Function: 'test.ping', Target: 'm1', User: user });
    expect(existsSync(fleet.path('ran'))).toBe(false);
  });
});
