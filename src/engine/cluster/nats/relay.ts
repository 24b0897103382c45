// Publications on NATS: one stream, read by every member from its beginning on; the place is the number in the stream.
import { packValue, unpackValue } from '../../../base/codec/msgpack/index.ts';
import { asList } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { withTimeout } from '../../../base/util/with-timeout.ts';
import type { Relay } from '../api.ts';
import { publicationValue, readPublication } from '../codec.ts';
import type { Publication } from '../messages.ts';
import { cutOff } from './connection.ts';
import type { Core } from './core.ts';
import { JetStreamError } from './jetstream.ts';
import { readStream, type Start, type StreamMessage } from './reader.ts';
import { Window } from './replay.ts';
import { streamName, subjectOf } from './streams.ts';

type Handler = Parameters<Relay['onPublication']>[0];

/** How long a publication that is no job is tried. */
const otherTtlMs = 15_000;
const tryMs = 1500;
const pauseMs = 100;
const mostWaiting = 10_000;
const rememberedKeys = 4096;
const space = 'relay';
/** Beside the places by stream: that of the stream that was read last. */
const lastName = 'last';
const notedEveryMs = 1000;

export class NatsRelay implements Relay {
  readonly #core: Core;
  readonly #subject: string;
  readonly #stream: string;
  readonly #window = new Window();
  readonly #running = new Map<string, Promise<number>>();
  #handler: Handler | undefined;
  #place = 0;
  #noted = 0;
  /** Where an earlier process was. */
  readonly #before: number;

  constructor(core: Core) {
    this.#core = core;
    this.#subject = subjectOf.publications(core.options.name);
    this.#stream = streamName.publications(core.options.name);
    // Which stream is there now is not known yet.
    const packed = core.table.get(space, lastName);
    this.#before = Number(packed ? asList(unpackValue(packed))?.[0] : 0) || 0;
  }

  get place(): number {
    return this.#place || this.#before;
  }

  async publish(key: string, message: Publication, waitMs: number): Promise<number> {
    const running = this.#running.get(key) ?? this.#start(key, message);
    return withTimeout(running, waitMs, () => {
      throw cutOff(`no place in the order within ${waitMs} ms`);
    });
  }

  onPublication(handler: Handler): void {
    const isFirst = this.#handler === undefined;
    this.#handler = handler;
    if (isFirst) void this.#read();
  }

  #start(key: string, message: Publication): Promise<number> {
    if (this.#running.size >= mostWaiting + rememberedKeys) {
      throw new HaliteError('cluster.cut-off', `More than ${mostWaiting} publications wait for the cluster`);
    }
    const place = this.#send(key, message);
    place.catch(() => undefined);
    this.#running.set(key, place);
    const forget = (): void => {
      // Remembered a while for the second use of a key; the engine recognizes it longer.
      if (this.#running.size > rememberedKeys) this.#running.delete(this.#running.keys().next().value as string);
    };
    place.then(forget, () => this.#running.delete(key));
    return place;
  }

  async #send(key: string, message: Publication): Promise<number> {
    const until = performance.now() + (message.kind === 'job' ? message.ttlMs : otherTtlMs);
    const body = packValue([key, publicationValue(message)]);
    for (let last: unknown; ; ) {
      if (performance.now() > until || this.#core.signal.aborted) throw last ?? cutOff('its time to live is over');
      try {
        // Sealed anew for each try: a number that was used may have been overtaken too far.
        const { bytes } = this.#core.envelope.seal(this.#subject, null, body);
        const { seq } = await this.#core.js().publish(this.#subject, bytes, { id: key, timeoutMs: tryMs });
        return seq;
      } catch (error) {
        if (error instanceof HaliteError && error.code === 'codec.limit') throw error;
        last = error;
        if (error instanceof JetStreamError && error.number === 10054) {
          throw new HaliteError('codec.limit', 'A publication is larger than the nats-servers take', { cause: error });
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }

  async #read(): Promise<void> {
    const { signal, log } = this.#core;
    try {
      await this.#core.established();
      await readStream({
        ...{ js: this.#core.js(), stream: this.#stream, start: this.#whereToStart(), signal, log },
        onMessage: (message) => this.#take(message),
        onLost: async () => {
          await this.#core.lost(this.#stream, 'publications');
          this.#place = 0;
          return { from: 1 };
        },
      });
    } catch (error) {
      if (!signal.aborted) log.error('publications are not read any more', { error: String(error) });
    }
    this.#note();
  }

  #whereToStart(): Start {
    const packed = this.#core.table.get(space, this.#core.birth(this.#stream));
    const [place] = packed ? (asList(unpackValue(packed)) ?? []) : [];
    return { from: (typeof place === 'number' ? place : this.#core.joinedAt(this.#stream)) + 1 };
  }

  async #take({ data, seq, time }: StreamMessage): Promise<void> {
    const opened = this.#core.envelope.open(this.#subject, data);
    this.#place = seq;
    if (typeof opened === 'string') {
      this.#core.refused('publications', opened);
      return;
    }
    if (!this.#window.accept(opened.boot, opened.n)) {
      this.#core.refused('publications', 'replayed');
      return;
    }
    const [key, value] = asList(opened.body) ?? [];
    const message = value === undefined ? undefined : readPublication(value);
    if (!message || typeof key !== 'string') {
      this.#core.refused('publications', 'unknown-kind');
      return;
    }
    const ttlMs = message.kind === 'job' ? message.ttlMs : otherTtlMs;
    await this.#handle(message, seq, this.#core.engineNow() - time > ttlMs);
    this.#note(notedEveryMs);
  }

  async #handle(message: Publication, place: number, late: boolean): Promise<void> {
    if (this.#core.signal.aborted) return;
    try {
      await this.#handler?.(message, place, late);
    } catch (error) {
      this.#core.log.error('a publication could not be handled', { place, error: String(error) });
    }
  }

  #note(everyMs = 0): void {
    const now = performance.now();
    if (this.#place === 0 || now - this.#noted < everyMs) return;
    this.#noted = now;
    for (const name of [this.#core.birth(this.#stream), lastName])
      this.#core.table.set(space, name, packValue([this.#place]));
  }
}
