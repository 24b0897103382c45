// JetStream by its requests: few enough to make them ourselves, and to read each answer as what it is, untrusted JSON.
import { HaliteError } from '../../../base/errors/index.ts';
import { type Connection, cutOff } from './connection.ts';

export type Json = { readonly [key: string]: unknown };

/** What JetStream refused, by its own numbers. */
export class JetStreamError extends HaliteError {
  readonly status: number;
  readonly number: number;
  constructor(what: string, status: number, number: number, text: string) {
    super('cluster.cut-off', `JetStream refuses ${what}: ${text} (${number || status})`);
    this.status = status;
    this.number = number;
  }
  /** A leader is being elected, or the server just started: worth another try. */
  get isTemporary(): boolean {
    return this.status === 503 || this.status === 500 || this.number === 10008;
  }
}

export const jetStreamErrors = {
  wrongLastSequence: 10071,
  wrongLastSequenceOld: 10164,
  streamNotFound: 10059,
  noMessage: 10037,
  replicasNeedCluster: 10074,
  nameInUse: 10058,
} as const;

export interface PublishOptions {
  readonly timeoutMs: number;
  readonly id?: string;
  /** The last sequence of this subject that the sender saw; 0 for none. */
  readonly expectLast?: number;
}

export interface Stored {
  readonly seq: number;
  readonly duplicate: boolean;
}

export interface StoredMessage {
  readonly seq: number;
  readonly subject: string;
  readonly data: Buffer;
  readonly time: number;
}

export const asJson = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;

export const wholeNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

export class JetStream {
  readonly connection: Connection;
  /** Called before a stored message is looked at; what it gives is awaited. */
  prepare: (data: Uint8Array) => Promise<void> | undefined = () => undefined;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  async call(what: string, body?: Json, timeoutMs = 2000): Promise<Json> {
    const payload = body === undefined ? '' : JSON.stringify(body);
    const answer = await this.connection.request(`$JS.API.${what}`, payload, { timeoutMs });
    return this.#read(what, answer.data, answer.headers?.code);
  }

  async publish(subject: string, payload: Uint8Array, options: PublishOptions): Promise<Stored> {
    const headers: Record<string, string> = {};
    if (options.id !== undefined) headers['Nats-Msg-Id'] = options.id;
    if (options.expectLast !== undefined) headers['Nats-Expected-Last-Subject-Sequence'] = String(options.expectLast);
    const answer = await this.connection.request(subject, payload, { timeoutMs: options.timeoutMs, headers });
    const ack = this.#read(`a message to ${subject}`, answer.data, answer.headers?.code);
    const seq = wholeNumber(ack['seq']);
    if (seq === undefined || seq === 0) throw cutOff('an acknowledgement without a sequence');
    return { seq, duplicate: ack['duplicate'] === true };
  }

  /** The last message of a subject; undefined when there is none. */
  async last(stream: string, subject: string): Promise<StoredMessage | undefined> {
    return this.#prepared(await this.peek(stream, subject));
  }

  /** The same, whether or not it can be opened. */
  peek(stream: string, subject: string): Promise<StoredMessage | undefined> {
    return this.#get(stream, subject, { last_by_subj: subject });
  }

  /** The first message of a subject behind a number; undefined when there is none. */
  async next(stream: string, subject: string, behind: number): Promise<StoredMessage | undefined> {
    return this.#prepared(await this.#get(stream, subject, { next_by_subj: subject, seq: behind + 1 }));
  }

  async #prepared(message: StoredMessage | undefined): Promise<StoredMessage | undefined> {
    if (message) await this.prepare(message.data);
    return message;
  }

  async #get(stream: string, subject: string, which: Json): Promise<StoredMessage | undefined> {
    try {
      const answer = await this.call(`STREAM.MSG.GET.${stream}`, which);
      const message = asJson(answer['message']);
      const seq = wholeNumber(message?.['seq']);
      const { data = '', time } = message ?? {};
      if (seq === undefined || typeof data !== 'string') throw cutOff('a stored message without its fields');
      return { seq, subject, data: Buffer.from(data, 'base64'), time: Date.parse(String(time)) };
    } catch (error) {
      if (error instanceof JetStreamError && error.number === jetStreamErrors.noMessage) return undefined;
      throw error;
    }
  }

  #read(what: string, data: Uint8Array, status: number | undefined): Json {
    if (status !== undefined && status >= 400) throw new JetStreamError(what, status, 0, 'no JetStream is listening');
    let answer: Json | undefined;
    try {
      answer = asJson(JSON.parse(Buffer.from(data).toString('utf8')));
    } catch {
      // Named below.
    }
    if (!answer) throw cutOff(`the answer to ${what} is not JSON`);
    const error = asJson(answer['error']);
    if (!error) return answer;
    const text = typeof error['description'] === 'string' ? error['description'] : 'no reason given';
    throw new JetStreamError(what, wholeNumber(error['code']) ?? 0, wholeNumber(error['err_code']) ?? 0, text);
  }
}
