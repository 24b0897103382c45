// Which connection is closed when there are too many, which waits when memory is used up, and how much is reported.
import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { pack } from '../../../base/codec/msgpack/index.ts';
import { tcpTransport } from '../tcp.ts';
import { loopback } from '../testing/conformance.ts';
import { eventually } from '../testing/eventually.ts';
import type { IncomingRequest, WireProblem } from '../transport.ts';
import { BytePool } from './byte-pool.ts';
import { Gather } from './gather.ts';
import { mostInLine, unproven } from './limits.ts';
import { PortGuard } from './port-guard.ts';
import { limitProblems } from './problems.ts';
import { ServerConnection } from './server-connection.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0).reverse()) await thing.close();
});

/** A guard over real connections from this process; each `join` is one more. */
async function port(kind: 'request' | 'publish', mostConnections: number) {
  const problems: WireProblem[] = [];
  const onProblem = (problem: WireProblem) => problems.push(problem);
  const guard = new PortGuard({ port: kind, maxMessageBytes: 1000, mostConnections, onProblem });
  const accepted: Socket[] = [];
  const server: Server = createServer((socket) => accepted.push(socket)).listen(0, loopback);
  open.push({ close: () => server.close() }, { close: () => guard.close() });
  await eventually(() => server.listening, 'the server');
  const { port: number } = server.address() as { port: number };
  const join = async (): Promise<ServerConnection> => {
    const before = accepted.length;
    const socket = dial(number, loopback);
    socket.on('error', () => undefined);
    open.push({ close: () => socket.destroy() });
    await eventually(() => accepted.length > before, 'the connection');
    const connection = new ServerConnection(accepted[before] as Socket, `peer ${before}`, guard);
    guard.add(connection);
    return connection;
  };
  return { guard, problems, join };
}

describe('too many connections', () => {
  it('on the request port the oldest idle unauthenticated connection is closed; proven or busy ones stay', async () => {
    const { guard, problems, join } = await port('request', 8);
    const proven = await join();
    proven.trust();
    const working = await join();
    guard.begun(working);
    const idle = await join();
    const others = [await join(), await join()];
    // At most four unauthenticated peers: half of all.
    const last = await join();
    await eventually(() => idle.socket.destroyed, 'the oldest idle one to be closed');
    expect([proven, working, ...others, last].map(({ socket }) => socket.destroyed)).toEqual(Array(5).fill(false));
    expect(problems).toMatchObject([{ kind: 'overload', peer: 'peer 2' }]);
  });

  it('on the publish port connections without a finished handshake are closed first, and established ones stay', async () => {
    const { guard, join } = await port('publish', 4);
    const ready = [await join(), await join(), await join()];
    for (const one of ready) one.setReady();
    const halfway = await join();
    const next = await join();
    expect(halfway.socket.destroyed).toBe(true);
    next.setReady();
    const newest = await join();
    expect(next.socket.destroyed).toBe(true);
    expect([...ready, newest].map(({ socket }) => socket.destroyed)).toEqual(Array(4).fill(false));
    await eventually(() => guard.connections.size === 4, 'those that stay');
  });

  it('refuses when all are proven', async () => {
    const { join } = await port('request', 2);
    for (let i = 0; i < 2; i++) (await join()).trust();
    expect((await join()).socket.destroyed).toBe(true);
  });
});

describe('too many requests in progress', () => {
  it('does not read from connections until others are answered, each in turn', async () => {
    const held: IncomingRequest[] = [];
    const options = { interface: loopback, port: 0 };
    const server = await tcpTransport.listenRequests(options, (request) => void held.push(request));
    open.push({ close: () => server.close() });
    // As many requests as unauthenticated peers may have in progress, and more: at most four per connection.
    const clients = Array.from({ length: 600 }, () => tcpTransport.dial({ host: loopback, port: server.port }));
    for (const client of clients) open.push({ close: () => client.close() });
    const answers = clients.flatMap((client) =>
      Array.from({ length: 5 }, () => client.request(pack('x'), { timeoutMs: 50_000 })),
    );
    await eventually(() => held.length >= unproven.inWorkAll, 'as many as allowed');
    expect(held.length).toBe(unproven.inWorkAll);
    const done = Promise.all(answers);
    let served = 0;
    await eventually(() => {
      for (const request of held.splice(0)) {
        request.reply(request.payload);
        served += 1;
      }
      return served === answers.length;
    }, 'all of them');
    expect(await done).toHaveLength(3000);
  });
});

describe('BytePool', () => {
  it('grants waiters in order, and requests above its capacity alone', () => {
    const pool = new BytePool(100);
    const got: string[] = [];
    const enter = (name: string, bytes: number) => pool.take(bytes, () => got.push(name));
    expect(enter('a', 60)).toBe(true);
    expect(enter('b', 60)).toBe(false);
    expect(enter('c', 10)).toBe(false);
    pool.give(60);
    expect(got).toEqual(['b', 'c']);
    expect(enter('d', 500)).toBe(false);
    pool.give(60);
    pool.give(10);
    expect(got).toEqual(['b', 'c', 'd']);
    const leaving = () => got.push('never');
    expect(pool.take(1, leaving)).toBe(false);
    expect(enter('e', 1)).toBe(false);
    pool.leave(leaving);
    pool.give(500);
    expect(got).toEqual(['b', 'c', 'd', 'e']);
    expect(pool.used).toBe(1);
  });

  it('has a bounded queue of waiters', () => {
    const pool = new BytePool(1);
    for (let i = 0; i <= mostInLine; i++) pool.take(1, () => undefined);
    expect(pool.crowded).toBe(true);
  });
});

it('Gather joins chunks without allocating the announced size', () => {
  const gather = new Gather();
  const before = process.memoryUsage().arrayBuffers;
  gather.add(Buffer.alloc(1000, 1), 500_000_000);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000);
  gather.add(Buffer.alloc(5000, 2), 500_000_000);
  const whole = gather.take();
  expect([whole.length, whole[999], whole[1000], gather.length]).toEqual([6000, 1, 2, 0]);
});

it('reports a kind of problem a few times, independent of the peer', () => {
  const told: WireProblem[] = [];
  const tell = limitProblems((problem) => told.push(problem));
  for (let i = 0; i < 1000; i++) tell({ kind: 'malformed', peer: `peer ${i}`, detail: 'no' });
  tell({ kind: 'slow', peer: 'another', detail: 'no' });
  expect(told.filter(({ kind }) => kind === 'malformed')).toHaveLength(10);
  expect(told.at(-1)?.kind).toBe('slow');
});
