// Salt's TCP transport, the minion's side.
import { randomUUID } from 'node:crypto';
import { pack } from '../../base/codec/msgpack/index.ts';
import { headText, joinFrame, publishBody, splitFrame } from '../../protocol/wire/tcp/frame.ts';
import { FrameReader } from '../../protocol/wire/tcp/frame-reader.ts';
import { mostMessageBytes, openSocket, type Place, type RawConnection } from './socket.ts';
import type { FleetWire, WireEvents } from './types.ts';

function open(place: Place, events: WireEvents, frame: (bytes: Buffer) => void): RawConnection {
  const reader = new FrameReader(mostMessageBytes);
  return openSocket(place, {
    connected: () => events.ready(),
    received(chunk) {
      for (const bytes of reader.feed(chunk)) frame(bytes);
    },
    ended: (reason) => events.ended(reason),
  });
}

export const tcpWire: FleetWire = {
  request(place, events) {
    let asked = '';
    const connection = open(place, events, (bytes) => {
      const frame = splitFrame(bytes);
      if (!frame) throw new Error('the master sent a malformed reply');
      if (headText(frame.head, 'mid') === asked) events.message(frame.body);
    });
    return {
      send(payload) {
        asked = randomUUID();
        connection.write(joinFrame(pack({ mid: asked }), payload));
      },
      close: () => connection.close(),
    };
  },

  subscribe(place, events) {
    const ready = (): void => {
      events.opened();
      events.ready();
    };
    const connection = open(place, { ...events, ready }, (bytes) => {
      const frame = splitFrame(bytes);
      if (!frame) throw new Error('the master sent a malformed publication');
      events.message(publishBody(frame.body));
    });
    return {
      introduce({ presence, identification }) {
        connection.write(joinFrame(pack(presence === '' ? {} : { presence }), identification()));
      },
      leave: () => undefined,
      close: () => connection.close(),
    };
  },
};
