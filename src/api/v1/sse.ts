// Server-sent events of our own API: one record after the other, at the speed of the reader.
import type { Api } from '../api.ts';
import { written } from '../events/writer.ts';
import type { Exchange } from '../http/exchange.ts';

export const eventStreamType = 'text/event-stream';
const pingMs = 15_000;

export const recordOf = (data: string, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${data.replace(/[\r\n]/g, ' ')}\n\n`;

export class EventStream {
  readonly #api: Api;
  readonly #exchange: Exchange;
  #queue: Promise<boolean> = Promise.resolve(true);
  #ping: NodeJS.Timeout | undefined;

  constructor(api: Api, exchange: Exchange) {
    this.#api = api;
    this.#exchange = exchange;
  }

  begin(): void {
    const { response, request } = this.#exchange;
    response.writeHead(200, {
      'Content-Type': `${eventStreamType};charset=utf-8`,
      'Cache-Control': 'no-cache',
      Connection: 'keep-alive',
      'X-Accel-Buffering': 'no',
    });
    request.socket.setTimeout(0);
    response.write('retry: 500\n\n');
    response.flushHeaders();
    this.#ping = setInterval(() => {
      if (!response.writableNeedDrain) response.write(': ping\n\n');
    }, pingMs);
    response.once('close', () => clearInterval(this.#ping));
  }

  /** Settles when the reader has room for more; false when it has left, or does not read. */
  send(data: string, id?: string): Promise<boolean> {
    return this.sendRecord(recordOf(data, id));
  }

  /** A record that several streams send. */
  sendRecord(record: string | Uint8Array): Promise<boolean> {
    this.#queue = this.#queue.then((open) => (open ? this.#write(record) : false));
    return this.#queue;
  }

  /** Where the reader is now; it hears nothing of this. */
  mark(id: string): Promise<boolean> {
    return this.sendRecord(`id: ${id}\n\n`);
  }

  async #write(record: string | Uint8Array): Promise<boolean> {
    const { response, peer } = this.#exchange;
    if (await written(response, record)) return true;
    if (!response.destroyed) this.#api.log.info('a stream is closed: its reader does not read', { from: peer.address });
    response.destroy();
    return false;
  }

  end(why: string): void {
    clearInterval(this.#ping);
    const { response } = this.#exchange;
    if (!response.destroyed) response.end(`: closed: ${why.replace(/[\r\n]+/g, ' ')}\n\n`);
  }
}
