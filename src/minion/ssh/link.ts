// The session of a job that salt-ssh started here: requests go back to it, through the session's own input and output.
import { Socket } from 'node:net';
import { isatty, ReadStream, WriteStream } from 'node:tty';
import { bytesField, intField, textField } from '../../base/codec/fields.ts';
import { unpackValue } from '../../base/codec/msgpack/index.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { type ErrorCode, errorCodes, HaliteError } from '../../base/errors/index.ts';
import { encodeFrame, FrameReader, framesLine } from '../../protocol/wire/stdio/frames.ts';
import type { CallerSession } from '../caller/types.ts';

interface Waiting {
  readonly raw: boolean;
  resolve(value: Value): void;
  reject(error: Error): void;
}

export interface LinkEvents {
  /** The job to run; called once. */
  start(message: PlainDict): void;
  /** The other side takes the job back. */
  cancel(): void;
  /** The connection was lost. */
  lost(): void;
}

const unreachable = (): HaliteError =>
  new HaliteError('daemon.unreachable', 'The connection to salt-ssh was lost, and this needs it');

/** Our script opens these two and points the usual ones elsewhere: a stray `console.log` must not damage messages. */
const inputFd = 3;
const outputFd = 4;
/** A network that is cut takes the last message and says nothing: whoever hears nothing for so long keeps the result. */
const takenMs = 5_000;

export class SessionLink implements CallerSession {
  readonly channel: CallerSession['channel'];
  readonly #output: Socket;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;
  #lost = false;
  #taken: (taken: boolean) => void = () => undefined;

  constructor(events: LinkEvents) {
    const input = isatty(inputFd) ? new ReadStream(inputFd) : new Socket({ fd: inputFd, readable: true });
    this.#output = isatty(outputFd)
      ? new WriteStream(outputFd)
      : new Socket({ fd: outputFd, readable: false, writable: true });
    const reader = new FrameReader({
      // What our own script left unread, such as a password that sudo did not ask for.
      line: () => undefined,
      message: (message) => this.#receive(message, events),
    });
    const lose = (): void => {
      if (this.#lost) return;
      this.#lost = true;
      for (const { reject } of this.#waiting.values()) reject(unreachable());
      this.#waiting.clear();
      this.#taken(false);
      events.lost();
    };
    input.on('data', (chunk: Buffer) => {
      try {
        reader.feed(chunk);
      } catch {
        lose();
      }
    });
    for (const stream of [input, this.#output]) stream.on('error', lose);
    input.on('close', lose);
    input.on('end', lose);
    const request: CallerSession['channel']['request'] = (load, { raw = false, halite }) =>
      this.#request(halite ? Object.assign(newDict(Object.entries(load)), halite) : load, raw);
    this.channel = { request, requestPrivate: (load) => this.#request(load, false) };
    this.#output.write(`${framesLine}\n`);
  }

  get lost(): boolean {
    return this.#lost;
  }

  send(message: PlainDict): void {
    if (!this.#lost) this.#output.write(encodeFrame(message));
  }

  /** The last message; true when the other side says that it has it. */
  sendLast(message: PlainDict): Promise<boolean> {
    if (this.#lost) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#taken = resolve;
      this.#output.once('close', () => resolve(false));
      this.#output.write(encodeFrame(message), () => setTimeout(() => resolve(false), takenMs));
    });
  }

  close(): void {
    this.#output.destroy();
  }

  #request(load: PlainDict, raw: boolean): Promise<Value> {
    if (this.#lost) return Promise.reject(unreachable());
    const n = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(n, { raw, resolve, reject });
      this.send(newDict(Object.entries({ t: 'call', n, load })));
    });
  }

  #receive(message: PlainDict, events: LinkEvents): void {
    const kind = textField(message, 't');
    if (kind === 'start') events.start(message);
    else if (kind === 'cancel') events.cancel();
    else if (kind === 'taken') this.#taken(true);
    else this.#settle(message, kind === 'reply');
  }

  #settle(message: PlainDict, answered: boolean): void {
    const n = intField(message, 'n') ?? 0;
    const asked = this.#waiting.get(n);
    if (!asked) return;
    this.#waiting.delete(n);
    if (answered) asked.resolve(unpackValue(bytesField(message, 'body') ?? new Uint8Array([0xc0]), asked.raw));
    else asked.reject(new HaliteError(codeOf(message), textField(message, 'message') ?? 'refused'));
  }
}

function codeOf(message: PlainDict): ErrorCode {
  const code = textField(message, 'code') ?? '';
  return Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : 'call.failed';
}
