// A service that checks passwords: what it gets, and which answers are rules.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bindArguments } from '../../engine/exec/bind.ts';
import type { AuthContext, AuthSession, Value } from '../../extend/sdk/index.ts';
import rest from './rest.ts';

let server: Server;
let url: string;
let answer: { status: number; text: string; location?: string };
let got: { method: string; type: string; body: string };
beforeAll(async () => {
  server = createServer(async (request, reply) => {
    let body = '';
    for await (const piece of request) body += String(piece);
    got = { method: request.method ?? '', type: request.headers['content-type'] ?? '', body };
    reply.writeHead(answer.status, answer.location ? { location: answer.location } : {}).end(answer.text);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/login`;
});
afterAll(() => new Promise((done) => server.close(done)));

const open = (settings: Record<string, Value>): AuthSession | Promise<AuthSession> =>
  rest.open(bindArguments('rest', rest.settings, [], settings) as never, {} as AuthContext);
const check = async () => (await open({ url })).check({ username: 'fred & co', password: 'a=b&c' });

it('sends name and password as a form', async () => {
  answer = { status: 200, text: '' };
  expect(await check()).toEqual({});
  expect(got.method).toBe('POST');
  expect(Object.fromEntries(new URLSearchParams(got.body))).toEqual({ username: 'fred & co', password: 'a=b&c' });
});

it.each<[string, object]>([
  ['null', {}],
  ['["test.*", {"web*": ["cmd.run"]}]', { rules: ['test.*', { 'web*': ['cmd.run'] }] }],
  ['[]', { rules: [] }],
])('reads the rules of %s', async (text, accepted) => {
  answer = { status: 200, text };
  expect(await check()).toEqual(accepted);
});

it.each<[number, string, string?]>([
  [200, '{"test.*": 1}'],
  [200, '"test.*"'],
  [200, '<html>'],
  [401, '["test.*"]'],
  [403, ''],
  [204, ''],
  [302, '', 'http://127.0.0.1:9/'],
  [500, ''],
])('refuses status %i with %j', async (status, text, location) => {
  answer = { status, text, ...(location ? { location } : {}) };
  expect(await check().catch(() => undefined)).toBeUndefined();
});

it.each(['http://login.example.com', 'ftp://127.0.0.1', 'nonsense', '', 'http://127.0.0.1.example.com/'])(
  'refuses the address %s',
  async (bad) => {
    await expect((async () => open({ url: bad }))()).rejects.toThrow(/rest: \^url/);
  },
);
