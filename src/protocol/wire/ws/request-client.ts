// Requests over WebSocket: replies have no id, so a connection has one request at a time.
import { HaliteError } from '../../../base/errors/index.ts';
import { defaultMaxMessageBytes } from '../link/answers.ts';
import { type Link, type LinkEvents, RequestPool } from '../link/request-pool.ts';
import { endpoint } from '../link/resolve.ts';
import type { DialOptions, RequestClient } from '../transport.ts';
import { WsConnection } from './connection.ts';
import { connectWs } from './handshake.ts';

const mostLinks = 16;

export function dial(options: DialOptions): RequestClient {
  return new RequestPool({
    target: `ws://${endpoint(options.host, options.port)}`,
    maxLinks: mostLinks,
    open: (events, attempt) => openLink(options, events, attempt),
  });
}

async function openLink(options: DialOptions, events: LinkEvents, attempt: number): Promise<Link> {
  const { socket, head } = await connectWs({ ...options, path: '/ws' }, attempt);
  let current: number | undefined;
  let closing = false;
  const connection = new WsConnection(socket, head, defaultMaxMessageBytes * 2, {
    onMessage(data) {
      const ticket = current;
      current = undefined;
      if (ticket === undefined) connection.destroy();
      else events.onReply(ticket, data);
    },
    onClosed(reason) {
      if (!closing) events.onClosed(reason);
    },
  });
  connection.resume();
  return {
    capacity: 1,
    send(ticket, payload) {
      if (!connection.open) throw new HaliteError('wire.closed', 'the connection is closed');
      current = ticket;
      connection.send(payload);
    },
    forget: () => false,
    close() {
      closing = true;
      connection.close();
    },
  };
}
