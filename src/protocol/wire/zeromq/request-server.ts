// The master's request port over ZeroMQ: a ROUTER that answers REQ clients in any order.
import { Router } from 'zeromq';
import { messageOf } from '../../../base/errors/index.ts';
import { badLoad, defaultMaxMessageBytes, maxOutstanding, serverError } from '../link/answers.ts';
import { Gate } from '../link/gate.ts';
import type { ListenOptions, RequestHandler, RequestServer, WireProblem } from '../transport.ts';
import { type Bound, bind, keepAlive, requestKeepAlive } from './settings.ts';

// Reply routes longer than this are nobody's: REQ has one hop, a proxy or REQ_CORRELATE adds one each.
const MAX_HOPS = 8;

export async function listenRequests(options: ListenOptions, handler: RequestHandler): Promise<RequestServer> {
  const limit = options.maxMessageBytes ?? defaultMaxMessageBytes;
  const router = new Router({
    // Salt: a client that reconnects under its old identity takes over its route.
    handover: true,
    linger: 1000,
    sendTimeout: 0,
    backlog: options.backlog ?? 1000,
    ipv6: options.ipv6 === true || options.interface.includes(':'),
    maxMessageSize: limit * 2,
    ...keepAlive(options.keepAlive, requestKeepAlive),
  });
  const bound = await bind(router, options);
  const done = serve(bound, limit, handler, options.onProblem);
  return {
    port: bound.port,
    async close() {
      await bound.close();
      await done;
    },
  };
}

async function serve(
  bound: Bound<Router>,
  limit: number,
  handler: RequestHandler,
  onProblem: ((problem: WireProblem) => void) | undefined,
): Promise<void> {
  const gate = new Gate(maxOutstanding.count, maxOutstanding.bytes);
  for await (const frames of bound.socket) {
    const at = delimiter(frames);
    const peer = nameOf(frames[0]);
    const payload = frames[at + 1];
    if (at < 1 || payload === undefined || frames.length !== at + 2) {
      onProblem?.({ kind: 'malformed', peer, detail: `a message of ${frames.length} frames is no request` });
      continue;
    }
    const route = frames.slice(0, at + 1);
    const leave = gate.enter(payload.length);
    let answered = false;
    const reply = (answer: Uint8Array) => {
      if (answered) return;
      answered = true;
      leave();
      if (bound.socket.closed) return;
      bound.socket.send([...route, answer]).catch((thrown: unknown) => {
        onProblem?.({ kind: 'slow', peer, detail: `reply dropped: ${messageOf(thrown)}` });
      });
    };
    if (payload.length > limit) {
      onProblem?.({ kind: 'too-large', peer, detail: `a request of ${payload.length} bytes` });
      reply(badLoad);
      continue;
    }
    try {
      handler({ payload, peer, reply });
    } catch (thrown) {
      onProblem?.({ kind: 'handler', peer, detail: messageOf(thrown) });
      reply(serverError);
    }
    if (gate.full) await gate.room();
  }
}

/** Where the empty frame stands that ends the reply route; -1 when there is none. */
function delimiter(frames: readonly Buffer[]): number {
  const end = Math.min(frames.length, MAX_HOPS + 1);
  for (let i = 1; i < end; i++) if (frames[i]?.length === 0) return i;
  return -1;
}

/** The peer's self-chosen identity where it is readable (Salt 3006.27: `salt-req/...`), else its number in hex. */
function nameOf(identity: Buffer | undefined): string {
  if (!identity) return 'zeromq';
  const text = identity.toString('latin1');
  return `zeromq:${/^[\x21-\x7e]{1,200}$/.test(text) ? text : identity.toString('hex').slice(0, 64)}`;
}
