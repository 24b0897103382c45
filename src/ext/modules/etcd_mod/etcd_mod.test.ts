// The module `etcd` against a small server that implements the JSON gateway of version 3.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newDict, type Value } from 'halite/sdk';
import { testContext } from 'halite/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import etcd from './index.ts';

const kept = new Map<string, string>();
const plain = (text: string): string => Buffer.from(text, 'base64').toString('latin1');

interface Range {
  readonly key: string;
  readonly range_end?: string;
}
const range = ({ key, range_end: end }: Range) => ({
  kvs: [...kept]
    .filter(([name]) => (end === undefined ? name === plain(key) : name >= plain(key) && name < plain(end)))
    .map(([name, value]) => ({ key: Buffer.from(name, 'latin1').toString('base64'), value })),
});

/** Answers one request of the gateway. */
function answer(path: string, body: Record<string, unknown>): unknown {
  if (path === '/v3/kv/range') return range(body as unknown as Range);
  const steps = body['success'] as { requestPut?: { key: string; value: string }; requestRange?: Range }[];
  const responses = steps.map(({ requestPut, requestRange }) => {
    if (requestPut) kept.set(plain(requestPut.key), requestPut.value);
    return requestRange ? { response_range: range(requestRange) } : {};
  });
  return { responses };
}

let server: Server;
beforeAll(async () => {
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (piece) => {
      text += piece;
    });
    request.on('end', () => response.end(JSON.stringify(answer(request.url ?? '', JSON.parse(text)))));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

async function call(fun: string, ...args: Value[]): Promise<unknown> {
  const { port } = server.address() as AddressInfo;
  const profile = newDict(Object.entries({ 'etcd.host': '127.0.0.1', 'etcd.port': port }));
  const ctx = testContext({ modules: [etcd], opts: { mine: profile } });
  const answered = await ctx.callWith(`etcd.${fun}`, args, newDict([['profile', 'mine']]));
  return JSON.parse(JSON.stringify(answered));
}

describe('etcd', () => {
  it('sets, gets and lists', async () => {
    expect(await call('set', '/salt/a', 'one')).toBe('one');
    expect(await call('get', '/salt/a')).toBe('one');
    expect(await call('get', '/salt/none')).toBeNull();
    expect(await call('update', newDict([['b', newDict([['c', 2]])]]), '/salt')).toEqual({ '/salt/b/c': '2' });
    expect(await call('tree', '/salt')).toEqual({ a: 'one', b: { c: '2' } });
    expect(await call('get', '/salt', true)).toEqual({ a: 'one', b: { c: '2' } });
    expect(await call('ls', '/salt')).toEqual({ '/salt': { '/salt/a': 'one', '/salt/b/': {} } });
    expect(await call('ls', '/nowhere')).toEqual({});
  });
  it('refuses an unknown profile', async () => {
    const ctx = testContext({ modules: [etcd] });
    await expect(ctx.callWith('etcd.get', ['/a'], newDict([['profile', 'other']]))).rejects.toThrow("named 'other'");
  });
});
