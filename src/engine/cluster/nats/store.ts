// A bucket of the registry as it is stored: sealed values under keys that tell nothing, with counters that never go back.
import { createHmac } from 'node:crypto';
import { intField } from '../../../base/codec/fields.ts';
import { packValue, unpackValue } from '../../../base/codec/msgpack/index.ts';
import { asList, asPlainDict, asText, dictGet, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import type { Revision } from '../api.ts';
import { dictFrom } from '../codec.ts';
import type { LocalTable } from '../ports.ts';
import { type Envelope, mostSealedBytes, type Opened, type SealProblem } from './envelope.ts';
import { type JetStream, JetStreamError, jetStreamErrors } from './jetstream.ts';

/** What a stored value says of itself. */
export interface StoredValue {
  readonly key: string;
  /** Undefined for a removed one. */
  readonly value: Value | undefined;
  readonly counter: number;
  readonly revision: Revision;
  readonly slot: number;
  readonly boot: string;
  /** The number of the message among those of its boot. */
  readonly n: number;
  readonly time: number;
  /** The revision that it only repeats, sealed with another key. */
  readonly repeats: Revision | undefined;
}

/** A subject and what is there: something that cannot be read has a revision and no value. */
export interface Head {
  readonly revision: Revision;
  readonly stored: StoredValue | undefined;
}

export interface StoreParts {
  readonly js: () => JetStream;
  readonly stream: string;
  /** Of its keys, with the dot at the end. */
  readonly subjects: string;
  readonly envelope: Envelope;
  readonly table: LocalTable;
  /** Makes the names of keys; empty for a bucket whose keys tell nothing. */
  readonly indexKey: () => Uint8Array;
  /** Grows when the engine lost its data: values of the time before count as older. */
  readonly epoch: () => number;
  /** Whether a write makes sure that no other one was taken at the same time; its stream keeps some values of each key. */
  readonly verifies: boolean;
  /** Whether counters are compared, and remembered over a restart: not for what is short-lived anyway. */
  readonly remembers: boolean;
  refused(key: string, why: SealProblem | 'wrong' | 'went-back', revision: number): void;
}

/** The only key that is stored by its plain name: it names all others. */
export const indexName = 'index';
const epochFactor = 2 ** 32;
const writeTimeoutMs = 2000;

export class BucketStore {
  readonly #parts: StoreParts;
  readonly #space: string;
  /** The highest counter that was seen of each subject, and its revision. */
  readonly #highest = new Map<string, readonly [counter: number, revision: Revision]>();

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.#space = `seen ${parts.stream}`;
    if (!parts.remembers) return;
    for (const [token, packed] of parts.table.all(this.#space)) {
      const [counter, revision] = asList(unpackValue(packed)) ?? [];
      if (typeof counter === 'number' && typeof revision === 'number') this.#highest.set(token, [counter, revision]);
    }
  }

  get stream(): string {
    return this.#parts.stream;
  }

  subject(key: string): string {
    const indexKey = this.#parts.indexKey();
    if (indexKey.length === 0) return this.#parts.subjects + key;
    const digest = createHmac('sha256', indexKey).update(`${this.#parts.subjects} ${key}`).digest('base64url');
    return this.#parts.subjects + digest.slice(0, 22);
  }

  async head(key: string): Promise<Head> {
    const subject = this.subject(key);
    // What is learned while the answer is on its way does not make it older than it was.
    const known = this.#highest.get(subject)?.[0] ?? 0;
    const message = await this.#parts.js().last(this.#parts.stream, subject);
    if (!message) return { revision: 0, stored: undefined };
    return { revision: message.seq, stored: this.read(subject, message.data, message.seq, message.time, known) };
  }

  /**
   * Undefined for what is not a value of this cluster, or older than one that was seen: it counts as absent. `known`: the
   * highest counter before the last value was asked for; a smaller one can only have been put back.
   */
  read(subject: string, data: Uint8Array, revision: number, time: number, known?: number): StoredValue | undefined {
    if (subject === this.#parts.subjects + indexName && this.subject(indexName) !== subject) return undefined;
    const opened = this.#parts.envelope.open(subject, data);
    if (typeof opened === 'string') {
      if (opened !== 'retired-key' || !this.#isOffer(subject)) this.#parts.refused(subject, opened, revision);
      return undefined;
    }
    const stored = storedValue(opened, revision, time);
    if (!stored || this.subject(stored.key) !== subject) {
      this.#parts.refused(subject, 'wrong', revision);
      return undefined;
    }
    if (!this.#parts.remembers) return stored;
    const [highest, at] = this.#highest.get(subject) ?? [0, 0];
    if (stored.counter > highest) this.#remember(subject, stored.counter, revision);
    if (stored.counter >= (known ?? highest)) return stored;
    if (known !== undefined || revision > at) this.#parts.refused(stored.key, 'went-back', revision);
    // History that a watch reads after its end was seen, or a stream that was put back: the last value tells.
    else void this.head(stored.key).catch(() => undefined);
    return undefined;
  }

  /** Seals the last value of a subject anew; false when another member wrote meanwhile, or it cannot be read. */
  async reseal(subject: string): Promise<boolean> {
    const { envelope, js, stream } = this.#parts;
    const message = await js().last(stream, subject);
    const number = message && envelope.keyNumberOf(message.data);
    if (!message || number === undefined || number >= envelope.keys.current().number) return true;
    const stored = this.read(subject, message.data, message.seq, message.time, 0);
    if (!stored) return false;
    const revision = await this.#put(stored.key, stored.value, stored.revision, stored.revision);
    if (revision === undefined) return false;
    return !this.#parts.verifies || this.#wasFirst(stored.key, stored.revision, revision);
  }

  /** Whether a new key was offered there: for those who had the key before, whenever they come. */
  #isOffer(subject: string): boolean {
    const { newest } = this.#parts.envelope.keys;
    for (let number = 1; number <= newest; number++) if (this.subject(`bus.${number}`) === subject) return true;
    return false;
  }

  /** Writes a value where the last one has this revision. Undefined when another member was faster. */
  async write(key: string, value: Value | undefined, last: Revision | 'any'): Promise<Revision | undefined> {
    const revision = await this.#put(key, value, last);
    if (revision === undefined || last === 'any' || !this.#parts.verifies) return revision;
    return (await this.#wasFirst(key, last, revision)) ? revision : undefined;
  }

  /**
   * Servers check the revision before they replicate, not when they store: two values that are on their way at the same time,
   * or around the change of a leader, may both be taken (nats-server issues 4320 and 8469). The first one counts, and whoever
   * wrote behind it puts it back.
   */
  async #wasFirst(key: string, last: Revision, revision: Revision): Promise<boolean> {
    const subject = this.subject(key);
    const first = await this.#parts.js().next(this.#parts.stream, subject, last);
    if (first?.seq === revision) return true;
    const stored = first && this.read(subject, first.data, first.seq, first.time, 0);
    if (stored) await this.#put(key, stored.value, revision);
    return false;
  }

  /** What was sent and not acknowledged may be there: then it is looked for. */
  async #put(
    key: string,
    value: Value | undefined,
    last: Revision | 'any',
    repeats?: Revision,
  ): Promise<Revision | undefined> {
    const subject = this.subject(key);
    const least = this.#parts.epoch() * epochFactor;
    const counter = Math.max(this.#highest.get(subject)?.[0] ?? 0, least) + 1;
    const body = dictFrom({ k: key, c: counter, v: value === undefined ? undefined : [value], s: repeats });
    const { bytes, n } = this.#parts.envelope.seal(subject, body);
    if (bytes.length > mostSealedBytes) {
      throw new HaliteError(
        'codec.limit',
        `A value for ${key} is larger than the ${mostSealedBytes} bytes that the engine takes`,
      );
    }
    const js = this.#parts.js();
    const expected = last === 'any' ? {} : { expectLast: last };
    for (let tries = 0; ; tries++) {
      try {
        const { seq } = await js.publish(subject, bytes, { timeoutMs: writeTimeoutMs, ...expected });
        this.#remember(subject, counter, seq);
        return seq;
      } catch (error) {
        const lost = error instanceof JetStreamError && isWrongLast(error);
        // What needs no order is simply written again by its caller.
        if (last === 'any') throw error;
        if (!lost && error instanceof JetStreamError && !error.isTemporary) throw error;
        const message = await js.last(this.#parts.stream, subject);
        const own = message && this.#parts.envelope.open(subject, message.data);
        if (message && typeof own === 'object' && own.boot === this.#parts.envelope.boot && own.n === n) {
          this.#remember(subject, counter, message.seq);
          return message.seq;
        }
        if (lost) return undefined;
        if (tries >= 1) throw error;
      }
    }
  }

  #remember(subject: string, counter: number, revision: Revision): void {
    if ((this.#highest.get(subject)?.[0] ?? 0) >= counter) return;
    this.#highest.set(subject, [counter, revision]);
    if (this.#parts.remembers) this.#parts.table.set(this.#space, subject, packValue([counter, revision]));
  }
}

const isWrongLast = ({ number }: JetStreamError): boolean =>
  number === jetStreamErrors.wrongLastSequence || number === jetStreamErrors.wrongLastSequenceOld;

function storedValue(opened: Opened, revision: number, time: number): StoredValue | undefined {
  const body: PlainDict | undefined = asPlainDict(opened.body);
  const key = body && asText(dictGet(body, 'k'));
  const counter = body && dictGet(body, 'c');
  if (!body || key === undefined || typeof counter !== 'number') return undefined;
  const value = asList(dictGet(body, 'v'))?.[0];
  const repeats = intField(body, 's');
  return { key, value, counter, revision, time, repeats, slot: opened.slot, boot: opened.boot, n: opened.n };
}
