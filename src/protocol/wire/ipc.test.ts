// The local protocol on real sockets: streams, back-pressure, cancellation, permissions, dead daemons.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { connectIpc, type IpcClient, type IpcHandler, type IpcServer, listenIpc } from './ipc.ts';
import { eventually } from './testing/eventually.ts';

let folder: string;
let path: string;
const open: { close(): unknown }[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ipc-'));
  path = join(folder, 'd.sock');
});
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
  await rm(folder, { recursive: true });
});

async function serve(handler: IpcHandler, mode = 0o600): Promise<IpcServer> {
  const server = await listenIpc(path, { mode }, handler);
  open.push(server);
  return server;
}

async function dial(): Promise<IpcClient> {
  const client = await connectIpc(path, { what: 'salt-master' });
  open.push(client);
  return client;
}

async function all(items: AsyncIterable<Value>): Promise<Value[]> {
  const list: Value[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe('calls', () => {
  it('gives one value, a stream, or nothing; text and bytes keep their type', async () => {
    await serve(async (call) => {
      if (call.verb === 'echo') await call.send(call.args);
      if (call.verb === 'count') for (let i = 0; i < 3; i++) await call.send(i);
    });
    const client = await dial();
    const args = { text: 'a', bytes: Buffer.from([0xff, 1]), list: [1, null], map: new Map([[80, 'x']]) };
    const back = await client.one('echo', args);
    expect({ ...(back as object) }).toEqual(args);
    expect(await client.one('nothing')).toBeNull();
    expect(await all(client.call('count'))).toEqual([0, 1, 2]);
  });

  it('runs many calls at once over one connection', async () => {
    await serve(async (call) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
      await call.send(call.args['n'] as number);
    });
    const client = await dial();
    const numbers = Array.from({ length: 500 }, (_, n) => n);
    expect(await Promise.all(numbers.map((n) => client.one('x', { n })))).toEqual(numbers);
  });

  it('transfers large values', async () => {
    await serve((call) => call.end(call.args));
    const client = await dial();
    const bytes = Buffer.alloc(20_000_000, 0xfe);
    const back = (await client.one('echo', { bytes })) as { bytes: Buffer };
    expect(Buffer.compare(back.bytes, bytes)).toBe(0);
  });

  it('transfers errors with code, message, hint and details', async () => {
    await serve((call) => {
      const { verb } = call;
      if (verb === 'fail') {
        const details = { tgt: '*', error: new Error('not sent') };
        call.fail(new HaliteError('target.empty', 'No minion', { hint: 'Try another.', details }));
      }
      if (verb === 'throw') throw new Error('plain');
      if (verb === 'reject') return Promise.reject(new HaliteError('auth.denied', 'no'));
    });
    const client = await dial();
    const failed = await client.one('fail').catch((thrown: unknown) => thrown);
    expect(failed).toBeInstanceOf(HaliteError);
    expect(failed).toMatchObject({ code: 'target.empty', message: 'No minion', hint: 'Try another.' });
    expect({ ...(failed as HaliteError).details }).toEqual({ tgt: '*' });
    await expect(client.one('throw')).rejects.toMatchObject({ code: 'call.failed', message: 'plain' });
    await expect(client.one('reject')).rejects.toMatchObject({ code: 'auth.denied' });
  });
});

describe('flow', () => {
  it('pauses the sender while the reader is slow, without pausing other calls', async () => {
    let sent = 0;
    await serve(async (call) => {
      if (call.verb === 'quick') return call.end('quick');
      while (!call.signal.aborted) {
        await call.send(sent);
        sent += 1;
      }
    });
    const client = await dial();
    const slow = client.call('endless');
    expect(await slow.next()).toEqual({ done: false, value: 0 });
    let before = -1;
    await eventually(() => {
      const still = sent === before;
      before = sent;
      return still && sent > 0;
    }, 'the sender to stop');
    expect(sent).toBeLessThan(600);
    expect(await client.one('quick')).toBe('quick');
    for (let i = 1; i < 1000; i++) expect((await slow.next()).value).toBe(i);
    await slow.return?.();
    const end = sent;
    expect(end).toBeGreaterThanOrEqual(1000);
  });

  it('ends a call whose handler does not wait for a reader that does not read', async () => {
    const reasons: unknown[] = [];
    await serve((call) => {
      call.signal.addEventListener('abort', () => reasons.push(call.signal.reason));
      for (let i = 0; i < 60_000; i++) void call.send(i);
    });
    const client = await dial();
    await expect(all(client.call('flood'))).rejects.toMatchObject({ code: 'codec.limit' });
    expect(reasons).toMatchObject([{ code: 'codec.limit' }]);
  });

  it('keeps the order when the handler does not wait', async () => {
    await serve((call) => {
      for (let i = 0; i < 5000; i++) void call.send(i);
      call.end('last');
    });
    const client = await dial();
    expect(await all(client.call('x'))).toEqual([...Array.from({ length: 5000 }, (_, i) => i), 'last']);
  });
});

describe('ends', () => {
  it('aborts the handler when the reader ends the loop, aborts, or closes', async () => {
    const aborted: string[] = [];
    await serve(async (call) => {
      await call.send(1);
      await new Promise((resolve) => call.signal.addEventListener('abort', resolve));
      aborted.push(call.verb);
    });
    const client = await dial();
    for await (const item of client.call('leave')) {
      expect(item).toBe(1);
      break;
    }
    await eventually(() => aborted.includes('leave'), 'leave');
    const abort = new AbortController();
    const call = client.call('abort', {}, { signal: abort.signal });
    await call.next();
    const reading = call.next();
    abort.abort();
    await expect(reading).rejects.toMatchObject({ code: 'wire.closed' });
    await eventually(() => aborted.includes('abort'), 'abort');
    const last = client.call('close');
    await last.next();
    client.close();
    await expect(last.next()).rejects.toMatchObject({ code: 'wire.closed' });
    await eventually(() => aborted.includes('close'), 'close');
    await expect(client.one('later')).rejects.toMatchObject({ code: 'wire.closed' });
  });

  it('rejects open calls when the daemon ends', async () => {
    const server = await serve((call) => new Promise((resolve) => call.signal.addEventListener('abort', resolve)));
    const client = await dial();
    const waiting = expect(client.one('x')).rejects.toMatchObject({ code: 'wire.closed' });
    await server.close();
    await waiting;
  });

  it('drops a client that sends garbage and serves the others', async () => {
    await serve((call) => call.end('ok'));
    const client = await dial();
    for (const bytes of [
      Buffer.from([0xff, 0xff, 0xff, 0xff]),
      Buffer.from([0, 0, 0, 1, 0xc1]),
      Buffer.from([0, 0, 0, 1, 0x01]),
      Buffer.concat([Buffer.from([0, 0, 1, 0]), Buffer.alloc(256, 0x91)]),
    ]) {
      const bad = connect(path);
      bad.on('error', () => undefined);
      await once(bad, 'connect');
      bad.write(bytes);
      await once(bad, 'close');
      expect(await client.one('x')).toBe('ok');
    }
  });
});

describe('socket files', () => {
  it('are created with their mode and without temporary files, and are removed with the daemon', async () => {
    const server = await serve((call) => call.end(1), 0o660);
    expect((await stat(path)).mode & 0o777).toBe(0o660);
    expect(await readdir(folder)).toEqual(['d.sock']);
    await server.close();
    expect(await readdir(folder)).toEqual([]);
  });

  it('replaces the file of a dead daemon, and refuses to replace that of a running one', async () => {
    const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', script]);
    expect(await readdir(folder)).toEqual(['d.sock']);
    const server = await serve((call) => call.end('new'));
    expect(await (await dial()).one('x')).toBe('new');
    await expect(serve(() => undefined)).rejects.toMatchObject({ code: 'daemon.running' });
    expect(await readdir(folder)).toEqual(['d.sock']);
    await server.close();
    await writeFile(path, 'a plain file');
    await serve((call) => call.end('again'));
    expect(await (await dial()).one('x')).toBe('again');
  });

  it('does not remove the file of a successor', async () => {
    const server = await serve(() => undefined);
    await rm(path);
    const successor = createServer().listen(path);
    open.push({ close: () => successor.close() });
    await once(successor, 'listening');
    await server.close();
    expect(await readdir(folder)).toEqual(['d.sock']);
  });

  it('names the daemon to start when nothing answers', async () => {
    await expect(connectIpc(path, { what: 'salt-minion' })).rejects.toMatchObject({
      code: 'daemon.unreachable',
      hint: expect.stringContaining('salt-minion'),
    });
    await writeFile(path, '');
    await expect(connectIpc(path, { what: 'salt-master' })).rejects.toMatchObject({ code: 'daemon.unreachable' });
  });

  it('explains a path that the system does not allow, and a missing folder', async () => {
    path = join(folder, 'x'.repeat(120));
    await expect(serve(() => undefined)).rejects.toMatchObject({ code: 'config.value' });
    path = join(folder, 'none', 'd.sock');
    await expect(serve(() => undefined)).rejects.toMatchObject({ code: 'config.missing' });
  });
});
