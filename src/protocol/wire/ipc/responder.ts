// One call on the daemon's side: items are sent as the client takes them, and otherwise wait in a bounded queue.
import type { PlainDict, Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import type { Turn, UserLimits } from './admission.ts';
import { errorToValue } from './errors.ts';
import { type Message, windowItems } from './frames.ts';

// For handlers that send without awaiting; a handler that awaits never has more than one item here.
const maxQueuedItems = 50_000;

const alreadySent = Promise.resolve();

interface Waiting {
  readonly item: Value;
  readonly sent: () => void;
}

/** The parameter of a handler: the request, and the functions to answer it. */
export interface IpcCall {
  readonly verb: string;
  readonly args: PlainDict;
  /** A name for logs; the permissions of the socket file determine who may connect. */
  readonly peer: string;
  /**
   * The caller is authenticated: from now on the connection belongs to this user and has the limits of the user.
   * Resolves when this call is admitted; rejects when the user has too many already.
   */
  admit(user: string, limits: UserLimits): Promise<void>;
  /** Aborted when the client cancelled, disconnected or was dropped. */
  readonly signal: AbortSignal;
  /**
   * Sends one item. Await it: it resolves when the client can take more. Does nothing once the client has disconnected.
   */
  send(item: Value): Promise<void>;
  /** Completes the call before the handler returns, with a last item if one is given. */
  end(item?: Value): void;
  /** Makes the call fail; the client gets a HaliteError. The same as throwing. */
  fail(error: unknown): void;
}

/** The connection of a call, reduced to what a call needs. */
export interface CallConnection {
  /** Sends a message; false when the client has to read first. */
  write(message: Message): boolean;
  /** The call is over. */
  done(): void;
  /** Waits until a call of this user is admitted. */
  admit(user: string, limits: UserLimits): Promise<Turn>;
}

export interface CallRequest {
  readonly id: number;
  readonly verb: string;
  readonly args: PlainDict;
  readonly peer: string;
}

export class Responder implements IpcCall {
  readonly verb: string;
  readonly args: PlainDict;
  readonly peer: string;
  readonly signal: AbortSignal;
  readonly #abort = new AbortController();
  readonly #id: number;
  readonly #connection: CallConnection;
  #turn: Turn | undefined;
  #queue: Waiting[] = [];
  #credit = windowItems;
  #flowing = true;
  #last: Message | undefined;
  #finished = false;

  constructor(request: CallRequest, connection: CallConnection) {
    this.#id = request.id;
    this.verb = request.verb;
    this.args = request.args;
    this.peer = request.peer;
    this.#connection = connection;
    this.signal = this.#abort.signal;
  }

  async admit(user: string, limits: UserLimits): Promise<void> {
    this.#turn = await this.#connection.admit(user, limits);
    if (!this.#finished && !this.signal.aborted) return;
    this.#over();
    throw new HaliteError('wire.closed', 'The client disconnected');
  }

  send(item: Value): Promise<void> {
    if (this.#finished || this.#last || this.signal.aborted) return Promise.resolve();
    if (this.#queue.length >= maxQueuedItems) {
      this.#queue = [];
      this.fail(new HaliteError('codec.limit', 'The answer is sent faster than it is read'));
      this.#abort.abort(new HaliteError('codec.limit', 'The client reads too slowly'));
      return Promise.resolve();
    }
    this.#turn?.started();
    // Most readers keep up: nothing is queued for them.
    if (this.#queue.length === 0 && this.#credit > 0 && this.#flowing) {
      this.#credit -= 1;
      this.#flowing = this.#connection.write([this.#id, 'item', item]);
      return alreadySent;
    }
    return new Promise((sent) => {
      this.#queue.push({ item, sent });
    });
  }

  end(item?: Value): void {
    if (item !== undefined) void this.send(item);
    this.#finish([this.#id, 'end']);
  }

  fail(error: unknown): void {
    this.#finish([this.#id, 'fail', errorToValue(error)]);
  }

  /** Called when the client took items. */
  grant(count: number): void {
    this.#credit = Math.min(windowItems, this.#credit + Math.max(0, count));
    this.pump();
  }

  /** Sends what the window allows; also called when the socket drained. */
  pump(): void {
    this.#flowing = true;
    while (this.#credit > 0 && this.#flowing) {
      const next = this.#queue.shift();
      if (!next) break;
      this.#credit -= 1;
      this.#flowing = this.#connection.write([this.#id, 'item', next.item]);
      next.sent();
    }
    if (this.#queue.length > 0 || !this.#last || this.#finished) return;
    this.#finished = true;
    this.#connection.write(this.#last);
    this.#over();
    this.#connection.done();
  }

  #over(): void {
    this.#turn?.ended();
    this.#turn = undefined;
  }

  abandon(reason: string): void {
    this.#finished = true;
    for (const { sent } of this.#queue.splice(0)) sent();
    this.#abort.abort(new HaliteError('wire.closed', reason));
    this.#over();
  }

  #finish(last: Message): void {
    if (this.#last || this.#finished) return;
    this.#last = last;
    this.pump();
  }
}
