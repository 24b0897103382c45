// ZMTP on the dialling side over a plain socket: one open file and a few kilobytes for each connection, for programs with
// thousands of them.
import { HaliteError } from '../../../../base/errors/index.ts';
import { malformed, probeCommand, readCommand, readPing, readReady, readyCommand } from './commands.ts';
import { type FrameHead, FrameReader } from './frame-reader.ts';
import { encodeMessage } from './frames.ts';
import { clientGreeting, readGreeting } from './greeting.ts';

const maxCommandBytes = 8192;
const maxFrames = 4;
const none = Buffer.alloc(0);
/** Which sockets of the other side each type may talk to. */
const partners = {
  REQ: new Set(['ROUTER', 'REP']),
  SUB: new Set(['PUB', 'XPUB']),
} as const;

export interface ZmtpClientOptions {
  readonly type: keyof typeof partners;
  readonly maxBytes: number;
  readonly write: (bytes: Uint8Array) => void;
  /** The handshake is complete. */
  readonly onReady: () => void;
  readonly onMessage: (frames: readonly Buffer[]) => void;
  readonly onPong?: () => void;
}

/** The bytes are passed in by the owner of the socket, who closes it when `receive` throws. */
export class ZmtpClient {
  readonly #options: ZmtpClientOptions;
  #greeting: Buffer = none;
  #reader: FrameReader | undefined;
  #ready = false;
  #answersPings = false;
  #judged: FrameHead | undefined;
  #frames: Buffer[] = [];
  #total = 0;

  constructor(options: ZmtpClientOptions) {
    this.#options = options;
  }

  /** To be called once when the socket is connected. */
  greet(): void {
    this.#options.write(clientGreeting);
  }

  send(frames: readonly Uint8Array[]): void {
    for (const part of encodeMessage(3, frames)) this.#options.write(part);
  }

  /** As a message, which every version of libzmq takes; the command of ZMTP 3.1 only newer ones do. */
  subscribe(topic: string, on = true): void {
    this.send([Buffer.concat([Buffer.from([on ? 1 : 0]), Buffer.from(topic)])]);
  }

  /** Everything sent before was read when the PONG comes. False: this peer may not know PINGs. */
  probe(): boolean {
    if (this.#answersPings) this.#options.write(probeCommand);
    return this.#answersPings;
  }

  /** The chunk must not change afterwards. Throws when the other side is unusable. */
  receive(chunk: Buffer): void {
    const reader = this.#reader ?? this.#open(chunk);
    if (!reader) return;
    if (this.#reader) reader.push(chunk);
    this.#reader = reader;
    for (let head = reader.head(); head; head = reader.head()) {
      if (this.#judged !== head) this.#judge(head);
      this.#judged = head;
      const body = reader.body();
      if (!body) return;
      this.#judged = undefined;
      if (head.command) this.#command(body);
      else this.#frame(body, head.more);
    }
  }

  /** After the whole greeting: its reader, with the bytes that follow. */
  #open(chunk: Buffer): FrameReader | undefined {
    this.#greeting = Buffer.concat([this.#greeting, chunk]);
    const greeting = readGreeting(this.#greeting);
    if (!greeting) return undefined;
    if (greeting.generation !== 3) throw new HaliteError('wire.closed', 'the peer does not speak ZMTP 3');
    this.#answersPings = greeting.minor > 0;
    this.#options.write(readyCommand({ name: this.#options.type }));
    const reader = new FrameReader(3);
    reader.push(this.#greeting.subarray(greeting.length));
    this.#greeting = none;
    return reader;
  }

  #judge(head: FrameHead): void {
    if (head.command) {
      if (head.length > maxCommandBytes) throw malformed('a command is too long');
      return;
    }
    if (!this.#ready) throw malformed('a message before READY');
    this.#total += head.length;
    if (this.#total > this.#options.maxBytes || this.#frames.length >= maxFrames)
      throw new HaliteError('codec.limit', `a message is larger than ${this.#options.maxBytes} bytes`);
  }

  #frame(body: Buffer, more: boolean): void {
    this.#frames.push(body);
    if (more) return;
    const frames = this.#frames;
    this.#frames = [];
    this.#total = 0;
    this.#options.onMessage(frames);
  }

  #command(frame: Buffer): void {
    const { name, body } = readCommand(frame);
    if (name === 'ERROR') throw new HaliteError('wire.closed', 'the peer refused the ZeroMQ handshake');
    if (name === 'READY' && !this.#ready) this.#shake(body);
    else if (name === 'PING') this.#options.write(readPing(body).pong);
    else if (name === 'PONG') this.#options.onPong?.();
  }

  #shake(body: Buffer): void {
    const { socketType } = readReady(body);
    if (!partners[this.#options.type].has(socketType))
      throw new HaliteError(
        'wire.closed',
        `this port has a ${shown(socketType)} socket: it is not the one that was meant`,
      );
    this.#ready = true;
    this.#options.onReady();
  }
}

const shown = (type: string): string => (/^[A-Z]{1,12}$/.test(type) ? type : 'strange');
