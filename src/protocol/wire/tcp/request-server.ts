// The master's request port over TCP: many requests per connection, matched by the head, which the reply repeats.
import { HaliteError } from '../../../base/errors/index.ts';
import { defaultMaxMessageBytes } from '../link/answers.ts';
import { listenGuarded } from '../link/listen.ts';
import type { Protocol, ServerConnection } from '../link/server-connection.ts';
import { ServerRequest } from '../link/server-request.ts';
import type { ListenOptions, RequestHandler, RequestServer } from '../transport.ts';
import { frameStart, joinFrame, splitFrame } from './frame.ts';
import { FrameReader } from './frame-reader.ts';

// Larger replies are not copied into one buffer with their head.
const joinedBytes = 64 * 1024;
// Space for the head around the largest body.
const headBytes = 8192;

export async function listenRequests(options: ListenOptions, handler: RequestHandler): Promise<RequestServer> {
  const limit = options.maxMessageBytes ?? defaultMaxMessageBytes;
  return listenGuarded(options, 'request', (connection) => {
    return new RequestConnection(connection, new FrameReader(limit + headBytes), handler);
  });
}

class RequestConnection implements Protocol {
  readonly #connection: ServerConnection;
  readonly #reader: FrameReader;
  readonly #handler: RequestHandler;

  constructor(connection: ServerConnection, reader: FrameReader, handler: RequestHandler) {
    this.#connection = connection;
    this.#reader = reader;
    this.#handler = handler;
  }

  get pending(): number {
    return this.#reader.pending;
  }

  readonly #expect = (total: number): void => {
    this.#connection.admit(total);
  };

  /** TCP has no handshake of its own: a peer that sends something is ready. */
  push(chunk: Buffer): void {
    if (!this.#connection.ready) this.#connection.setReady();
    this.#reader.push(chunk);
  }

  take(): void {
    const connection = this.#connection;
    while (!connection.blocked) {
      const frame = this.#reader.next(this.#expect);
      if (!frame) return;
      this.#serve(frame);
    }
  }

  closed(): void {}

  #serve(bytes: Buffer): void {
    const frame = splitFrame(bytes);
    if (!frame) throw new HaliteError('codec.malformed', 'A frame has no head or no body');
    const request = new ServerRequest(this.#connection, frame.body, (answer) => this.#write(frame.head, answer));
    request.serve(this.#handler);
  }

  #write(head: Buffer, payload: Uint8Array): void {
    if (payload.length < joinedBytes) this.#connection.write(joinFrame(head, payload));
    else {
      this.#connection.write(frameStart(head));
      this.#connection.write(payload);
    }
  }
}
