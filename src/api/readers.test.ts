// The readers of requests, as tables.
import { describe, expect, it } from 'vitest';
import { newDict, type Value } from '../base/codec/value.ts';
import { addressOf } from './dispatch.ts';
import { textOf } from './http/answer.ts';
import { bodyValue } from './http/body.ts';
import { corsHeaders, isOwnOrigin } from './http/cors.ts';
import { cookieHeader, givenToken } from './http/credentials.ts';
import { negotiate, prefersHtml } from './http/negotiate.ts';
import { peerOf } from './http/peer.ts';
import { tarOf } from './http/tar.ts';
import { CallLimits } from './limits.ts';
import { chunksOf, credentialsIn } from './lowstate/chunk.ts';
import { readApiSettings } from './settings.ts';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value instanceof Map ? [...value] : value));

describe('negotiation', () => {
  it.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['application/x-yaml', 'application/x-yaml'],
    ['application/yaml, application/json;q=0.5', 'application/yaml'],
    ['application/json;q=0, */*', 'application/x-yaml'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'application/json'],
    ['text/html', undefined],
    ['application/json;q=0', undefined],
    ['application/json;q=no', undefined],
  ])('%s gives %s', (accept, type) => expect(negotiate(accept)?.type).toBe(type));

  it.each([
    ['text/html,*/*;q=0.8', true],
    ['*/*', false],
    ['application/json, text/html', false],
    ['text/html;q=0', false],
    [undefined, false],
  ])('a page for %s: %s', (accept, wanted) => expect(prefersHtml(accept)).toBe(wanted));
});

describe('bodies', () => {
  it.each<[string, string, unknown]>([
    ['application/json', '{"a": [1]}', { a: [1] }],
    ['text/plain', '{"a": 1}', { a: 1 }],
    ['text/plain', 'some words', 'some words'],
    ['application/x-yaml', 'a: [x, 1]', { a: ['x', 1] }],
    [
      'application/x-www-form-urlencoded',
      'a=1&b=&a=2&arg=12&kwarg={x: 1}',
      { a: ['1', '2'], arg: [12], kwarg: { x: 1 } },
    ],
    [
      'application/x-www-form-urlencoded',
      '__proto__=x&fun=test%2eping',
      JSON.parse('{"__proto__": "x", "fun": "test.ping"}'),
    ],
  ])('%s %s', (type, text, wanted) => expect(plain(bodyValue({ type, text }))).toEqual(wanted));

  it.each([
    ['application/json', '{', 400],
    ['application/json', '['.repeat(65) + ']'.repeat(65), 400],
    ['text/plain', '['.repeat(65) + ']'.repeat(65), 400],
    ['application/x-yaml', 'a: [1, 2\nb: }', 400],
    ['application/x-www-form-urlencoded', 'a=%ff', 400],
    ['application/x-www-form-urlencoded', '1=x', 400],
    ['multipart/form-data', 'x', 406],
    ['', '{}', 406],
  ])('refuses %s %s', (type, text, status) => {
    expect(() => bodyValue({ type, text })).toThrow(expect.objectContaining({ status }));
  });
});

describe('chunks', () => {
  const dict = (fields: Record<string, Value>): Value => newDict(Object.entries(fields));

  it('are a list of maps, without names that the master sets', () => {
    expect(plain(chunksOf(dict({ fun: 'x', arg: 'y', __user__: 'root' })))).toEqual([{ fun: 'x', arg: ['y'] }]);
    expect(chunksOf([])).toEqual([]);
    for (const wrong of [null, 'x', dict({}), [1], [[]], [new Map<Value, Value>([[1, 2]])]])
      expect(() => chunksOf(wrong)).toThrow(expect.objectContaining({ status: 400 }));
  });

  it('have credentials of the right types', () => {
    const read = (fields: Record<string, Value>) => credentialsIn(newDict(Object.entries(fields)));
    expect(read({ token: 'ab12', username: 'x' })).toEqual({ token: 'ab12' });
    for (const token of ['../x', '', null, 5, ['a'], 'a'.repeat(129)])
      expect(() => read({ token })).toThrow('Invalid token');
    expect(read({ username: 'x', eauth: 'pam' })).toBeUndefined();
    const wrong = { username: 'x', password: 5, eauth: 'pam' };
    expect(() => read({ ...wrong, client: 'local_async' })).toThrow('Authentication error occurred.');
    expect(() => read({ ...wrong, client: 'runner' })).toThrow('of type "eauth" occurred for user x.');
  });
});

describe('addresses', () => {
  it.each([
    ['/', '', ''],
    ['/jobs/1/?x=1', '', '/jobs/1'],
    ['/%6aobs', '', '/jobs'],
    ['/salt/jobs', '/salt', '/jobs'],
    ['/salt', '/salt', ''],
    ['/saltx/jobs', '/salt', undefined],
    ['http://evil/jobs', '', undefined],
    ['/a%0d%0ab', '', undefined],
    ['/a%00', '', undefined],
    ['/%zz', '', undefined],
    [`/${'x'.repeat(5000)}`, '', undefined],
  ])('%s below %s is %s', (url, prefix, path) => expect(addressOf(url, prefix)?.path).toBe(path));
});

describe('origins and credentials', () => {
  const facts = (headers: Record<string, string>, allowed: string[] = []) => ({ headers, secure: true, allowed });

  it('know the own pages', () => {
    expect(isOwnOrigin(facts({}))).toBe(true);
    expect(isOwnOrigin(facts({ origin: 'https://a', host: 'a' }))).toBe(true);
    expect(isOwnOrigin(facts({ origin: 'http://a', host: 'a' }))).toBe(false);
    expect(isOwnOrigin(facts({ origin: 'null', host: 'a' }))).toBe(false);
    expect(isOwnOrigin(facts({ 'sec-fetch-site': 'cross-site' }))).toBe(false);
    expect(
      isOwnOrigin(facts({ origin: 'https://ui', host: 'a', 'sec-fetch-site': 'cross-site' }, ['https://ui'])),
    ).toBe(true);
  });

  it('allow the cookie to listed pages only', () => {
    expect(corsHeaders(facts({ origin: 'https://ui' }))).not.toHaveProperty('Access-Control-Allow-Credentials');
    expect(corsHeaders(facts({ origin: 'https://ui' }, ['https://ui']))).toHaveProperty(
      'Access-Control-Allow-Credentials',
      'true',
    );
    expect(corsHeaders(facts({ origin: 'https://other' }, ['https://ui']))).toEqual({});
    expect(corsHeaders(facts({ origin: 'https://other' }, ['*']))).not.toHaveProperty(
      'Access-Control-Allow-Credentials',
    );
  });

  it('find the token', () => {
    expect(givenToken({ 'x-auth-token': '', cookie: 'a=b; session_id=c' }, true)).toEqual({
      token: 'c',
      byCookie: true,
    });
    expect(givenToken({ cookie: 'session_id=c' }, false)).toBeUndefined();
    expect(givenToken({ 'x-auth-token': 'x', authorization: 'Bearer y', cookie: 'session_id=c' }, true)).toEqual({
      token: 'x',
      byCookie: false,
    });
    expect(cookieHeader('t', { path: '', seconds: 5.5, secure: true, foreign: true })).toBe(
      'session_id=t; Path=/; Max-Age=5; HttpOnly; SameSite=None; Secure',
    );
  });

  it('believe only trusted proxies', () => {
    const request = (from: string, headers: Record<string, string>) =>
      peerOf({ socket: { remoteAddress: from }, headers } as never, ['10.0.0.0/8']);
    const passed = { 'x-forwarded-for': '1.1.1.1, 2.2.2.2, 10.0.0.9', 'x-forwarded-proto': 'https' };
    expect(request('::ffff:10.0.0.1', passed)).toEqual({ address: '2.2.2.2', secure: true });
    expect(request('9.9.9.9', passed)).toEqual({ address: '9.9.9.9', secure: false });
    expect(request('10.0.0.1', { 'x-forwarded-for': 'nonsense' })).toEqual({ address: '10.0.0.1', secure: false });
  });
});

describe('answers', () => {
  it('have no bytes and no NaN, and sorted YAML', () => {
    const value = newDict([
      ['b', Number.NaN],
      ['a', Buffer.from([0x68, 0xff])],
      ['é', [Number.POSITIVE_INFINITY]],
    ]);
    expect(textOf(value, 'json')).toBe('{"b": null, "a": "h\uFFFD", "é": [null]}');
    expect(
      textOf(
        newDict([
          ['b', [1]],
          ['a', 'x'],
        ]),
        'yaml',
      ),
    ).toBe('a: x\nb:\n- 1\n');
  });

  it('are archives of whole records', () => {
    const tar = tarOf([{ name: 'minion.pem', mode: 0o600, text: 'x'.repeat(513) }], 0);
    expect(tar.length).toBe(10_240);
    expect(tar.toString('latin1', 100, 107)).toBe('0000600');
    expect(tar.toString('latin1', 257, 262)).toBe('ustar');
  });
});

describe('limits', () => {
  it('count calls of all and of each user, and give places back', async () => {
    const limits = new CallLimits(1, 1);
    let finish = (): void => undefined;
    const first = limits.run('a', () => new Promise<void>((resolve) => (finish = resolve)));
    const second = limits.run('b', async () => 'second');
    await expect(limits.run('c', async () => 1)).rejects.toMatchObject({ status: 503 });
    finish();
    await first;
    expect(await second).toBe('second');
    expect([limits.busy, limits.waiting]).toEqual([0, 0]);
    const wide = new CallLimits(100, 0);
    const many = Array.from({ length: 32 }, () => wide.run('a', () => new Promise<void>(() => undefined)));
    await expect(wide.run('a', async () => 1)).rejects.toMatchObject({ status: 429 });
    expect(await wide.run('b', async () => 1)).toBe(1);
    expect(many).toHaveLength(32);
  });
});

describe('settings', () => {
  const read = (block: Record<string, Value>, more: Record<string, Value> = {}) =>
    readApiSettings(newDict([['rest_cherrypy', newDict(Object.entries(block))], ...Object.entries(more)]));
  const least = { port: 8000, disable_ssl: true };

  it('have the defaults of Salt, and report unknown names', () => {
    expect(
      read(
        { ...least, colour: 'red' },
        { netapi_enable_clients: ['local', 'wheel'], netapi_disable_clients: ['wheel'] },
      ),
    ).toMatchObject({
      hosts: ['0.0.0.0'],
      webhookUrl: '/hook',
      webhookDisableAuth: false,
      maxBodyBytes: 1_048_576,
      clients: new Set(['local']),
      strangers: ['rest_cherrypy: colour'],
      apiAcl: undefined,
    });
    expect(read({ ...least, api_acl: newDict() }).apiAcl?.size).toBe(0);
  });

  it.each<[Record<string, Value>, string]>([
    [{}, 'Did not find any netapi configurations'],
    [{ port: 8000 }, "'ssl_crt' and 'ssl_key' are required"],
    [{ ...least, port: 70_000 }, 'port must be a number'],
    [{ ...least, webhook_disable_auth: 'no' }, 'webhook_disable_auth must be True or False'],
    [{ ...least, authorized_ips: ['10.0.0.300'] }, 'authorized_ips has "10.0.0.300"'],
    [{ ...least, static_path: '/' }, 'static_path must not be the root'],
    [{ ...least, host: [] }, 'host is empty'],
  ])('refuse %j', (block, text) => expect(() => read(block)).toThrow(text));
});
