// The local socket under attack by local users: large and incomplete frames, silence, and too many calls.
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pack } from '../../src/base/codec/msgpack/index.ts';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { LocalCaller, socketPath } from '../support/local-caller.ts';

const user = 'nobody';
let fleet: Deployment;
const sockets: Socket[] = [];

beforeAll(async () => {
  const acl = `publisher_acl:\n  ${user}:\n    - m1:\n      - test.ping\n      - test.echo\n`;
  fleet = await Deployment.create({ masterConfig: acl });
  await fleet.startMaster();
  fleet.startMinion('m1');
  await fleet.answering('m1');
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await fleet?.destroy();
});

async function dial(): Promise<Socket> {
  const socket = connect(socketPath(fleet));
  socket.on('error', () => undefined).resume();
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

const announced = (bytes: number): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(bytes);
  return head;
};
const closed = (socket: Socket): Promise<void> =>
  eventually('the master to close the connection', () => socket.destroyed);

describe('a stranger', () => {
  it('cannot announce a large frame', async () => {
    const socket = await dial();
    socket.write(announced(500_000_000));
    await closed(socket);
  });

  it('cannot make a small one use much memory', async () => {
    const bomb = Buffer.concat([Buffer.from([0xdd, 0, 0, 0xff, 0xff]), Buffer.alloc(0xffff, 0x80)]);
    const socket = await dial();
    socket.write(Buffer.concat([announced(bomb.length), bomb]));
    await closed(socket);
  });

  it('is closed when it sends nothing, or an incomplete frame', async () => {
    const silent = await dial();
    const slow = await dial();
    slow.write(Buffer.concat([announced(100_000), Buffer.alloc(10)]));
    const drip = setInterval(() => slow.write(Buffer.alloc(1)), 200);
    await Promise.all([closed(silent), closed(slow)]);
    clearInterval(drip);
  });

  it('is closed in favour of others when there are many', async () => {
    const many = await Promise.all(Array.from({ length: 300 }, () => dial()));
    await eventually('the oldest to go', () => many.filter((socket) => !socket.destroyed).length <= 128);
    const limited = await LocalCaller.connect(fleet, user);
    const { items } = await limited.publish({ tgt: 'm1', fun: 'test.ping' });
    expect(items.at(-1)).toMatchObject({ type: 'end', balance: { returned: 1 } });
    limited.close();
    for (const socket of many) socket.destroy();
  });

  it('learns only that its authentication failed', async () => {
    const caller = await LocalCaller.connect(fleet, user);
    expect((await caller.call('hello', { key: 'x'.repeat(76) })).error).toContain('Authentication failure');
    caller.close();
  });
});

describe('a limited user', () => {
  it('may send some megabytes once authenticated, and not hundreds', async () => {
    const text = 'x'.repeat(3_000_000);
    const echo = { tgt: 'm1', fun: 'test.echo', arg: [text] };
    const caller = await LocalCaller.connect(fleet, user);
    await caller.call('hello', {});
    const { items } = await caller.publish(echo);
    expect(items.find(({ type }) => type === 'return')?.['ret']).toBe(text);
    const { error } = await caller.publish({ ...echo, arg: ['x'.repeat(9_000_000)] });
    expect(error).toMatch(/larger than the \d+ bytes this caller may send/);
    const unproven = await LocalCaller.connect(fleet, user);
    expect((await unproven.publish(echo)).error).toContain('closed the connection');
    caller.close();
    unproven.close();
  });

  it('has a limited number of calls, and others are served meanwhile', async () => {
    const caller = await LocalCaller.connect(fleet, user);
    const calls = Array.from({ length: 3000 }, () => caller.publish({ tgt: 'm1', fun: 'test.ping', timeout: 60 }));
    expect(await fleet.json('m1', 'test.ping')).toEqual({ m1: true });
    const answers = await Promise.all(calls);
    const refused = answers.filter(({ error }) => error?.includes('this user has 128 calls under way'));
    expect(refused.length).toBeGreaterThan(1000);
    for (const { items, error } of answers)
      if (error === undefined) expect(items.at(-1)).toMatchObject({ type: 'end', balance: { returned: 1 } });
    expect(refused.length).toBe(answers.filter(({ error }) => error !== undefined).length);
    // They are free again.
    expect((await caller.publish({ tgt: 'm1', fun: 'test.ping' })).error).toBeUndefined();
    caller.close();
  });

  it('has a limited number of connections', async () => {
    const callers = await Promise.all(Array.from({ length: 70 }, () => LocalCaller.connect(fleet, user)));
    const answers = await Promise.all(callers.map((caller) => caller.call('hello', {})));
    expect(answers.filter(({ error }) => error?.includes('64 connections'))).toHaveLength(6);
    for (const caller of callers) caller.close();
  });

  it('cannot become another user on the same connection', async () => {
    const caller = await LocalCaller.connect(fleet, 'root');
    expect((await caller.call('hello', {})).error).toBeUndefined();
    const { error } = await caller.publish({ tgt: 'm1', fun: 'test.ping', user });
    expect(error).toContain('belongs to the user root');
    caller.close();
  });
});

describe('the user of the master', () => {
  it('has its own socket', async () => {
    const own = fleet.path('run/master/halite-own.ipc');
    expect(statSync(own).mode & 0o777).toBe(0o600);
    expect(statSync(socketPath(fleet)).mode & 0o777).toBe(0o666);
    await fleet.master.stop();
    expect([own, socketPath(fleet)].filter((path) => existsSync(path))).toEqual([]);
    await fleet.startMaster();
    await fleet.answering('m1');
  });

  it('has no limits', async () => {
    const big = pack('x'.repeat(12_000_000)).length;
    const { stdout } = await fleet.salt('m1', 'test.echo', 'ok', '--out=json');
    expect(JSON.parse(stdout)).toEqual({ m1: 'ok' });
    const root = await LocalCaller.connect(fleet, 'root');
    await root.call('hello', {});
    const { items } = await root.publish({ tgt: 'm1', fun: 'test.echo', arg: ['y'.repeat(big)], timeout: 60 });
    expect(String(items.find(({ type }) => type === 'return')?.['ret'])).toHaveLength(big);
    root.close();
  });
});
