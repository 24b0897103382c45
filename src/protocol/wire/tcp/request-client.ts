// Requests over TCP: one connection, many concurrent requests, matched by message id.
import { randomUUID } from 'node:crypto';
import { pack } from '../../../base/codec/msgpack/index.ts';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import { defaultMaxMessageBytes } from '../link/answers.ts';
import { type Link, type LinkEvents, RequestPool } from '../link/request-pool.ts';
import { endpoint } from '../link/resolve.ts';
import type { DialOptions, RequestClient } from '../transport.ts';
import { connectStream } from './connect.ts';
import { headText, joinFrame, splitFrame } from './frame.ts';
import { FrameReader } from './frame-reader.ts';

const maxInFlight = 1024;

export function dial(options: DialOptions): RequestClient {
  return new RequestPool({
    target: `tcp://${endpoint(options.host, options.port)}`,
    maxLinks: 1,
    open: (events, attempt) => openLink(options, events, attempt),
  });
}

async function openLink(options: DialOptions, events: LinkEvents, attempt: number): Promise<Link> {
  const { socket } = await connectStream(options, attempt);
  const reader = new FrameReader(defaultMaxMessageBytes * 2);
  const tickets = new Map<string, number>();
  const ids = new Map<number, string>();
  let closed = false;
  const end = (reason: string) => {
    if (closed) return;
    closed = true;
    socket.destroy();
    events.onClosed(reason);
  };
  const take = (bytes: Buffer) => {
    const frame = splitFrame(bytes);
    const id = frame && headText(frame.head, 'mid');
    if (!frame || id === undefined) return;
    const ticket = tickets.get(id);
    if (ticket === undefined) return;
    tickets.delete(id);
    ids.delete(ticket);
    events.onReply(ticket, frame.body);
  };
  socket.on('data', (chunk: Buffer) => {
    try {
      for (const bytes of reader.feed(chunk)) take(bytes);
    } catch (thrown) {
      end(messageOf(thrown));
    }
  });
  socket.on('close', () => end('the connection was closed'));
  return {
    capacity: maxInFlight,
    send(ticket, payload) {
      if (closed || socket.destroyed) throw new HaliteError('wire.closed', 'the connection is closed');
      const id = randomUUID();
      tickets.set(id, ticket);
      ids.set(ticket, id);
      socket.write(joinFrame(pack({ mid: id }), payload));
    },
    forget(ticket) {
      tickets.delete(ids.get(ticket) ?? '');
      ids.delete(ticket);
      return true;
    },
    close() {
      closed = true;
      socket.destroy();
    },
  };
}
