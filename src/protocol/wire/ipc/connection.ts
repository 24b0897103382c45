// One client of a local socket: its frames, its calls, and its limits before and after its user is authenticated.
import type { Socket } from 'node:net';
import { dictEntries, isDict, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { openLimits, type Shares, type SocketLimits, type Turn, trustedUser, type UserLimits } from './admission.ts';
import { errorToValue } from './errors.ts';
import { encode, type Message, MessageReader, wholeConnection } from './frames.ts';
import { type IpcCall, Responder } from './responder.ts';

/** Answers with `call.send`. The call ends when the handler resolves and fails when it throws. */
export type IpcHandler = (call: IpcCall) => unknown;

const maxCallsPerClient = 4096;
/** Items that are sent in one turn of the event loop become one write, up to this size. */
const mostGatheredBytes = 64 * 1024;

export class ServerConnection {
  /** The user of this connection is authenticated. */
  onKnown: () => void = () => undefined;
  readonly #socket: Socket;
  readonly #peer: string;
  readonly #handler: IpcHandler;
  readonly #limits: SocketLimits;
  readonly #shares: Shares;
  readonly #reader = new MessageReader();
  readonly #calls = new Map<number, Responder>();
  #user: string | undefined;
  #unsentBytes = trustedUser.unsentBytes;
  #limited: boolean;
  #leave: () => void = () => undefined;
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;
  #soon: NodeJS.Immediate | undefined;
  /** Runs while the user is not authenticated, and while a frame is incomplete. */
  #deadline: NodeJS.Timeout | undefined;

  constructor(socket: Socket, peer: string, handler: IpcHandler, limits: SocketLimits, shares: Shares) {
    this.#socket = socket;
    this.#peer = peer;
    this.#handler = handler;
    this.#limits = limits;
    this.#shares = shares;
    this.#reader.limits = limits.unauthenticated;
    this.#limited = limits !== openLimits;
    socket.on('error', () => undefined);
    socket.on('drain', () => {
      for (const call of this.#calls.values()) call.pump();
    });
    socket.on('close', () => this.#ended());
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.setTimeout(limits.idleMs, () => this.#idle());
    this.#watch();
  }

  close(): void {
    this.#flush();
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    try {
      this.#reader.feed(chunk, (message) => {
        this.#receive(message);
        if (this.#user !== undefined) this.#stopWatch();
      });
    } catch (thrown) {
      this.#cut(thrown);
      return;
    }
    this.#watch();
    if (this.#limited) this.#yieldToOthers();
  }

  /** Yields between messages, so that one client with many messages does not block the others. */
  #yieldToOthers(): void {
    this.#socket.pause();
    setImmediate(() => this.#socket.resume());
  }

  /** Closes the connection; an authenticated user is sent the reason. */
  #cut(why: unknown): void {
    if (this.#user === undefined) {
      this.close();
      return;
    }
    // Remaining input is read and dropped: closing with unread input would reset the connection before the reason
    // arrives.
    this.#socket.removeAllListeners('data').resume();
    this.#watch();
    this.#write([wholeConnection, 'fail', errorToValue(why)]);
    this.#flush();
    this.#socket.end();
  }

  /** Time limit for an incomplete frame and for a silent connection. */
  #watch(): void {
    if (this.#user !== undefined && !this.#reader.partial) this.#stopWatch();
    else this.#deadline ??= setTimeout(() => this.close(), this.#limits.patienceMs).unref();
  }

  #stopWatch(): void {
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
  }

  /** No byte in either direction for a while: either a long job, or a client that occupies a connection. */
  #idle(): void {
    if (this.#socket.writableLength > 0 || this.#calls.size === 0) this.close();
  }

  #write(message: Message): boolean {
    if (this.#socket.destroyed) return false;
    const frame = encode(message);
    this.#gathered.push(frame);
    this.#gatheredBytes += frame.length;
    if (this.#gatheredBytes >= mostGatheredBytes) return this.#flush();
    this.#soon ??= setImmediate(() => this.#flush());
    return !this.#socket.writableNeedDrain;
  }

  /** False when the client has to read first. */
  #flush(): boolean {
    clearImmediate(this.#soon);
    this.#soon = undefined;
    const [gathered, socket] = [this.#gathered, this.#socket];
    if (gathered.length === 0) return !socket.writableNeedDrain;
    this.#gathered = [];
    this.#gatheredBytes = 0;
    if (socket.destroyed || !socket.writable) return false;
    const isFlowing = socket.write(gathered.length === 1 ? (gathered[0] as Buffer) : Buffer.concat(gathered));
    if (socket.writableLength > this.#unsentBytes) socket.destroy();
    return isFlowing;
  }

  #receive(message: Message): void {
    const [id, kind, first, second] = message;
    if (kind === 'call') {
      if (typeof first !== 'string' || this.#calls.has(id) || this.#calls.size >= maxCallsPerClient) {
        throw new HaliteError('codec.malformed', 'A local call has the wrong form');
      }
      const call = new Responder(
        { id, verb: first, args: plainArgs(second), peer: this.#peer },
        {
          write: (answer) => this.#write(answer),
          done: () => this.#calls.delete(id),
          admit: (user, limits) => this.#admit(user, limits),
        },
      );
      this.#calls.set(id, call);
      void this.#answer(call);
    } else if (kind === 'more' && typeof first === 'number') {
      this.#calls.get(id)?.grant(first);
    } else if (kind === 'cancel') {
      this.#calls.get(id)?.abandon('The client cancelled the call');
      this.#calls.delete(id);
    }
  }

  async #answer(call: Responder): Promise<void> {
    try {
      await this.#handler(call);
      call.end();
    } catch (thrown) {
      call.fail(thrown);
    }
  }

  /** One connection is for one user: that of the first authenticated call. */
  #admit(user: string, limits: UserLimits): Promise<Turn> {
    if (this.#user === undefined) {
      this.#leave = this.#shares.connected(user, limits);
      this.#user = user;
      this.#reader.limits = limits.frame;
      this.#unsentBytes = limits.unsentBytes;
      this.#limited = limits !== trustedUser;
      this.onKnown();
      this.#watch();
    } else if (this.#user !== user) {
      throw new HaliteError('auth.failed', `This connection belongs to the user ${this.#user}`);
    }
    return this.#shares.turn(user, limits);
  }

  #ended(): void {
    this.#stopWatch();
    clearImmediate(this.#soon);
    this.#leave();
    for (const call of this.#calls.values()) call.abandon('The client disconnected');
    this.#calls.clear();
  }
}

/** Arguments are a map with text keys; other maps are refused. */
function plainArgs(value: Value | undefined): PlainDict {
  const args = newDict();
  if (isDict(value)) for (const [key, item] of dictEntries(value)) if (typeof key === 'string') args[key] = item;
  return args;
}
