// One request on a server connection, from its last byte to its reply: it and its memory are counted.
import { messageOf } from '../../../base/errors/index.ts';
import type { IncomingRequest, RequestHandler } from '../transport.ts';
import { serverError } from './answers.ts';
import type { ConnectionClass } from './port-guard.ts';
import type { ServerConnection, Share } from './server-connection.ts';

export class ServerRequest implements IncomingRequest {
  readonly payload: Uint8Array;
  readonly #connection: ServerConnection;
  readonly #share: Share | undefined;
  readonly #kind: ConnectionClass;
  readonly #send: (answer: Uint8Array) => void;
  #answered = false;

  /** `send` writes the reply in the format of the transport. */
  constructor(connection: ServerConnection, payload: Uint8Array, send: (answer: Uint8Array) => void) {
    this.payload = payload;
    this.#connection = connection;
    this.#share = connection.completed();
    this.#kind = connection.guard.begun(connection);
    this.#send = send;
  }

  get peer(): string {
    return this.#connection.peer;
  }

  get gone(): boolean {
    return !this.#connection.socket.writable;
  }

  trust(): void {
    this.#connection.trust();
  }

  reply(answer: Uint8Array): void {
    if (this.#answered) return;
    this.#answered = true;
    const connection = this.#connection;
    if (!connection.socket.destroyed) this.#send(answer);
    this.#share?.release();
    connection.guard.ended(connection, this.#kind);
    connection.update();
  }

  /** Passes it to its handler; it is answered in every case. */
  serve(handler: RequestHandler): void {
    try {
      handler(this);
    } catch (thrown) {
      this.#connection.guard.problem({ kind: 'handler', peer: this.peer, detail: messageOf(thrown) });
      this.reply(serverError);
    }
  }
}
