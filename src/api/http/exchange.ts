// One request and its answer, as endpoints see it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type JsonText, readValue } from '../../base/codec/json/index.ts';
import { newDict, type Value } from '../../base/codec/value.ts';
import { returnedJson, textOf } from './answer.ts';
import { type Body, readBody } from './body.ts';
import { codingFor, compressed } from './coding.ts';
import type { Form } from './negotiate.ts';
import type { Peer } from './peer.ts';

export interface Answer {
  readonly status?: number;
  readonly value: Value;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that is no data: a file, an archive. */
export interface RawAnswer {
  readonly status?: number;
  readonly bytes: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ExchangeParts {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Below the prefix, decoded, without a final slash. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly peer: Peer;
  readonly maxBodyBytes: number;
}

export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly peer: Peer;
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
  /** Whose token it is, for the log of requests. */
  user: string | undefined;
  bytesRead = 0;
  bytesWritten = 0;
  media: { readonly type: string; readonly form: Form } = { type: 'application/json', form: 'json' };
  readonly #maxBodyBytes: number;

  constructor({ request, response, path, query, peer, maxBodyBytes }: ExchangeParts) {
    this.request = request;
    this.response = response;
    this.path = path;
    this.query = query;
    this.peer = peer;
    this.#maxBodyBytes = maxBodyBytes;
    const left = new AbortController();
    response.once('close', () => left.abort());
    this.signal = left.signal;
  }

  get method(): string {
    return this.request.method ?? 'GET';
  }

  async body(): Promise<Body | undefined> {
    const body = await readBody(this.request, this.#maxBodyBytes);
    this.bytesRead += body?.bytes.length ?? 0;
    return body;
  }

  send({ status = 200, value, headers = {} }: Answer): void {
    this.#sendParts(status, [Buffer.from(textOf(value, this.media.form))], headers);
  }

  /** `{"return": […]}`. */
  sendItems(items: readonly (Value | JsonText)[]): void {
    if (this.media.form === 'json') this.#sendParts(200, returnedJson(items), {});
    else this.send({ value: newDict([['return', items.map(readValue)]]) });
  }

  #sendParts(status: number, parts: readonly Uint8Array[], given: Answer['headers']): void {
    const headers = { 'Content-Type': this.media.type, ...given };
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const coding = codingFor(this.request.headers['accept-encoding'], length, headers);
    if (!coding || this.method === 'HEAD') {
      this.#write(status, parts, headers);
      return;
    }
    compressed(Buffer.concat(parts), coding).then(
      (packed) => this.#write(status, [packed], { ...headers, 'Content-Encoding': coding }),
      () => this.#write(status, parts, headers),
    );
  }

  sendRaw({ status = 200, bytes, headers }: RawAnswer): void {
    this.#write(status, [bytes], headers);
  }

  /** Large answers are written as they came, not joined first. */
  #write(status: number, parts: readonly Uint8Array[], headers: Readonly<Record<string, string>>): void {
    const { response } = this;
    if (response.headersSent || response.destroyed) return;
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    this.bytesWritten += length;
    response.writeHead(status, { ...headers, 'Content-Length': length });
    if (this.method !== 'HEAD') {
      response.cork();
      for (const part of parts) response.write(part);
    }
    response.end();
  }
}
