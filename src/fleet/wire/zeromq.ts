// ZeroMQ with our own code for the dialling side: libzmq has several open files and a thread's queue for each socket.
import { ZmtpClient } from '../../protocol/wire/zeromq/zmtp/client.ts';
import { mostMessageBytes, openSocket, type Place, type RawConnection } from './socket.ts';
import type { FleetWire, WireEvents } from './types.ts';

const none = Buffer.alloc(0);
/** A peer that takes the connection and says nothing is no master. */
const handshakeMs = 15_000;

function dial(
  place: Place,
  type: 'REQ' | 'SUB',
  events: WireEvents,
  payloadOf: (frames: readonly Buffer[]) => Buffer | undefined,
  onPong: () => void = () => undefined,
): { readonly peer: ZmtpClient; readonly connection: RawConnection } {
  const timer = setTimeout(() => {
    connection.close();
    events.ended('no ZeroMQ handshake');
  }, handshakeMs);
  const peer: ZmtpClient = new ZmtpClient({
    type,
    maxBytes: mostMessageBytes,
    write: (bytes) => connection.write(bytes),
    onPong,
    onReady() {
      clearTimeout(timer);
      events.ready();
    },
    onMessage(frames) {
      const payload = payloadOf(frames);
      if (payload) events.message(payload);
    },
  });
  const raw = openSocket(place, {
    connected: () => peer.greet(),
    received: (chunk) => peer.receive(chunk),
    ended(reason) {
      clearTimeout(timer);
      events.ended(reason);
    },
  });
  const connection: RawConnection = {
    write: raw.write,
    close() {
      clearTimeout(timer);
      raw.close();
    },
  };
  return { peer, connection };
}

export const zeromqWire: FleetWire = {
  request(place, events) {
    const { peer, connection } = dial(place, 'REQ', events, (frames) => {
      if (frames.length !== 2 || frames[0]?.length !== 0) throw new Error('the master sent a malformed reply');
      return frames[1];
    });
    return { send: (payload) => peer.send([none, payload]), close: connection.close };
  },

  subscribe(place, events) {
    let open = false;
    let told = false;
    const ready = (): void => {
      if (!told) events.ready();
      told = true;
    };
    const begin = (): void => {
      open = true;
      // Everything, as minions without zmq_filtering do; a filtering master sends a topic first.
      peer.subscribe('');
      events.opened();
      if (!peer.probe()) ready();
    };
    const last = (frames: readonly Buffer[]): Buffer | undefined => (frames.length <= 2 ? frames.at(-1) : undefined);
    const { peer, connection } = dial(place, 'SUB', { ...events, ready: begin }, last, ready);
    return {
      introduce({ presence }) {
        if (open && presence !== '') peer.subscribe(presence);
      },
      leave(presence) {
        if (open && presence !== '') peer.subscribe(presence, false);
      },
      close: connection.close,
    };
  },
};
