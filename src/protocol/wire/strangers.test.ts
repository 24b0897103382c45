// Unauthenticated peers on the ports of TCP and WebSocket: the same limits as on those of ZeroMQ, from the same code.
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import { frameStart, joinFrame } from './tcp/frame.ts';
import { tcpTransport } from './tcp.ts';
import { bothReady, echo, loopback, makeBench } from './testing/conformance.ts';
import { eventually } from './testing/eventually.ts';
import type { Transport } from './transport.ts';
import { encodeFrame, opcodes } from './ws/codec.ts';
import { wsTransport } from './ws.ts';

const MB = 1024 * 1024;
const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);
const upgrade =
  'GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: eHh4eHh4eHh4eHh4eHh4eA==\r\nSec-WebSocket-Version: 13\r\n\r\n';

interface Dialect {
  readonly transport: Transport;
  /** What comes before the first message. */
  readonly hello: string;
  request(payload: Buffer): Buffer;
  /** The beginning of a request of 60 MB. */
  readonly large: Buffer;
}

const announcedText = Buffer.from([0xdb, 0x03, 0xc0, 0, 0]);
const announcedFrame = Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0x03, 0xc0, 0, 0, 0, 0, 0, 0]);
const dialects: readonly Dialect[] = [
  {
    transport: tcpTransport,
    hello: '',
    request: (payload) => joinFrame(pack({ mid: 'x' }), payload),
    large: Buffer.concat([frameStart(pack({ mid: 'x' })), announcedText]),
  },
  {
    transport: wsTransport,
    hello: upgrade,
    request: (payload) => encodeFrame(opcodes.binary, payload, true),
    large: announcedFrame,
  },
];

describe.each(dialects)('strangers over $transport.name', ({ transport, hello, request, large }) => {
  const bench = makeBench(transport);
  afterEach(() => vi.useRealTimers());

  /** A connection that has sent its first bytes, which were received. */
  const stranger = async (port: number): Promise<Socket> => {
    const socket = connect(port, loopback);
    bench.own({ close: () => socket.destroy() });
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    let heard = hello === '';
    socket.on('data', () => {
      heard = true;
    });
    if (hello) socket.write(hello);
    await eventually(() => heard && !socket.connecting, 'the connection');
    return socket;
  };
  const clock = (): ((seconds: number) => Promise<void>) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    vi.advanceTimersByTime(1000);
    return async (seconds) => {
      for (let i = 0; i < seconds; i++) {
        vi.advanceTimersByTime(1000);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
  };

  it('hold incomplete large requests in bounded memory, while small ones are answered', async () => {
    const server = await bench.requests(echo, 0, 64 * MB);
    const part = Buffer.alloc(MB, 7);
    const sockets = await Promise.all(times(20, () => stranger(server.port)));
    const before = process.memoryUsage().arrayBuffers;
    for (const socket of sockets) {
      socket.write(large);
      for (let i = 0; i < 59; i++) socket.write(part);
    }
    const client = bench.own(bench.transport.dial({ host: loopback, port: server.port }));
    for (let i = 0; i < 100; i++) expect(unpack(await client.request(pack(i), { timeoutMs: 20_000 }))).toBe(i);
    await eventually(() => sockets.some((socket) => socket.bytesWritten > 58 * MB), 'a large part');
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(200 * MB);
  });

  it('may send large requests, one after the other', async () => {
    const server = await bench.requests((one) => one.reply(pack(one.payload.length)), 0, 64 * MB);
    const clients = times(3, () => bench.own(bench.transport.dial({ host: loopback, port: server.port })));
    const payload = pack(Buffer.alloc(50 * MB, 1));
    const replies = await Promise.all(clients.map((client) => client.request(payload, { timeoutMs: 50_000 })));
    expect(replies.map((reply) => unpack(reply))).toEqual(times(3, () => payload.length));
  });

  it('that do not read replies are no longer read from, and are closed', async () => {
    const pass = clock();
    let taken = 0;
    const answer = pack(Buffer.alloc(MB, 1));
    const server = await bench.requests((one) => {
      taken += 1;
      one.reply(answer);
    });
    const socket = await stranger(server.port);
    socket.pause();
    for (let i = 0; i < 500; i++) socket.write(request(pack('more')));
    await eventually(() => taken > 0, 'the first requests');
    await pass(10);
    expect(taken).toBeLessThan(50);
    await pass(20);
    await eventually(() => bench.problems.length > 0, 'the cut');
    expect(bench.problems).toMatchObject([{ kind: 'slow' }]);
  });

  it('that stop or slow down within a message are closed', async () => {
    const pass = clock();
    const server = await bench.requests(echo);
    const bytes = request(pack('x'.repeat(100)));
    const stalled = await stranger(server.port);
    const slow = await stranger(server.port);
    for (const socket of [stalled, slow]) socket.write(bytes.subarray(0, 50));
    const client = bench.own(bench.transport.dial({ host: loopback, port: server.port }));
    for (let i = 0; i < 12; i++) {
      slow.write(bytes.subarray(50 + i, 51 + i));
      // When a request and its reply have been transferred, the byte has arrived too.
      for (let k = 0; k < 3; k++) await client.request(pack(k), { timeoutMs: 20_000 });
      await pass(1);
    }
    await eventually(() => stalled.destroyed, 'the stopped one to be closed');
    expect([slow.destroyed, bench.problems]).toMatchObject([false, [{ detail: 'stalled in a message' }]]);
    await pass(6);
    await eventually(() => slow.destroyed, 'the slow one to be closed');
  });

  it('that subscribe and never read are closed, and the others miss nothing', async () => {
    const pass = clock();
    const publisher = await bench.publisher();
    const one = await bench.subscriber(publisher.port, 'one');
    const stuck = await Promise.all(times(3, () => stranger(publisher.port)));
    for (const socket of stuck) socket.pause();
    await bothReady(publisher, one);
    for (let n = 0; n < 100; n++) {
      publisher.publish(pack({ n, filler: Buffer.alloc(250_000, n) }));
      await eventually(() => one.received.length > n, `publish ${n}`);
      one.received[n] = (one.received[n] as { n: number }).n;
    }
    expect(one.received).toEqual(Array.from({ length: 100 }, (_, n) => n));
    await pass(20);
    const cuts = () => bench.problems.filter(({ detail }) => detail.includes('does not read')).length;
    await eventually(() => cuts() === 3, 'the cuts');
  });

  it('that send nothing at all are closed', async () => {
    const pass = clock();
    const server = await bench.requests(echo);
    const socket = connect(server.port, loopback);
    bench.own({ close: () => socket.destroy() });
    socket.on('error', () => undefined).resume();
    await eventually(() => !socket.connecting, 'the connection');
    await pass(12);
    await eventually(() => socket.destroyed, 'the cut');
  });
});
