import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Names } from './names.ts';
import { resolveAddress } from './resolve.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((done) => server.close(done));
});
async function listen(host: string): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => undefined));
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, host, done));
  return (server.address() as { port: number }).port;
}
const names = (...addresses: string[]) =>
  new Names(async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));

describe('an address of a name', () => {
  it('is one that takes a connection, wherever it is in the list', async () => {
    const port = await listen('127.0.0.3');
    const several = names('127.0.0.1', '127.0.0.2', '127.0.0.3');
    expect(await resolveAddress({ host: 'salt', port }, 0, several)).toEqual({ address: '127.0.0.3', family: 4 });
  });

  it('is another one at each attempt when none does', async () => {
    const port = await listen('127.0.0.9');
    const several = names('127.0.0.1', '127.0.0.2');
    const tried = [0, 1, 2].map((attempt) => resolveAddress({ host: 'salt', port }, attempt, several));
    expect((await Promise.all(tried)).map(({ address }) => address)).toEqual(['127.0.0.1', '127.0.0.2', '127.0.0.1']);
  });

  it('is asked for at every dial, and is the written one when there is no name', async () => {
    let address = '10.0.0.1';
    const moving = new Names(async () => [{ address, family: 4 }]);
    const ask = (host: string) => resolveAddress({ host, port: 1 }, 0, moving).then((found) => found.address);
    expect(await ask('salt')).toBe('10.0.0.1');
    address = '10.0.0.2';
    expect(await ask('salt')).toBe('10.0.0.2');
    expect(await ask('[::1]')).toBe('::1');
  });
});

describe('names that cannot be resolved', () => {
  it('do not delay others: at most one of them is looked up at a time, and not again at once', async () => {
    const asked: string[] = [];
    const pending: (() => void)[] = [];
    const found = new Names((name) => {
      asked.push(name);
      if (name === 'good') return Promise.resolve([{ address: '10.0.0.1', family: 4 }]);
      return new Promise((_, reject) => pending.push(() => reject(Object.assign(new Error(), { code: 'ENOTFOUND' }))));
    });
    const first = ['bad1', 'bad2', 'bad1'].map((name) => found.resolve(name, 4).catch((error: Error) => error.message));
    expect(asked).toEqual(['bad1', 'bad2']);
    for (const fail of pending.splice(0)) fail();
    expect(await Promise.all(first)).toEqual([
      'The name bad1 cannot be resolved (ENOTFOUND)',
      'The name bad2 cannot be resolved (ENOTFOUND)',
      'The name bad1 cannot be resolved (ENOTFOUND)',
    ]);
    // They rest: the same answer without a lookup.
    await expect(found.resolve('bad1', 4)).rejects.toThrow('ENOTFOUND');
    expect(asked).toHaveLength(2);
    const rested = performance.now() + 1100;
    while (performance.now() < rested) await new Promise((done) => setTimeout(done, 50));
    const again = ['bad1', 'bad2'].map((name) => found.resolve(name, 4).catch(() => 'failed'));
    await Promise.resolve();
    expect(asked.slice(2)).toEqual(['bad1']);
    expect(await found.resolve('good', 4)).toHaveLength(1);
    for (const fail of pending.splice(0)) fail();
    await again[0];
    await new Promise((done) => setImmediate(done));
    expect(asked.slice(2)).toEqual(['bad1', 'good', 'bad2']);
    for (const fail of pending.splice(0)) fail();
    await Promise.all(again);
  });
});
