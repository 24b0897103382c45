// Answers other members: item by item, never more than the asker can take, and no longer than it listens.
import { createInbox, type NatsConnection } from '@nats-io/transport-node';
import { asList, asText, type Value } from '../../../base/codec/value.ts';
import { messageOf } from '../../../base/errors/index.ts';
import { type Member, type Question, questions, type Signals } from '../api.ts';
import { mostUnread } from './ask.ts';
import type { Connection } from './connection.ts';
import type { Core } from './core.ts';
import { mostSealedBytes } from './envelope.ts';
import { Ascending } from './replay.ts';

type Handler = Parameters<Signals['answer']>[1];
/** At the same time, of all members. */
const mostAnswers = 64;
/** An asker that reads nothing for so long has left. */
const patienceMs = 30_000;

export class Answers {
  readonly #core: Core;
  readonly #handlers = new Map<Question, Handler>();
  readonly #seen = new Ascending();
  #running = 0;

  constructor(core: Core) {
    this.#core = core;
  }

  add(what: Question, handler: Handler): void {
    this.#handlers.set(what, handler);
  }

  listen(connection: Connection): void {
    const subject = `halite.${this.#core.options.name}.ask.${this.#core.slot()}`;
    connection.nc.subscribe(subject, {
      callback: (error, message) => {
        if (!error) this.#take(connection.nc, subject, message.data);
      },
    });
  }

  #take(nc: NatsConnection, subject: string, data: Uint8Array): void {
    const opened = this.#core.envelope.open(subject, data);
    if (typeof opened === 'string') {
      this.#core.refused('question', opened);
      return;
    }
    if (!this.#seen.accept(opened.boot, opened.n)) {
      this.#core.refused('question', 'replayed');
      return;
    }
    const from = this.#core.member(opened.slot, opened.boot);
    if (!from) {
      this.#core.refused('question', 'no-member');
      return;
    }
    const [inbox, name, body = null] = asList(opened.body) ?? [];
    const what = questions.find((some) => some === name);
    // The inbox is inside the seal: nobody else can send the answer elsewhere.
    if (asText(inbox) === undefined || !/^_INBOX\.[\w.]+$/.test(String(inbox))) {
      this.#core.refused('question', 'wrong');
      return;
    }
    const stream = new AnswerStream(this.#core, nc, String(inbox));
    const handler = what && this.#handlers.get(what);
    if (!handler) {
      stream.end('error', `it does not know the question ${String(name)}`);
      return;
    }
    if (this.#running >= mostAnswers) {
      stream.end('error', 'it answers too many questions already');
      return;
    }
    this.#running += 1;
    void this.#answer(stream, handler, body, from).finally(() => {
      this.#running -= 1;
    });
  }

  async #answer(stream: AnswerStream, handler: Handler, body: Value, from: Member): Promise<void> {
    try {
      for await (const item of handler(body, from, stream.signal)) {
        if (!(await stream.item(item))) return;
      }
      stream.end('end');
    } catch (error) {
      stream.end('error', messageOf(error));
    }
  }
}

class AnswerStream {
  readonly #core: Core;
  readonly #nc: NatsConnection;
  readonly #inbox: string;
  readonly #control = createInbox();
  readonly #left = new AbortController();
  readonly #close: () => void;
  #count = 0;
  #read = 0;
  #wake: (() => void) | undefined;

  constructor(core: Core, nc: NatsConnection, inbox: string) {
    this.#core = core;
    this.#nc = nc;
    this.#inbox = inbox;
    const subscription = nc.subscribe(this.#control, {
      callback: (error, message) => {
        const opened = error ? 'foreign' : core.envelope.open(this.#control, message.data);
        const read = typeof opened === 'string' ? undefined : asList(opened.body)?.[0];
        if (typeof read !== 'number') return;
        if (read < 0) this.#leave();
        else this.#read = Math.max(this.#read, read);
        this.#wake?.();
      },
    });
    this.#close = () => subscription.unsubscribe();
  }

  get signal(): AbortSignal {
    return this.#left.signal;
  }

  /** False when nobody reads any more. */
  async item(value: Value): Promise<boolean> {
    while (this.#count - this.#read >= mostUnread && !this.signal.aborted) await this.#moreRead();
    if (this.signal.aborted) return false;
    this.#send('item', value);
    return true;
  }

  end(kind: 'end' | 'error', text: Value = null): void {
    if (!this.signal.aborted) this.#send(kind, text);
    this.#leave();
  }

  #send(kind: string, value: Value): void {
    const sealed = this.#core.envelope.seal(this.#inbox, [++this.#count, kind, value]);
    if (sealed.bytes.length > mostSealedBytes) throw new Error('an item of the answer is too large');
    if (this.#core.js().connection.connected) this.#nc.publish(this.#inbox, sealed.bytes, { reply: this.#control });
  }

  #moreRead(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#leave(), patienceMs);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
    });
  }

  #leave(): void {
    this.#left.abort();
    this.#close();
    this.#wake?.();
  }
}
