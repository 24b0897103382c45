// The master's publish port over WebSocket: every connection gets every publish, as in Salt.
import { Delivery, SharedFrame, Waiting } from '../link/delivery.ts';
import { PacedQueue } from '../link/paced-queue.ts';
import { Presence } from '../link/presence.ts';
import type { PublishListenOptions, PublishServer } from '../transport.ts';
import { encodeFrame, opcodes } from './codec.ts';
import { listenWs } from './handshake.ts';
import { WsServerProtocol } from './server-protocol.ts';

// Subscribers send nothing.
const maxMessageBytes = 4096;
/** Real masters ignore the header; a Halite master reads from it which minion is connected. */
export const presenceHeader = 'x-halite-presence';

export async function listenPublish(options: PublishListenOptions): Promise<PublishServer> {
  const presence = new Presence(options);
  const waiting = new Waiting();
  const subscribers = new Set<Delivery>();
  const queue = new PacedQueue<Delivery, SharedFrame>((delivery, frame) => delivery.send(frame), SharedFrame.join);
  const server = await listenWs(options, 'publish', (connection, headers) => {
    const delivery = new Delivery(connection, waiting, options.hwm);
    subscribers.add(delivery);
    const claimed = headers[presenceHeader];
    const topic = typeof claimed === 'string' && presence.joined(claimed, connection.peer) ? claimed : undefined;
    if (topic !== undefined) connection.trust();
    return new WsServerProtocol(connection, maxMessageBytes, {
      onMessage: () => connection.completed(),
      drained: () => delivery.drained(),
      closed() {
        subscribers.delete(delivery);
        delivery.closed();
        if (topic !== undefined) presence.left(topic, connection.peer);
      },
    });
  });
  return {
    port: server.port,
    get connections() {
      return server.connections;
    },
    publish(payload) {
      const frame = new SharedFrame(payload.length, () => encodeFrame(opcodes.binary, asBin(payload), false));
      queue.push(subscribers, frame);
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
