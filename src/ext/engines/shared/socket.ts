// Lines over a TCP or TLS connection that is opened again when it breaks.
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { HaliteError, messageOf } from 'halite/sdk';
import { netReason } from 'halite/sdk/net';

export interface LineTarget {
  readonly service: string;
  readonly host: string;
  readonly port: number;
  /** With TLS; `ca` is the content of a file of certificates that are trusted instead of the usual ones. */
  readonly tls?: { readonly ca?: string } | undefined;
}

const connectMs = 10_000;
const writeMs = 30_000;

export class LineSocket {
  readonly #target: LineTarget;
  #socket: Socket | undefined;

  constructor(target: LineTarget) {
    this.#target = target;
  }

  /** Resolves when the system has taken the line; throws store.unavailable. */
  async send(line: string): Promise<void> {
    const { service, host, port } = this.#target;
    try {
      const socket = this.#usable() ?? (await this.#open());
      await limited(writeMs, (done, fail) => socket.write(line, (error) => (error ? fail(error) : done(undefined))));
    } catch (error) {
      this.close();
      const why = error instanceof Error ? netReason(error) : messageOf(error);
      throw new HaliteError('store.unavailable', `${service} at ${host}:${port} cannot be reached: ${why}`);
    }
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #usable(): Socket | undefined {
    return this.#socket?.writable ? this.#socket : undefined;
  }

  async #open(): Promise<Socket> {
    const { host, port, tls } = this.#target;
    const socket = tls ? connectSecurely({ host, port, servername: host, ...tls }) : connect({ host, port });
    try {
      await limited(connectMs, (done, fail) => {
        socket.once(tls ? 'secureConnect' : 'connect', () => done(undefined));
        socket.once('error', fail);
      });
    } catch (error) {
      socket.destroy();
      throw error;
    }
    // Ends are seen at the next line; what the other side says is not read by anybody.
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.destroy());
    socket.resume();
    this.#socket = socket;
    return socket;
  }
}

function limited(
  ms: number,
  work: (done: (value: undefined) => void, fail: (error: Error) => void) => void,
): Promise<undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${ms / 1000} seconds`)), ms);
    const settle =
      <T>(then: (value: T) => void) =>
      (value: T): void => {
        clearTimeout(timer);
        then(value);
      };
    work(settle(resolve), settle(reject));
  });
}
