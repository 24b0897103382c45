// Publishes leave over ZeroMQ in order. No burst overruns a subscriber's queue, and one that stands still holds nobody up for long.
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import type { XPublisher } from 'zeromq';
import { Backlog, type Message } from '../link/backlog.ts';

const sliceMs = 8;
/** How long a full queue is waited for; afterwards its subscriber misses messages, as with Salt. */
const patienceMs = 100;
/** How long nobody is waited for after that. */
const impatientMs = 5000;
/**
 * With it a full queue is an error we see, not a message that is gone. It counts at once, also on a socket that is bound;
 * the library warns on stderr that it did not, as it does for every option.
 */
function setNoDrop(socket: XPublisher, noDrop: boolean): void {
  const warn = process.emitWarning;
  process.emitWarning = () => undefined;
  try {
    socket.noDrop = noDrop;
  } finally {
    process.emitWarning = warn;
  }
}

export class Outbox {
  readonly #socket: XPublisher;
  readonly #backlog = new Backlog<string>();
  #sending = false;
  #fullSince = 0;
  #impatientUntil = 0;

  constructor(socket: XPublisher) {
    this.#socket = socket;
    setNoDrop(socket, true);
  }

  /** One message for each topic; the first leaves at once when nothing waits. Never blocks. */
  push(topics: readonly string[], payload: Uint8Array): void {
    this.#backlog.push(topics, payload);
    if (!this.#sending) void this.#sendAll();
  }

  /** Sends all that waits, whatever becomes of it: for the end of the daemon. */
  flush(): void {
    if (this.#socket.closed) return;
    setNoDrop(this.#socket, false);
    for (let message = this.#backlog.take(); message; message = this.#backlog.take())
      this.#send(message).catch(() => undefined);
  }

  async #sendAll(): Promise<void> {
    this.#sending = true;
    let until = performance.now() + sliceMs;
    for (let message = this.#backlog.take(); message && !this.#socket.closed; message = this.#backlog.take()) {
      await this.#sendWhenThereIsRoom(message);
      if (performance.now() < until) continue;
      await turn();
      until = performance.now() + sliceMs;
    }
    this.#sending = false;
  }

  /** Tries again while somebody's queue is full; after a while the message goes to the others only. */
  async #sendWhenThereIsRoom(message: Message<string>): Promise<void> {
    while (!this.#socket.closed) {
      try {
        await this.#send(message);
        this.#fullSince = 0;
        return;
      } catch {
        const now = performance.now();
        this.#fullSince ||= now;
        if (now - this.#fullSince > patienceMs) this.#stopWaiting(now);
        else await pause(1);
      }
    }
  }

  #stopWaiting(now: number): void {
    this.#fullSince = 0;
    this.#impatientUntil = now + impatientMs;
    if (!this.#socket.closed) setNoDrop(this.#socket, false);
    setTimeout(() => {
      if (!this.#socket.closed && performance.now() >= this.#impatientUntil) setNoDrop(this.#socket, true);
    }, impatientMs + 10).unref();
  }

  #send({ target, payload }: Message<string>): Promise<void> {
    return this.#socket.send(target === '' ? payload : [target, payload]);
  }
}
