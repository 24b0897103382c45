// The client side of the local socket: calls that return a stream of items or one value.
import { connect as connectSocket, type Socket } from 'node:net';
import { type Dict, newDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { Call } from './call.ts';
import { errorFromValue } from './errors.ts';
import { encode, type Message, MessageReader, wholeConnection } from './frames.ts';

export interface IpcConnectOptions {
  /** The command that starts the daemon, for the hint when it is not running: `salt-master`. */
  readonly what: string;
  readonly timeoutMs?: number;
}

/** The connection queue is full: the daemon is running, but busy. */
const fullQueue = 'EAGAIN';
const fullQueuePauseMs = 50;

/** Rejects with daemon.unreachable when nothing answers there, auth.denied when this user has no access. */
export async function connectIpc(path: string, options: IpcConnectOptions): Promise<IpcClient> {
  const until = Date.now() + (options.timeoutMs ?? 5000);
  for (;;) {
    const outcome = await dial(path, Math.max(1, until - Date.now()));
    if (typeof outcome !== 'string') return new IpcClient(outcome);
    if (outcome !== fullQueue || Date.now() >= until) throw unreachable(path, outcome, options.what);
    await new Promise((resolve) => setTimeout(resolve, fullQueuePauseMs));
  }
}

/** A connected socket, or the code of the error. */
function dial(path: string, timeoutMs: number): Promise<Socket | string> {
  return new Promise((resolve) => {
    const socket = connectSocket(path);
    const fail = (code: string): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(code);
    };
    const timer = setTimeout(() => fail('ETIMEDOUT'), timeoutMs);
    const onError = (thrown: NodeJS.ErrnoException): void => fail(thrown.code ?? thrown.message);
    socket.once('error', onError);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', onError);
      resolve(socket);
    });
  });
}

export class IpcClient {
  readonly #socket: Socket;
  readonly #calls = new Map<number, Call>();
  #nextId = 1;
  #ended: HaliteError | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    const reader = new MessageReader({ jsonTexts: true });
    socket.on('data', (chunk: Buffer) => {
      try {
        reader.feed(chunk, (message) => this.#receive(message));
      } catch (thrown) {
        this.#lose(thrown as HaliteError);
      }
    });
    socket.on('error', () => undefined);
    socket.on('close', () => this.#lose(new HaliteError('wire.closed', 'The daemon closed the connection')));
  }

  /** Calls and yields the items as they arrive; leaving the loop (or aborting) cancels the call in the daemon. */
  call(verb: string, args: Dict = newDict(), options: { signal?: AbortSignal } = {}): AsyncIterableIterator<Value> {
    const id = this.#nextId++;
    const call = new Call((kind, count) => {
      if (kind === 'cancel') this.#calls.delete(id);
      this.#write(count === undefined ? [id, kind] : [id, kind, count]);
    }, options.signal);
    if (this.#ended) {
      call.fail(this.#ended);
      return call;
    }
    if (!call.finished) {
      this.#calls.set(id, call);
      this.#write([id, 'call', verb, args]);
    }
    return call;
  }

  /** Calls and returns the first item, or null when there is none. */
  async one(verb: string, args: Dict = newDict(), options: { signal?: AbortSignal } = {}): Promise<Value> {
    const call = this.call(verb, args, options);
    const first = await call.next();
    if (first.done) return null;
    await call.return?.();
    return first.value;
  }

  close(): void {
    this.#lose(new HaliteError('wire.closed', 'The connection was closed by its owner'));
  }

  #write(message: Message): void {
    if (!this.#socket.destroyed) this.#socket.write(encode(message));
  }

  #receive([id, kind, value]: Message): void {
    if (id === wholeConnection && kind === 'fail') this.#lose(errorFromValue(value));
    const call = this.#calls.get(id);
    if (!call) return;
    if (kind === 'item') {
      call.push(value ?? null);
      return;
    }
    this.#calls.delete(id);
    if (kind === 'fail') call.fail(errorFromValue(value));
    else call.end();
  }

  #lose(error: HaliteError): void {
    if (this.#ended) return;
    this.#ended = error;
    this.#socket.destroy();
    for (const call of this.#calls.values()) call.fail(error);
    this.#calls.clear();
  }
}

function unreachable(path: string, code: string, daemon: string): HaliteError {
  if (code === 'EACCES' || code === 'EPERM') {
    return new HaliteError('auth.denied', `This user may not talk to ${daemon} (${path})`, {
      hint: `Run the command as root or as the user that runs ${daemon}.`,
    });
  }
  return new HaliteError('daemon.unreachable', `${daemon} does not answer on this machine (${path}: ${code})`, {
    hint: `Start it with "${daemon} -d", or as a service with "systemctl start ${daemon}".`,
  });
}
