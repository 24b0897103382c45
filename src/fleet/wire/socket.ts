// One plain outgoing connection of a simulated minion. All connections of a process read into the same buffer, so that an
// idle one holds no memory for input.
import { connect, type Socket } from 'node:net';

/** A reply or a publication. Tens of thousands of connections must not be filled by a peer that is no master. */
export const mostMessageBytes = 16 * 1024 * 1024;

const connectMs = 10_000;
const shared = Buffer.allocUnsafeSlow(64 * 1024);

export interface Place {
  readonly address: string;
  readonly port: number;
}

export interface SocketEvents {
  connected(): void;
  /** A copy that belongs to the receiver. Throwing ends the connection with that reason. */
  received(chunk: Buffer): void;
  /** Called once, unless the owner closed it. */
  ended(reason: string): void;
}

export interface RawConnection {
  write(bytes: Uint8Array): void;
  close(): void;
}

export function openSocket(place: Place, events: SocketEvents): RawConnection {
  let over = false;
  let why = 'the connection was closed';
  const end = (reason: string): void => {
    if (over) return;
    over = true;
    clearTimeout(timer);
    socket.destroy();
    events.ended(reason);
  };
  const socket: Socket = connect({
    host: place.address,
    port: place.port,
    noDelay: true,
    onread: {
      buffer: shared,
      callback: (size) => {
        if (over) return false;
        try {
          events.received(Buffer.from(shared.subarray(0, size)));
        } catch (thrown) {
          end(thrown instanceof Error ? thrown.message : String(thrown));
        }
        return !over;
      },
    },
  });
  const timer = setTimeout(() => end('the connection timed out'), connectMs);
  socket.once('connect', () => {
    clearTimeout(timer);
    if (!over) events.connected();
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    why = error.code === 'ECONNREFUSED' ? 'the connection was refused' : error.message;
  });
  socket.once('close', () => end(why));
  return {
    write: (bytes) => void (over || socket.write(bytes)),
    close() {
      over = true;
      clearTimeout(timer);
      socket.destroy();
    },
  };
}
