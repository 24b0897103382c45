// The master's publish port over WebSocket: everybody gets everything, as in Salt.
import { messageOf } from '../../../base/errors/index.ts';
import { PacedQueue } from '../link/paced-queue.ts';
import { Roster } from '../link/roster.ts';
import type { PublishListenOptions, PublishServer } from '../transport.ts';
import { encodeFrame, opcodes } from './codec.ts';
import { WsConnection } from './connection.ts';
import { listenWs } from './handshake.ts';

// Subscribers have nothing to say.
const MAX_MESSAGE_BYTES = 4096;
const MAX_UNSENT_BYTES = 64 * 1024 * 1024;
/** Real masters ignore the header; ours learns who is connected. */
export const presenceHeader = 'x-halite-presence';

interface Member {
  readonly peer: string;
  readonly connection: WsConnection;
}

export async function listenPublish(options: PublishListenOptions): Promise<PublishServer> {
  const roster = new Roster<Member>((event) => {
    try {
      options.onSubscriber?.(event);
    } catch (thrown) {
      options.onProblem?.({ kind: 'handler', peer: event.peer, detail: messageOf(thrown) });
    }
  });
  const queue = new PacedQueue<Member>(({ peer, connection }, frame) => {
    connection.write(frame);
    if (connection.unsent <= MAX_UNSENT_BYTES) return;
    options.onProblem?.({ kind: 'slow', peer, detail: 'takes publishes too slowly' });
    connection.destroy();
  });
  const server = await listenWs(options, ({ socket, peer, head, headers }) => {
    const connection = new WsConnection(
      socket,
      head,
      { client: false, maxBytes: MAX_MESSAGE_BYTES },
      {
        onMessage: () => undefined,
        onClosed(_reason, error) {
          roster.remove(member);
          if (error) options.onProblem?.({ kind: 'malformed', peer, detail: messageOf(error) });
        },
      },
    );
    const member: Member = { peer, connection };
    roster.add(member);
    const topic = headers[presenceHeader];
    if (typeof topic === 'string') roster.identify(member, undefined, topic);
  });
  return {
    port: server.port,
    publish(payload) {
      const targets = roster.all();
      if (targets.length > 0) queue.push(targets, encodeFrame(opcodes.binary, asBin(payload), false));
    },
    close() {
      queue.flush();
      return server.close();
    },
  };
}

/** Salt packs the packed envelope once more, as msgpack `bin`; all peers with WebSocket can read that. */
function asBin(payload: Uint8Array): Buffer {
  const width = payload.length < 0x100 ? 1 : payload.length < 0x10000 ? 2 : 4;
  const header = Buffer.alloc(1 + width);
  header[0] = width === 1 ? 0xc4 : width === 2 ? 0xc5 : 0xc6;
  header.writeUIntBE(payload.length, 1, width);
  return Buffer.concat([header, payload]);
}
