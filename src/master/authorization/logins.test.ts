// Logins and tokens: equal answers to every failure, limits, and which rules a token stands for.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { AuthSession } from '../../extend/sdk/index.ts';
import { TokenFiles } from '../../store/tokens/localfs.ts';
import { blockOf } from './external-auth.ts';
import { type GivenLogin, Logins } from './logins.ts';
import { permitsPublish } from './rules.ts';

let folder: string;
let raw: PlainDict;
let sessions: Record<string, AuthSession>;
let waits: number[];
let logged: string[];
let logins: Logins;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-logins-'));
  raw = newDict([['external_auth', { own: { fred: ['test.ping'], '*': ['test.echo'] }, other: { '*': [] } } as Value]]);
  sessions = {
    own: { check: ({ username, password }) => (password === `pw of ${username}` ? {} : undefined) },
    other: { check: () => ({}) },
  };
  [waits, logged] = [[], []];
  const opts = { raw };
  logins = new Logins({
    opts,
    log: {
      info: () => undefined,
      limited: (_key: string, _level: string, text: string, fields: object = {}) =>
        void logged.push(`${text} ${JSON.stringify(fields)}`),
    } as never,
    modules: {
      block: (name) => blockOf(opts.raw['external_auth'], name),
      session: async (name) => {
        const session = blockOf(opts.raw['external_auth'], name) && sessions[name];
        if (!session) throw new HaliteError('auth.failed', `The eauth system "${name}" is not enabled`);
        return session;
      },
    },
    tokens: new TokenFiles(join(folder, 'tokens'), 'sha256'),
    wait: async (milliseconds) => void waits.push(milliseconds),
    now: () => 0,
  });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const given = (username: string, password = `pw of ${username}`, eauth = 'own'): GivenLogin => ({
  eauth,
  username,
  password,
});
const failureOf = (login: GivenLogin, from?: string): Promise<string> =>
  logins.login(login, from).then(() => 'accepted', messageOf);
const may = async (token: string, fun: string): Promise<boolean> =>
  permitsPublish(await logins.rulesOf(await logins.ofToken(token)), [{ fun, args: [], kwargs: newDict() }], () => true);

describe('a login', () => {
  it('that fails is answered in the same way whatever the reason is, and not at once', async () => {
    sessions['broken'] = { check: () => Promise.reject(new Error('the server at 10.0.0.1 has secret pw of fred')) };
    (raw['external_auth'] as PlainDict)['broken'] = newDict();
    const expected = 'Authentication failure of type "eauth" occurred for user fred.';
    for (const [password, eauth] of [
      ['wrong', 'own'],
      ['', 'own'],
      ['x'.repeat(40_000), 'own'],
      ['pw of fred', 'nowhere'],
      ['pw of fred', 'broken'],
    ] as const)
      expect(await failureOf(given('fred', password, eauth)), eauth).toBe(expected);
    expect(waits).toHaveLength(5);
    for (const wait of waits) expect(wait).toBeGreaterThan(500);
    expect(logged.join('\n')).toContain('10.0.0.1');
    expect(logged.join('\n')).not.toContain('pw of fred');
  });

  it('waits after some failures, and only those who failed', async () => {
    for (let at = 0; at < 10; at++) await failureOf(given('fred', 'wrong'), '10.0.0.1');
    const tried = waits.length;
    expect(await failureOf(given('fred'), '10.0.0.1')).toMatch(/for user fred/);
    expect(waits.length, 'the password was not looked at').toBe(tried);
    expect(await failureOf(given('fred'), '10.0.0.2')).toBe('accepted');
    expect(await failureOf(given('ann'), '10.0.0.1')).toBe('accepted');
  });

  it('without a name, of whom a certificate or a provider says who it is, is not blocked by strangers', async () => {
    sessions['own'] = { check: ({ password }) => (password === 'good' ? { username: 'fred' } : undefined) };
    for (let at = 0; at < 120; at++) await failureOf(given('', 'wrong'), `10.0.0.${at % 12}`);
    expect(await failureOf(given('', 'good'), '10.0.1.1')).toBe('accepted');
    expect(await failureOf(given('', 'good'), '10.0.0.1')).toMatch(/type "eauth"/);
  });

  it('waits when its address tried many names', async () => {
    for (let at = 0; at < 30; at++) await failureOf(given(`user ${at}`, 'wrong'), '10.0.0.1');
    expect(await failureOf(given('fred'), '10.0.0.1')).toMatch(/for user fred/);
    expect(await failureOf(given('fred'), '10.0.0.2')).toBe('accepted');
  });

  it('is refused while very many are under way', async () => {
    let release = (): void => {};
    const held = new Promise<void>((done) => {
      release = done;
    });
    sessions['own'] = { check: () => held.then(() => undefined) };
    const flood = Array.from({ length: 10_000 }, (_, at) => failureOf(given(`user ${at}`)));
    release();
    const answers = await Promise.all(flood);
    expect(answers.every((answer) => answer.startsWith('Authentication failure'))).toBe(true);
    expect(waits).toHaveLength(256);
    sessions['own'] = { check: () => ({}) };
    expect(await failureOf(given('fred'))).toBe('accepted');
  });
});

const notNow = 'The master cannot reach its tokens now.';

describe('a token', () => {
  const made = async (name: string, eauth = 'own'): Promise<string> =>
    (await logins.makeToken(await logins.login(given(name, `pw of ${name}`, eauth), undefined))).token;

  it('has the rules of the configuration at the time of its use', async () => {
    const token = await made('fred');
    expect(await may(token, 'test.ping')).toBe(true);
    (raw['external_auth'] as { own: PlainDict }).own['fred'] = ['test.version'];
    expect([await may(token, 'test.ping'), await may(token, 'test.version')]).toEqual([false, true]);
  });

  it('has those of the login with keep_acl_in_token', async () => {
    raw['keep_acl_in_token'] = true;
    const token = await made('fred');
    (raw['external_auth'] as { own: PlainDict }).own['fred'] = [];
    expect(await may(token, 'test.ping')).toBe(true);
    raw['keep_acl_in_token'] = false;
    expect(await may(token, 'test.ping')).toBe(false);
  });

  it('has those that the module gave at the login, together with those of the configuration', async () => {
    raw['keep_acl_in_token'] = true;
    sessions['own'] = { check: () => ({ rules: ['cmd.run'], groups: ['ops'] }) };
    const token = await made('fred');
    expect([await may(token, 'cmd.run'), await may(token, 'test.ping'), await may(token, 'test.echo')]).toEqual([
      true,
      true,
      false,
    ]);
    expect((await logins.ofToken(token)).groups).toEqual(['ops']);
  });

  it('has those of eauth_acl_module, and nothing when that fails', async () => {
    raw['eauth_acl_module'] = 'other';
    sessions['other'] = { check: () => undefined, rules: async (name, eauth) => [`${eauth}.${name}`] };
    const token = await made('fred');
    expect([await may(token, 'own.fred'), await may(token, 'test.ping')]).toEqual([true, false]);
    sessions['other'] = { check: () => undefined, rules: async () => undefined };
    expect(await may(token, 'test.ping')).toBe(true);
    sessions['other'] = { check: () => undefined, rules: () => Promise.reject(new Error('away')) };
    expect(await may(token, 'test.ping')).toBe(false);
  });

  it('is refused without its module, also when the module is broken', async () => {
    const token = await made('fred');
    delete sessions['own'];
    await expect(logins.ofToken(token)).rejects.toThrow('Authentication failure of type "token" occurred.');
    raw['external_auth'] = { other: newDict() };
    await expect(logins.ofToken(token)).rejects.toThrow('Authentication failure of type "token" occurred.');
    expect(await logins.lookUp(token)).toBeUndefined();
  });

  it('is not called wrong while the tokens cannot be read: clients would forget it', async () => {
    const token = await made('fred');
    renameSync(join(folder, 'tokens'), join(folder, 'away'));
    writeFileSync(join(folder, 'tokens'), '');
    for (const call of [
      () => logins.ofToken(token),
      () => logins.lookUp(token),
      () => made('fred'),
      () => logins.dropToken(token),
      () => logins.listTokens(),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'store.unavailable', message: notNow });
    expect(logged.join()).toContain(folder);
    rmSync(join(folder, 'tokens'));
    renameSync(join(folder, 'away'), join(folder, 'tokens'));
    expect(await may(token, 'test.ping')).toBe(true);
  });

  it('asks for the groups of its user when it has none, and expands targets of the module', async () => {
    sessions['own'] = {
      check: () => ({}),
      groups: async (name) => [`group of ${name}`],
      minions: (target) => (target === 'ldap(OU=Web)' ? Promise.resolve(['w1', 'w2']) : undefined),
    };
    (raw['external_auth'] as { own: PlainDict }).own['group of fred%'] = [{ 'ldap(OU=Web)': ['cmd.run'] }];
    const identity = await logins.ofToken(await made('fred'));
    expect(identity.groups).toEqual(['group of fred']);
    expect((await logins.rulesOf(identity)).map(({ scope }) => scope)).toContain('L@w1,w2');
  });
});
