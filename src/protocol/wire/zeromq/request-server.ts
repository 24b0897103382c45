// The master's request port over ZeroMQ: a ROUTER socket with our own ZMTP code. A reply goes to the connection of the
// request, independent of the identity it claims.
import { badLoad, defaultMaxMessageBytes } from '../link/answers.ts';
import { listenGuarded } from '../link/listen.ts';
import { ServerRequest } from '../link/server-request.ts';
import type { ListenOptions, RequestHandler, RequestServer } from '../transport.ts';
import { requestKeepAlive } from './keep-alive.ts';
import { routerType } from './zmtp/greeting.ts';
import { type Role, ZmtpPeer } from './zmtp/peer.ts';

// Longer reply routes are refused: REQ has none, REQ_CORRELATE one, and each proxy adds one.
const maxHops = 8;
// The route, the delimiter, the payload, and a few extra: somewhat too many frames do not end a connection.
const mostFrames = 16;

export async function listenRequests(options: ListenOptions, handler: RequestHandler): Promise<RequestServer> {
  const limit = options.maxMessageBytes ?? defaultMaxMessageBytes;
  const role: Role = {
    type: routerType,
    maxFrames: mostFrames,
    // Space for the route around the largest payload.
    maxBytes: limit + 4096,
    hardBytes: limit * 2 + 4096,
    // A connection that proved nothing must not live on its answers to PINGs.
    heartbeat: 'proven',
    ready: () => undefined,
    command: () => undefined,
    closed: () => undefined,
    message: (peer, frames, tooLarge) => serve(peer, frames, tooLarge, limit, handler),
  };
  return listenGuarded({ keepAlive: requestKeepAlive, ...options, tls: undefined }, 'request', (connection) => {
    return new ZmtpPeer(connection, role);
  });
}

function serve(peer: ZmtpPeer, frames: Buffer[], tooLarge: number, limit: number, handler: RequestHandler): void {
  const { connection } = peer;
  const at = delimiter(frames);
  const payload = frames[at + 1];
  if (at < 0 || payload === undefined || frames.length !== at + 2) {
    connection.completed()?.release();
    const detail = `a message of ${frames.length} frames is not a request`;
    connection.guard.problem({ kind: 'malformed', peer: connection.peer, detail });
    return;
  }
  const route = frames.slice(0, at + 1);
  const request = new ServerRequest(connection, payload, (answer) => peer.send([...route, answer]));
  if (tooLarge > 0 || payload.length > limit) {
    const detail = `a request of ${Math.max(tooLarge, payload.length)} bytes`;
    connection.guard.problem({ kind: 'too-large', peer: connection.peer, detail });
    request.reply(badLoad);
  } else request.serve(handler);
}

/** The index of the empty frame that ends the reply route; -1 when there is none. */
function delimiter(frames: readonly Buffer[]): number {
  const end = Math.min(frames.length, maxHops + 1);
  for (let i = 0; i < end; i++) if (frames[i]?.length === 0) return i;
  return -1;
}
