// One ZMTP connection on the listening side: greeting, handshake, then messages and heartbeats.
import { HaliteError } from '../../../../base/errors/index.ts';
import type { Protocol, ServerConnection } from '../../link/server-connection.ts';
import {
  errorCommand,
  malformed,
  pingCommand,
  readCommand,
  readPing,
  readReady,
  readyCommand,
  timeToLiveMs,
} from './commands.ts';
import { type FrameHead, FrameReader } from './frame-reader.ts';
import { encodeMessage } from './frames.ts';
import {
  type Generation,
  type Greeting,
  GreetingAnswer,
  readGreeting,
  type SocketType,
  signature,
} from './greeting.ts';

const maxCommandBytes = 8192;
const maxIdentityBytes = 255;
const heartbeatMs = 10_000;
const none = Buffer.alloc(0);

/** 1 and 2: the generation of its frames; 3: a PING may follow a message. */
export type MessageForm = 1 | 2 | 3;

/** The kind of the listening socket, and its handlers. */
export interface Role {
  readonly type: SocketType;
  readonly maxFrames: number;
  /** Larger messages are skipped and reported as too large; above `hardBytes` the connection is closed. */
  readonly maxBytes: number;
  readonly hardBytes: number;
  /** Which of the peers that can answer PINGs get them. */
  readonly heartbeat: 'all' | 'proven' | 'none';
  /**
   * How soon to send a PING after other messages; only every 10 s when absent. Each message ends the time to live that
   * libzmq counts, until the next PING.
   */
  pingAfterMs?(): number;
  ready(peer: ZmtpPeer): void;
  /** `tooLarge` is the size of a skipped message; `frames` are then those before the limit was exceeded. */
  message(peer: ZmtpPeer, frames: Buffer[], tooLarge: number): void;
  /** A command other than those of handshake and heartbeat. */
  command(peer: ZmtpPeer, name: string, body: Buffer): void;
  /** The peer read queued data. */
  drained?(peer: ZmtpPeer): void;
  closed(peer: ZmtpPeer): void;
}

export class ZmtpPeer implements Protocol {
  readonly connection: ServerConnection;
  /** ZMTP 1.0 without a signature: such peers (libzmq 2.x) filter publishes themselves. */
  unversioned = false;
  readonly #role: Role;
  readonly #answer: GreetingAnswer;
  #greetingBytes: Buffer = none;
  #greeting: Greeting | undefined;
  #reader: FrameReader | undefined;
  #frames: Buffer[] = [];
  #total = 0;
  #tooLarge = false;
  /** The frame whose head was checked. */
  #judged: FrameHead | undefined;
  #ttlMs = 0;
  #pings = false;
  /** The first one is sent at once. */
  #pingedAt = Number.NEGATIVE_INFINITY;
  #writtenAtPing = 0;

  constructor(connection: ServerConnection, role: Role) {
    this.connection = connection;
    this.#role = role;
    this.#answer = new GreetingAnswer(role.type);
    connection.write(signature);
  }

  get pending(): number {
    return (this.#reader?.pending ?? 0) + this.#total + this.#greetingBytes.length;
  }

  get generation(): Generation {
    return this.#greeting?.generation ?? 3;
  }

  /** How messages to it are encoded. Generations 2 and 3 have the same frames. */
  get form(): MessageForm {
    if (this.generation === 1) return 1;
    return this.#canAnswer && !this.#pings ? 3 : 2;
  }

  send(frames: readonly Uint8Array[]): void {
    for (const part of encodeMessage(this.generation, frames)) this.connection.write(part);
  }

  push(chunk: Buffer): void {
    if (this.#reader) this.#reader.push(chunk);
    else this.#greetingBytes = Buffer.concat([this.#greetingBytes, chunk]);
  }

  take(): void {
    const reader = this.#reader ?? this.#greet();
    if (!reader) return;
    while (!this.connection.blocked) {
      const head = reader.head();
      if (!head) return;
      if (this.#judged !== head) {
        this.#judge(head);
        this.#judged = head;
      }
      if (this.#tooLarge && !head.command) {
        if (!reader.skip()) return;
        this.#frame(none, head);
        continue;
      }
      if (!head.command && !this.connection.admit(this.#total)) return;
      const body = reader.body();
      if (!body) return;
      if (head.command) this.#command(body);
      else this.#frame(body, head);
    }
  }

  /** The greeting, in arbitrary chunks; returns the reader for the following frames when it is complete. */
  #greet(): FrameReader | undefined {
    const next = this.#answer.next(this.#greetingBytes);
    if (next.length > 0) this.connection.write(next);
    const greeting = readGreeting(this.#greetingBytes);
    if (!greeting) return undefined;
    this.#greeting = greeting;
    this.unversioned = greeting.unversioned;
    // The oldest peers read our signature as an empty identity; the others get one as a frame, or in READY.
    if (greeting.generation === 3) this.connection.write(readyCommand(this.#role.type));
    else if (!greeting.unversioned) this.send([none]);
    this.#reader = new FrameReader(greeting.generation);
    this.#reader.push(this.#greetingBytes.subarray(greeting.length));
    this.#greetingBytes = none;
    return this.#reader;
  }

  /** Decides from its head how a frame is handled. */
  #judge(head: FrameHead): void {
    if (head.command) {
      if (head.length > maxCommandBytes) throw malformed('a command is too long');
      if (this.#frames.length > 0) throw malformed('a command inside a message');
      return;
    }
    if (!this.connection.ready) {
      if (this.generation === 3) throw malformed('a message before READY');
      if (head.length > maxIdentityBytes) throw malformed('an identity is too long');
      return;
    }
    const total = this.#total + head.length + 1;
    if (total > this.#role.hardBytes) {
      throw new HaliteError('codec.limit', `A message is larger than ${this.#role.hardBytes} bytes`);
    }
    if (this.#frames.length >= this.#role.maxFrames) throw malformed('a message has too many frames');
    this.#total = total;
    if (total > this.#role.maxBytes) this.#tooLarge = true;
  }

  #frame(body: Buffer, head: FrameHead): void {
    this.#frames.push(body);
    if (head.more) return;
    const frames = this.#frames;
    const tooLarge = this.#tooLarge ? this.#total : 0;
    this.#frames = [];
    this.#total = 0;
    this.#tooLarge = false;
    // Before ZMTP 3 the first message is the identity.
    if (this.connection.ready) this.#role.message(this, frames, tooLarge);
    else this.#ready(body);
  }

  #ready(identity: Buffer): void {
    const text = identity.toString('latin1');
    if (/^[\x21-\x7e]{1,200}$/.test(text)) this.connection.peer += ` (${text})`;
    this.connection.setReady();
    this.connection.completed();
    this.#role.ready(this);
  }

  #command(frame: Buffer): void {
    const { name, body } = readCommand(frame);
    if (name === 'ERROR') throw new HaliteError('wire.closed', 'The peer refused the handshake');
    if (!this.connection.ready) this.#handshake(name, body);
    else if (name === 'PING') {
      const { ttlMs, pong } = readPing(body);
      this.#ttlMs = ttlMs;
      this.#pings = true;
      this.connection.write(pong);
    } else if (name !== 'PONG') this.#role.command(this, name, body);
  }

  #handshake(name: string, body: Buffer): void {
    if (name !== 'READY') throw malformed('a command before READY');
    const { socketType, identity } = readReady(body);
    if (!this.#role.type.accepts.has(socketType)) {
      this.connection.write(errorCommand(`This port is for ${[...this.#role.type.accepts].join(', ')} sockets`));
      throw malformed('a socket of this type does not belong on this port');
    }
    this.#ready(identity);
  }

  tick(now: number): void {
    const { heardAt, out } = this.connection;
    const silent = now - heardAt;
    const unanswered = this.#pingedAt > heardAt;
    if (this.#ttlMs > 0 && silent > this.#ttlMs) this.connection.cut('idle', 'is no longer heard from');
    else if (!this.#canAnswer) return;
    else if (unanswered && now - this.#pingedAt > timeToLiveMs - heartbeatMs) {
      this.connection.cut('idle', 'answers no heartbeat');
    } else if (!unanswered && out.unsent === 0 && this.#pingIsDue(now, silent)) {
      this.#pingedAt = now;
      this.connection.write(pingCommand);
      this.#writtenAtPing = out.written;
    }
  }

  /** A peer with heartbeats of its own notices by itself that we are gone. */
  #pingIsDue(now: number, silent: number): boolean {
    if (this.#pings) return silent > heartbeatMs;
    const since = now - this.#pingedAt;
    if (since > heartbeatMs) return true;
    const soon = this.#role.pingAfterMs?.() ?? heartbeatMs;
    return since > soon && this.connection.out.written !== this.#writtenAtPing;
  }

  /** Peers before ZMTP 3.1 may read a PING as a message: they get one only when they sent one. */
  get #canAnswer(): boolean {
    const greeting = this.#greeting;
    const { heartbeat } = this.#role;
    if (heartbeat === 'none' || (heartbeat === 'proven' && !this.connection.proven)) return false;
    if (!this.connection.ready || greeting?.generation !== 3) return false;
    return greeting.minor > 0 || this.#pings;
  }

  drained(): void {
    this.#role.drained?.(this);
  }

  closed(): void {
    this.#frames = [];
    this.#role.closed(this);
  }
}
