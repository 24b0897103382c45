// Requests over ZeroMQ. Masters answer in any order and replies have no id, so a connection has one request at a time.
import { Dealer } from 'zeromq';
import { HaliteError } from '../../../base/errors/index.ts';
import { defaultMaxMessageBytes } from '../link/answers.ts';
import { type Link, type LinkEvents, RequestPool } from '../link/request-pool.ts';
import { endpoint } from '../link/resolve.ts';
import type { DialOptions, RequestClient } from '../transport.ts';
import { connect, singleUse } from './connect.ts';
import { requestKeepAlive } from './keep-alive.ts';
import { heartbeat, keepAlive } from './settings.ts';

// Requests beyond this wait for a free connection; idle connections are closed, so most minions have one or none.
const mostLinks = 16;

export function dial(options: DialOptions): RequestClient {
  return new RequestPool({
    target: `tcp://${endpoint(options.host, options.port)}`,
    maxLinks: mostLinks,
    open: (events, attempt) => openLink(options, events, attempt),
  });
}

/**
 * A DEALER that sends the empty frame itself looks like a REQ to the master. Unlike a REQ it has no state machine
 * that could block; the rule "one at a time, and closed when a reply was abandoned" is enforced here.
 */
async function openLink(options: DialOptions, events: LinkEvents, attempt: number): Promise<Link> {
  const { socket, gone } = await connect(
    options,
    attempt,
    (family) =>
      new Dealer({
        ...singleUse,
        sendTimeout: 0,
        ipv6: family === 6,
        maxMessageSize: defaultMaxMessageBytes * 2,
        ...heartbeat(options.heartbeat),
        ...keepAlive(options.keepAlive, requestKeepAlive),
      }),
  );
  let current: number | undefined;
  let closed = false;
  const close = () => {
    closed = true;
    if (!socket.closed) socket.close();
  };
  const end = (reason: string) => {
    if (closed) return;
    close();
    events.onClosed(reason);
  };
  void gone.then(end);
  void (async () => {
    for await (const frames of socket) {
      const ticket = current;
      current = undefined;
      const payload = frames[1];
      if (frames.length !== 2 || frames[0]?.length !== 0 || !payload) return end('the master sent a malformed reply');
      if (ticket === undefined) return end('the master sent a reply without a request');
      events.onReply(ticket, payload);
    }
  })();
  return {
    capacity: 1,
    send(ticket, payload) {
      if (closed) throw new HaliteError('wire.closed', 'the connection is closed');
      current = ticket;
      socket.send(['', payload]).catch(() => end('the request could not be sent'));
    },
    forget: () => false,
    close,
  };
}
