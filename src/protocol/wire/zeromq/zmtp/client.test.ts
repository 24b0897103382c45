import { createConnection, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../testing/eventually.ts';
import { listenPublish } from '../publisher.ts';
import { listenRequests } from '../request-server.ts';
import { ZmtpClient, type ZmtpClientOptions } from './client.ts';

const until = (condition: () => boolean): Promise<void> => eventually(condition, 'what this test waits for');
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

interface Dialled {
  readonly client: ZmtpClient;
  readonly socket: Socket;
  readonly messages: string[][];
  readonly problems: string[];
  ready: boolean;
}

function dial(port: number, type: ZmtpClientOptions['type'], bytesAtOnce = 1 << 16, maxBytes = 1 << 20): Dialled {
  const socket = createConnection(port, '127.0.0.1');
  open.push({ close: () => socket.destroy() });
  const dialled: Dialled = {
    socket,
    messages: [],
    problems: [],
    ready: false,
    client: new ZmtpClient({
      ...{ type, maxBytes, write: (bytes) => void socket.write(bytes) },
      onReady: () => {
        dialled.ready = true;
      },
      onMessage: (frames) => void dialled.messages.push(frames.map(String)),
    }),
  };
  socket.on('connect', () => dialled.client.greet());
  socket.on('data', (data: Buffer) => {
    try {
      for (let at = 0; at < data.length; at += bytesAtOnce) dialled.client.receive(data.subarray(at, at + bytesAtOnce));
    } catch (error) {
      dialled.problems.push(String(error));
      socket.destroy();
    }
  });
  return dialled;
}

const local = { interface: '127.0.0.1', port: 0 };

describe('the dialling side of ZMTP', () => {
  it.each([1, 7, 65_536])('requests and replies, %i bytes at a time', async (bytes) => {
    const server = await listenRequests(local, (request) =>
      request.reply(Buffer.from(`re ${String(request.payload)}`)),
    );
    open.push(server);
    const dialled = dial(server.port, 'REQ', bytes);
    await until(() => dialled.ready);
    dialled.client.send([Buffer.alloc(0), Buffer.from('a')]);
    await until(() => dialled.messages.length === 1);
    dialled.client.send([Buffer.alloc(0), Buffer.alloc(70_000, 'b')]);
    await until(() => dialled.messages.length === 2);
    expect(dialled.messages[0]).toEqual(['', 're a']);
    expect(dialled.messages[1]?.[1]).toHaveLength(70_003);
  });

  it('subscribes, and leaves what it subscribed to', async () => {
    const server = await listenPublish({ ...local, hwm: 100 });
    open.push(server);
    const dialled = dial(server.port, 'SUB');
    await until(() => dialled.ready);
    dialled.client.subscribe('');
    await until(() => {
      server.publish(Buffer.from('news'));
      return dialled.messages.length > 0;
    });
    dialled.client.subscribe('', false);
    // What is published now must not arrive: a second subscriber shows when it would have.
    const other = dial(server.port, 'SUB');
    await until(() => other.ready);
    other.client.subscribe('');
    await until(() => {
      server.publish(Buffer.from('later'));
      return other.messages.length > 0;
    });
    expect(dialled.messages.flat()).not.toContain('later');
  });

  it('notices that it is at the wrong port', async () => {
    const server = await listenPublish({ ...local, hwm: 100 });
    open.push(server);
    const dialled = dial(server.port, 'REQ');
    await until(() => dialled.problems.length > 0);
    expect(dialled.problems[0]).toMatch(/XPUB socket|refused the ZeroMQ handshake/);
  });

  it('limits what it takes', async () => {
    const server = await listenRequests(local, (request) => request.reply(Buffer.alloc(5000)));
    open.push(server);
    const dialled = dial(server.port, 'REQ', 1 << 16, 1000);
    await until(() => dialled.ready);
    dialled.client.send([Buffer.alloc(0), Buffer.from('a')]);
    await until(() => dialled.problems.length > 0);
    expect(dialled.problems[0]).toContain('larger than 1000 bytes');
    expect(dialled.messages).toEqual([]);
  });
});
