// External authentication with real daemons: logins, tokens, rights, and the ways around them.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PlainDict } from '../../src/base/codec/value.ts';
import type { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, LocalCaller } from '../support/local-caller.ts';
import { as, askAs, type Fields, publishAs, returned, startUsers, usersConfig } from '../support/users.ts';

let fleet: Deployment;
beforeAll(async () => {
  fleet = await startUsers();
});
afterAll(async () => {
  await fleet?.destroy();
});

const ask = (verb: string, fields: Fields): Promise<Answer> => askAs(fleet, verb, fields);
const publish = (who: Fields, fields: Fields): Promise<Answer> => publishAs(fleet, who, fields);
const tokens = (): string[] => readdirSync(fleet.path('cache/master/tokens'));
/** Functions that a user has run, from the history. */
const jobsOf = async (user: string): Promise<string[]> => {
  const { stdout } = await fleet.run('salt-run', ['jobs.list_jobs', '--out=json']);
  const jobs = JSON.parse(stdout) as Record<string, { User: string; Function: string }>;
  return Object.values(jobs)
    .filter((job) => job.User === user)
    .map((job) => job.Function);
};

describe('a user with a password', () => {
  it('runs what the rules allow, under its own name', async () => {
    const { items, error } = await publish(as('fred'), {});
    expect(error).toBeUndefined();
    expect(returned(items)).toEqual({ m1: true });
    expect(await jobsOf('fred')).toContain('test.ping');
  });

  const allowed: [string, Fields, Fields, string[]][] = [
    ['a limited argument', as('fred'), { fun: 'test.echo', arg: ['ok'] }, ['m1']],
    ['a node group', as('fred'), { tgt: 'mine', tgt_type: 'nodegroup' }, ['m1']],
    ['a compound target', as('fred'), { tgt: 'm1 and G@role:web', tgt_type: 'compound' }, ['m1']],
    ['a grain', as('fred'), { fun: 'test.version', tgt: 'role:web', tgt_type: 'grain' }, ['m1']],
    ['a pillar', as('fred'), { fun: 'test.sleep', arg: [0], tgt: 'class:gold', tgt_type: 'pillar' }, ['m1']],
    ['a list', as('fred'), { tgt: ['m1'], tgt_type: 'list' }, ['m1']],
    ['everything', as('ann'), { tgt: '*', fun: 'cmd.run', arg: ['true'] }, ['m1', 'm2']],
    ['a returner, when everything is permitted', as('ann'), { ret: 'local' }, ['m1']],
    ['an executor, likewise', as('ann'), { kwargs: { module_executors: ['direct_call'] } }, ['m1']],
    ['a name in an expression', as('ops1', 'pw', 'file'), { tgt: '*' }, ['m1', 'm2']],
    ['what everybody may', as('other', 'pw', 'file'), { fun: 'test.version' }, ['m1']],
    [
      'a look for a job anywhere',
      as('fred'),
      { fun: 'saltutil.find_job', arg: ['20260101000000000000'], tgt: 'm2' },
      ['m2'],
    ],
  ];
  it.each(allowed)('may: %s', async (_, who, fields, ids) => {
    const { items, error } = await publish(who, fields);
    expect(error).toBeUndefined();
    expect(Object.keys(returned(items)).sort()).toEqual(ids);
  });

  const refused: [string, Fields, Fields][] = [
    ['another function', as('fred'), { fun: 'cmd.run', arg: ['id'] }],
    ['the start of a name', as('fred'), { fun: 'test.ping_all' }],
    ['more beside an allowed function', as('fred'), { fun: ['test.ping', 'cmd.run'], arg: [[], ['id']] }],
    ['functions with a comma', as('fred'), { fun: 'test.ping,cmd.run', arg: [[], ['id']] }],
    ['everybody', as('fred'), { tgt: '*' }],
    ['a compound that is wider', as('fred'), { tgt: 'm1 or m2', tgt_type: 'compound' }],
    ['a group that it defines itself', as('fred'), { tgt: 'm*', tgt_type: 'compound', nodegroups: { x: 'm1' } }],
    ['nobody', as('fred'), { tgt: 'nope*' }],
    ['pillar with a pattern', as('fred'), { fun: 'test.sleep', arg: [0], tgt: 'class:g*', tgt_type: 'pillar' }],
    ['pillar with an expression', as('fred'), { fun: 'test.sleep', arg: [0], tgt: 'I@class:g*', tgt_type: 'compound' }],
    ['another argument', as('fred'), { fun: 'test.echo', arg: ['bad'] }],
    ['an argument by name', as('fred'), { fun: 'test.echo', arg: [{ text: 'ok', __kwarg__: true }] }],
    ['a returner', as('everyping'), { ret: 'local_cache' }],
    ['an executor', as('everyping'), { kwargs: { module_executors: ['direct_call'] } }],
    ['the blacklist', as('ann'), { fun: 'cmd.script', arg: ['x'] }],
    ['a user of the blacklist', as('mallory'), {}],
    ['a user without rules', as('stranger'), {}],
    ['root of another world', as('root', 'pw of root', 'file'), { fun: 'cmd.run', arg: ['id'] }],
    ['a name that is a pattern', as('.*', 'of all'), {}],
    ['a name with a mark of groups', as('fred%'), {}],
    ['a parameter as a name', as('^filename'), {}],
  ];
  it.each(refused)('may not: %s', async (_, who, fields) => {
    const { items, error } = await publish(who, fields);
    expect(items).toEqual([]);
    expect(error).toBe('Authorization error occurred.');
  });

  it('hears nothing of jobs of other users with the same name', async () => {
    const root = await LocalCaller.connect(fleet, 'root');
    const jobs = root.stream('publish', {
      tgt: 'm1',
      tgt_type: 'glob',
      fun: 'test.echo',
      arg: ['of root'],
      timeout: 10,
    });
    const jids: unknown[] = [];
    for await (const item of jobs) if (item['type'] === 'job') jids.push(item['jid']);
    root.close();
    const jid = String(jids[0]);
    const foreign = await ask('attach', { ...as('root', 'pw of root', 'file'), jid });
    expect(foreign).toMatchObject({ items: [], error: expect.stringContaining('knows no such job') });
    const own = await publish(as('fred'), { fun: 'test.echo', arg: ['ok'] });
    const attached = await ask('attach', { ...as('fred'), jid: String(own.items[0]?.['jid']) });
    expect(returned(attached.items)).toEqual({ m1: 'ok' });
    const file = await ask('attach', { ...as('fred', 'pw', 'auto'), jid: String(own.items[0]?.['jid']) });
    expect(file.items).toEqual([]);
  });

  it('gets no more by a key or a name beside the login', async () => {
    const key = readFileSync(fleet.path('cache/master/.root_key'), 'utf8');
    const { error } = await publish({ ...as('fred'), key, user: 'root' }, { fun: 'cmd.run', arg: ['id'] });
    expect(error).toBe('Authorization error occurred.');
  });

  it.concurrent.each<[string, Fields]>([
    ['wrong', as('fred', 'wrong')],
    ['empty', as('fred', '')],
    ['null', as('fred', null)],
    ['a number', as('fred', 0)],
    ['a list', as('fred', [])],
    ['a map', as('fred', { $ne: '' })],
    ['missing', { eauth: 'sharedsecret', username: 'fred' }],
    ['huge', as('fred', 'x'.repeat(200_000))],
    ['of a module that is not configured', as('root', 'x', 'pam')],
    ['of no module', as('root', 'x', '../auto')],
    ['of a property', as('root', 'x', '__proto__')],
    ['of a name with a separator', as('ops1:pw', '', 'file')],
    ['of a name with a line', as('x\nfred', 'of all')],
    ['of a name with a space behind it', as('fred ', 'of all')],
    ['beside a module of another type', { ...as('fred'), eauth: ['sharedsecret'] }],
  ])('is refused when the password is %s', async (_, who) => {
    const { items, error } = await publish(who, {});
    expect(items).toEqual([]);
    expect(error).toMatch(/^Authentication failure of type/);
  });
});

describe('a user with the name of a user of this machine', () => {
  it('follows own jobs, and none of the other', async () => {
    const root = as('root', 'pw of root', 'file');
    const { stdout } = await fleet.salt('m1', 'test.echo', 'for root of this machine', '--out=json', '--async');
    const theirs = /\d{20}/.exec(stdout)?.[0] ?? '';
    expect(theirs).not.toBe('');
    const followed = await ask('attach', { ...root, jid: theirs });
    expect(followed).toMatchObject({ items: [], error: expect.stringContaining('no such job of this user') });
    const { items } = await publish(root, {});
    const own = await ask('attach', { ...root, jid: String(items[0]?.['jid']) });
    expect(returned(own.items)).toEqual({ m1: true });
  });
});

describe('runners and wheel functions', () => {
  const call = async (kind: string, who: Fields, fun: string, fields: Fields = {}) => {
    const { items, error } = await ask(kind, { ...who, fun, ...fields });
    return error ?? items.find(({ type }) => type === 'result')?.['success'];
  };
  it.each<[string, string, Fields]>([
    ['runner', 'jobs.list_jobs', {}],
    ['runner', 'manage.up', {}],
    ['runner', 'test.arg', { arg: ['good'], kwarg: { color: 'blue' } }],
    ['wheel', 'key.list_all', {}],
  ])('%s %s is allowed', async (kind, fun, fields) => {
    expect(await call(kind, as('fred'), fun, fields)).toBe(true);
  });

  it.each<[string, string, Fields]>([
    ['runner', 'salt.cmd', { arg: ['cmd.run', 'id'] }],
    ['runner', 'manage.down', {}],
    ['runner', 'test.arg', { arg: ['bad'], kwarg: { color: 'blue' } }],
    ['runner', 'test.arg', { arg: ['good'] }],
    ['runner', 'jobs', {}],
    ['runner', '', {}],
    ['wheel', 'key.accept', { arg: ['*'] }],
    ['wheel', 'config.values', {}],
  ])('%s %s is not', async (kind, fun, fields) => {
    expect(await call(kind, as('fred'), fun, fields)).toBe(
      'Authentication failure of type "eauth" occurred for user fred.',
    );
  });

  it('are closed to users who have no rule for them', async () => {
    expect(await call('runner', as('everyping'), 'test.arg')).toMatch(/Authentication failure/);
    expect((await ask('events', { ...as('ann'), tag: '' })).error).toMatch(/An event stream needs a token/);
    expect((await ask('preview', { ...as('ann'), tgt: '*' })).error).toMatch(/may not run a preview/);
    expect((await ask('keys-changed', { ...as('ann'), rotate: true })).error).toMatch(/may not run key/);
  });

  it('show no password of a caller to others', async () => {
    const { items } = await ask('runner', {
      ...as('ann'),
      fun: 'test.arg',
      kwarg: { password: 'hush', color: 'red' },
    });
    const jid = String(items[0]?.['jid']);
    let shown = '';
    await eventually('the record of the runner', async () => {
      shown = (await fleet.run('salt-run', ['jobs.list_job', jid, '--out=json'])).stdout;
      return shown.includes('test.arg');
    });
    const arguments_ = (JSON.parse(shown) as { Arguments: unknown }).Arguments;
    expect(JSON.stringify(arguments_)).toContain('red');
    expect(JSON.stringify(arguments_)).not.toContain('hush');
  });
});

describe('tokens', () => {
  const login = async (who: Fields, more: Fields = {}): Promise<PlainDict> =>
    (await ask('login', { ...who, ...more })).items[0] ?? {};

  it('stand for the user until logout', async () => {
    const made = await login(as('fred'));
    const token = String(made['token']);
    expect(made).toMatchObject({ name: 'fred', eauth: 'sharedsecret' });
    expect(statSync(fleet.path('cache/master/tokens', token)).mode & 0o777).toBe(0o600);
    expect(statSync(fleet.path('cache/master/tokens')).mode & 0o777).toBe(0o700);
    expect(returned((await publish({ token }, {})).items)).toEqual({ m1: true });
    expect((await publish({ token }, { fun: 'cmd.run' })).error).toBe('Authorization error occurred.');
    expect((await ask('logout', { token })).items).toEqual([true]);
    expect((await publish({ token }, {})).error).toBe('Authentication failure of type "token" occurred.');
    expect((await ask('logout', { token })).error).toMatch(/Authentication failure/);
  });

  it('last as long as the user may choose', async () => {
    const [fred, ann] = [await login(as('fred'), { token_expire: 77 }), await login(as('ann'), { token_expire: 77 })];
    const life = ({ start, expire }: PlainDict): number => Math.round(Number(expire) - Number(start));
    expect(life(fred)).toBe(77);
    expect(life(ann)).toBe(43_200);
    const short = String((await login(as('fred'), { token_expire: 1 }))['token']);
    await eventually('the token to expire', async () => (await publish({ token: short }, {})).error !== undefined);
    expect(tokens()).not.toContain(short);
  });

  it.each(['', '../../etc/passwd', '/etc/passwd', '%00', 'x'.repeat(100_000), 'ab'.repeat(32), '../../../users'])(
    'that do not exist are all refused alike: %#',
    async (token) => {
      const { error } = await publish({ token }, {});
      expect(error).toMatch(/^Authentication failure of type "(token|user)" occurred/);
    },
  );
});

describe('a changed configuration', () => {
  it('ends tokens whose module is gone, and rights whose rule is gone', async () => {
    const late = String((await ask('login', as('late', 'x', 'auto'))).items[0]?.['token']);
    const fred = String((await ask('login', as('fred'))).items[0]?.['token']);
    expect((await publish({ token: late }, {})).error).toBeUndefined();
    const changed = usersConfig(fleet.root)
      .replace(/ {2}auto:\n.*\n/, '')
      .replace('        - test.ping\n', '');
    writeFileSync(fleet.path('etc/master.d/eauth.conf'), changed);
    await fleet.master.stop();
    await fleet.startMaster();
    await fleet.answering('m1', 'm2');
    expect((await publish({ token: late }, {})).error).toMatch(/Authentication failure/);
    expect((await publish({ token: fred }, {})).error).toBe('Authorization error occurred.');
    expect(returned((await publish({ token: fred }, { fun: 'test.echo', arg: ['ok'] })).items)).toEqual({ m1: 'ok' });
  });
});
