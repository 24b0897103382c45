// Signals on NATS: plain messages, numbered by their sender for each of its channels.
import { asList, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import type { Member, NewcomerHandler, SignalKind, Signals } from '../api.ts';
import { signalKinds } from '../api.ts';
import { Answers } from './answers.ts';
import { askMember } from './ask.ts';
import type { Connection } from './connection.ts';
import type { Core } from './core.ts';
import { mostSealedBytes, type Opened } from './envelope.ts';
import { Newcomers } from './newcomers.ts';
import { Ascending } from './replay.ts';

type Handler = (body: Value, from: Member) => void;
type GapHandler = (from: Member, missed: number) => void;

export class NatsSignals implements Signals {
  readonly #core: Core;
  readonly #handlers = new Map<SignalKind, Set<Handler>>();
  readonly #gapHandlers = new Set<GapHandler>();
  readonly #seen = new Ascending();
  /** The last number of each sender and channel. */
  readonly #counts = new Map<string, number>();
  /** How many were sent to all, and to each slot. */
  readonly #sent = new Map<string, number>();
  readonly #answers: Answers;
  readonly #newcomers: Newcomers;

  constructor(core: Core) {
    this.#core = core;
    this.#answers = new Answers(core);
    this.#newcomers = new Newcomers(core);
  }

  /** Listens on a connection; called once, when the slot is known. */
  listen(connection: Connection): void {
    const { name } = this.#core.options;
    for (const subject of [`halite.${name}.sig.*`, `halite.${name}.to.${this.#core.slot()}.*`]) {
      connection.nc.subscribe(subject, {
        callback: (error, message) => {
          if (!error) this.#take(message.subject, message.data);
        },
      });
    }
    this.#answers.listen(connection);
    this.#newcomers.listen(connection);
  }

  send(kind: SignalKind, body: Value, to?: string): void {
    if (!this.#core.isJoined()) return;
    const { name } = this.#core.options;
    const slot = to === undefined ? undefined : this.#slotOf(to);
    const channel = slot === undefined ? 'sig' : `to.${slot}`;
    const count = (this.#sent.get(channel) ?? 0) + 1;
    const subject = `halite.${name}.${channel}.${kind}`;
    const { bytes } = this.#core.envelope.seal(subject, [count, body]);
    if (bytes.length > mostSealedBytes) {
      throw new HaliteError('codec.limit', `A signal ${kind} of ${bytes.length} bytes is too large: send it in parts`);
    }
    this.#sent.set(channel, count);
    this.#core.js().connection.nc.publish(subject, bytes);
  }

  on(kind: SignalKind, handler: Handler): () => void {
    const handlers = this.#handlers.get(kind) ?? new Set();
    this.#handlers.set(kind, handlers.add(handler));
    return () => handlers.delete(handler);
  }

  onGap(handler: GapHandler): () => void {
    this.#gapHandlers.add(handler);
    return () => this.#gapHandlers.delete(handler);
  }

  ask(
    to: string,
    ...[what, body, options]: Parameters<Signals['ask']> extends [string, ...infer Rest] ? Rest : never
  ): AsyncIterable<Value> {
    return askMember(this.#core, () => this.#slotOf(to), { what, body, timeoutMs: options.timeoutMs, to });
  }

  answer(...args: Parameters<Signals['answer']>): void {
    this.#answers.add(...args);
  }

  onNewcomer(handler: NewcomerHandler): void {
    this.#newcomers.onNewcomer(handler);
  }

  #slotOf(id: string): number {
    const found = this.#core.members().find((member) => member.id === id);
    if (found) return found.slot;
    throw new HaliteError('cluster.refused', `There is no live member ${id} in the cluster`);
  }

  #take(subject: string, data: Uint8Array): void {
    if (this.#core.envelope.isOwn(data)) return;
    const opened = this.#core.envelope.open(subject, data);
    const kind = signalKinds.find((some) => subject.endsWith(`.${some}`));
    if (typeof opened === 'string') {
      this.#core.refused(`signal ${kind ?? ''}`, opened);
      return;
    }
    if (!kind) {
      this.#core.refused('signal', 'unknown-kind');
      return;
    }
    const channel = `${opened.boot} ${subject.split('.')[2]}`;
    if (!this.#seen.accept(channel, opened.n)) {
      this.#core.refused(`signal ${kind}`, 'replayed');
      return;
    }
    const from = this.#core.member(opened.slot, opened.boot);
    const [count, body = null] = asList(opened.body) ?? [];
    if (typeof count !== 'number') {
      this.#core.refused(`signal ${kind}`, 'wrong');
      return;
    }
    if (!from) {
      this.#unknown(channel, count, opened);
      return;
    }
    this.#count(channel, count, from);
    for (const handler of this.#handlers.get(kind) ?? []) {
      try {
        handler(body, from);
      } catch (error) {
        this.#core.log.error('a signal could not be handled', { kind, error: String(error) });
      }
    }
  }

  /** Of a member whose heartbeat was not heard yet: its first signals count as missed. */
  #unknown(channel: string, count: number, opened: Opened): void {
    if (!this.#counts.has(channel)) this.#remember(channel, count - 1);
    this.#core.refused(`signal of slot ${opened.slot}`, 'no-member');
  }

  #count(channel: string, count: number, from: Member): void {
    const before = this.#counts.get(channel);
    this.#remember(channel, count);
    if (before === undefined || count === before + 1) return;
    for (const handler of this.#gapHandlers) handler(from, Math.max(1, count - before - 1));
  }

  #remember(channel: string, count: number): void {
    this.#counts.delete(channel);
    this.#counts.set(channel, count);
    if (this.#counts.size > 64) this.#counts.delete(this.#counts.keys().next().value as string);
  }
}
