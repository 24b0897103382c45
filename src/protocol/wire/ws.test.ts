// The WebSocket transport: the shared suite, the frame rules, and Node's own client as an independent check.
import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import { describeTransport, echo, loopback, makeBench } from './testing/conformance.ts';
import { eventually } from './testing/eventually.ts';
import { encodeFrame, opcodes, WsReader } from './ws/codec.ts';
import { acceptKey } from './ws/handshake.ts';
import { wsTransport } from './ws.ts';

describeTransport('ws', async () => wsTransport);

describe('frames', () => {
  it('gives the same messages however the stream is split', () => {
    const messages = fc.array(fc.uint8Array({ maxLength: 70_000, size: 'max' }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(messages, fc.boolean(), fc.integer({ min: 1, max: 50_000 }), (bodies, masked, cut) => {
        const stream = Buffer.concat(bodies.map((body) => encodeFrame(opcodes.binary, body, masked)));
        const reader = new WsReader(1_000_000, masked);
        const seen: Buffer[] = [];
        for (let at = 0; at < stream.length; at += cut) {
          seen.push(...reader.feed(Buffer.from(stream.subarray(at, at + cut))).map(({ data }) => data));
        }
        expect(seen.map((data) => data.toString('hex'))).toEqual(
          bodies.map((body) => Buffer.from(body).toString('hex')),
        );
        expect(reader.pending).toBe(0);
      }),
      { numRuns: 30 },
    );
  });

  it('joins fragments, with control frames between them', () => {
    const reader = new WsReader(100, false);
    const part = (bytes: number[]) => reader.feed(Buffer.from(bytes));
    expect(part([0x02, 1, 65])).toEqual([]);
    expect(part([0x89, 0])).toMatchObject([{ opcode: opcodes.ping }]);
    expect(part([0x00, 1, 66])).toEqual([]);
    expect(part([0x80, 1, 67])).toEqual([{ opcode: opcodes.binary, data: Buffer.from('ABC') }]);
  });

  it.each([
    ['reserved bits', [0xf2, 0]],
    ['opcode', [0x83, 0]],
    ['mask', [0x82, 0x80]],
    ['control frame', [0x09, 0]],
    ['control frame', [0x89, 126, 0, 200]],
    ['out of order', [0x80, 0]],
    ['larger than', [0x82, 127, 0, 0, 0, 0, 0x06, 0x40, 0, 0]],
    ['larger than', [0x82, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
  ])('refuses wrong %s', (message, bytes) => {
    expect(() => new WsReader(1000, false).feed(Buffer.from(bytes))).toThrow(message);
  });

  it('computes the example of RFC 6455', () => {
    expect(acceptKey('dGhlIHNhbXBsZSBub25jZQ==')).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
  });
});

describe('ws details', () => {
  const bench = makeBench(wsTransport);
  const speak = async (port: number, text: string): Promise<string> => {
    const socket = connect(port, loopback);
    socket.on('error', () => undefined);
    bench.own({ close: () => socket.destroy() });
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
    });
    await once(socket, 'connect');
    socket.write(text);
    await eventually(() => answer.includes('\r\n\r\n'), 'an answer');
    return answer;
  };
  const upgrade = 'GET /any HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n';

  it('answers plain HTTP with an explanation, and refuses wrong handshakes', async () => {
    const server = await bench.requests(echo);
    expect(await speak(server.port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(/^HTTP\/1\.1 426 /);
    expect(await speak(server.port, `${upgrade}\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
    const good = `${upgrade}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
    expect(await speak(server.port, good)).toMatch(/^HTTP\/1\.1 101 /);
  });

  it('answers pipelined requests in order', async () => {
    const server = await bench.requests((request) => {
      const n = unpack(request.payload) as number;
      setTimeout(() => request.reply(request.payload), n % 2 === 0 ? 10 : 0);
    });
    const socket = connect(server.port, loopback);
    bench.own({ close: () => socket.destroy() });
    const replies: unknown[] = [];
    const reader = new WsReader(1000, false);
    let upgraded = false;
    socket.on('data', (chunk: Buffer) => {
      const body = upgraded ? chunk : chunk.subarray(chunk.indexOf('\r\n\r\n') + 4);
      upgraded = true;
      for (const { data } of reader.feed(body)) replies.push(unpack(data));
    });
    socket.write(`${upgrade}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`);
    for (let n = 0; n < 100; n++) socket.write(encodeFrame(opcodes.binary, pack(n), true));
    await eventually(() => replies.length === 100, 'all replies');
    expect(replies).toEqual(Array.from({ length: 100 }, (_, n) => n));
  });

  it('packs publishes twice, as Salt does, and ends on the text "close"', async () => {
    const publisher = await bench.publisher();
    const socket = connect(publisher.port, loopback);
    bench.own({ close: () => socket.destroy() });
    const reader = new WsReader(1000, false);
    const seen: { opcode: number; data: Buffer }[] = [];
    let upgraded = false;
    socket.on('data', (chunk: Buffer) => {
      const body = upgraded ? chunk : chunk.subarray(chunk.indexOf('\r\n\r\n') + 4);
      upgraded = true;
      seen.push(...reader.feed(body));
    });
    socket.write(`${upgrade}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`);
    await eventually(() => upgraded, 'the upgrade');
    const envelope = pack({ enc: 'aes', load: Buffer.from([0xff]) });
    publisher.publish(envelope);
    await eventually(() => seen.length === 1, 'the publish');
    expect(seen[0]?.data).toEqual(pack(envelope, { bin: true }));
    socket.write(encodeFrame(opcodes.text, Buffer.from('close'), true));
    await once(socket, 'end');
    expect(seen.at(-1)?.opcode).toBe(opcodes.close);
  });

  it('closes the connection on too large messages', async () => {
    const server = await bench.requests(echo, 0, 10_000);
    const client = bench.own(bench.transport.dial({ host: loopback, port: server.port }));
    await expect(client.request(pack(Buffer.alloc(50_000)), { timeoutMs: 5000 })).rejects.toMatchObject({
      code: 'wire.closed',
    });
    expect(bench.problems).toMatchObject([{ kind: 'too-large' }]);
  });
});
