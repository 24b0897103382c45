// A new key for what members seal, while they work: it is written to the registry sealed for each member alone, by a value
// that is sealed with the key before. So a member that was away follows from key to key, and one that was forgotten does not.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { dictField } from '../../../base/codec/fields.ts';
import { asPlainDict, dictEntries, newDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import type { BucketName, Keyring } from '../api.ts';
import { bucketNames } from '../api.ts';
import { busKeyBytes } from '../bus-keys.ts';
import { type Identity, sealFor } from '../identity.ts';
import { slotKey, slotNumbers, slotRecord } from '../slots.ts';
import { cutOff } from './connection.ts';
import type { Core } from './core.ts';
import { JetStreamError, jetStreamErrors, type StoredMessage } from './jetstream.ts';
import { readStream } from './reader.ts';
import { type BucketStore, indexName } from './store.ts';
import { bucketPlan, subjectOf } from './streams.ts';

export interface KeyringParts {
  readonly core: Core;
  readonly id: string;
  readonly identity: () => Identity | undefined;
  readonly store: (name: BucketName) => BucketStore;
  /** Of the one key with a plain name. */
  readonly plain: () => BucketStore;
  /** Undefined for a member that was never there: it cannot find the keys by name. */
  readonly indexKey: () => Uint8Array | undefined;
}

/** So often a message with a key that nobody offers makes this member look for it. */
const againMs = 1000;
const listMs = 120_000;
const atOnce = 8;
const mostNumber = 255;
const busKeyPrefix = 'bus.';

export class NatsKeyring implements Keyring {
  readonly #parts: KeyringParts;
  #looking: Promise<void> | undefined;
  #looked = Number.NEGATIVE_INFINITY;

  constructor(parts: KeyringParts) {
    this.#parts = parts;
  }

  get #keys(): Core['envelope']['keys'] {
    return this.#parts.core.envelope.keys;
  }
  get current(): number {
    return this.#keys.current().number;
  }
  get newest(): number {
    return this.#keys.newest;
  }

  /** Before a message is opened: takes the key that it needs, if this member gets it. */
  prepare(data: Uint8Array): Promise<void> | undefined {
    const number = this.#parts.core.envelope.keyNumberOf(data);
    if (number === undefined || number <= this.newest) return undefined;
    return performance.now() - this.#looked < againMs ? this.#looking : this.follow();
  }

  /** Takes the keys that were made meanwhile. */
  follow(): Promise<void> {
    this.#looked = performance.now();
    this.#looking ??= this.#follow()
      .catch((error: unknown) => {
        this.#parts.core.log.limited('bus-key', 'warn', 'a new key of the cluster is taken later', {
          why: messageOf(error),
        });
      })
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  /** Before this member writes anything: it has the key of the others, or waits. */
  async catchUp(): Promise<void> {
    if (!this.#parts.indexKey()) return;
    await this.follow();
    const { lockedOut } = this.#parts.core.envelope;
    if (lockedOut) throw lockedOut;
    const plain = this.#parts.plain();
    const index = await this.#peek(plain, plain.subject(indexName));
    const number = index && this.#parts.core.envelope.keyNumberOf(index.data);
    if (number === undefined || number <= this.newest) return;
    throw new HaliteError('cluster.cut-off', 'The masters have a newer key of the cluster than this one', {
      hint: 'Let it join again: "salt-run cluster.invite" on another master, "halite cluster join" here.',
    });
  }

  async #follow(): Promise<void> {
    const { core, store } = this.#parts;
    const reg = store('reg');
    for (;;) {
      const number = this.newest + 1;
      const subject = reg.subject(busKeyPrefix + number);
      const message = await this.#peek(reg, subject);
      const stored = message && reg.read(subject, message.data, message.seq, message.time);
      if (stored?.value === undefined) return;
      const key = this.#open(number, stored.value);
      if (!key) {
        core.envelope.lockOut(this.#lockedOut());
        return;
      }
      core.envelope.lockOut(undefined);
      this.#add(number, key);
    }
  }

  /** A stream that is not there yet has nothing. */
  async #peek({ stream }: BucketStore, subject: string): Promise<StoredMessage | undefined> {
    try {
      return await this.#parts.core.js().peek(stream, subject);
    } catch (error) {
      if (error instanceof JetStreamError && error.number === jetStreamErrors.streamNotFound) return undefined;
      throw error;
    }
  }

  #open(number: number, value: Value): Uint8Array | undefined {
    const sealed = readSealed(value).get(this.#parts.core.slot());
    const key = sealed && this.#parts.identity()?.open(this.#purpose(number), sealed);
    return key?.length === busKeyBytes ? key : undefined;
  }

  #add(number: number, key: Uint8Array): void {
    const { log } = this.#parts.core;
    try {
      this.#keys.add(number, key);
    } catch (error) {
      // It is used all the same: after a restart it is read again.
      log.error('the new key of the cluster could not be written to its file', { why: messageOf(error) });
    }
    log.info('this master has a new key of the cluster', { number });
  }

  #purpose(number: number): string {
    return `bus ${this.#parts.core.options.name} ${number}`;
  }

  async members(): Promise<readonly { readonly id: string; readonly slot: number; readonly hasIdentity: boolean }[]> {
    const found = await this.#identities();
    return found.map(({ id, slot, key }) => ({ id, slot, hasIdentity: key !== '' }));
  }

  /** Those that were not forgotten. */
  async #identities(): Promise<{ readonly id: string; readonly slot: number; readonly key: string }[]> {
    const reg = this.#parts.store('reg');
    const heads = await Promise.all(slotNumbers.map((slot) => reg.head(slotKey(slot))));
    return heads.flatMap(({ stored }, slot) => {
      const record = slotRecord(stored?.value);
      return record && record.freeAt === undefined ? [{ id: record.id, slot, key: record.key }] : [];
    });
  }

  async make(): Promise<number> {
    await this.follow();
    if (this.newest > this.current) return this.newest;
    const number = this.newest + 1;
    if (number > mostNumber)
      throw new HaliteError('codec.limit', `A cluster can have ${mostNumber} keys one after another`);
    const members = await this.#identities();
    const bare = members.filter(({ key }) => key === '').map(({ id }) => id);
    if (bare.length > 0)
      throw new HaliteError(
        'cluster.refused',
        `These masters have no identity that a key could be sealed for: ${bare.join(', ')}`,
        {
          hint: 'Restart them: each makes its own. Forget those that do not come back: salt-run cluster.forget <id>',
        },
      );
    const key = randomBytes(busKeyBytes);
    const seal = ({ slot, key: identity }: { slot: number; key: string }): [string, Uint8Array] => [
      String(slot),
      sealFor(Buffer.from(identity, 'hex'), this.#purpose(number), key),
    ];
    const value = newDict([
      ['by', this.#parts.id],
      ['sealed', newDict(members.map(seal))],
    ] as [string, Value][]);
    const reg = this.#parts.store('reg');
    const head = await reg.head(busKeyPrefix + number);
    // Of two members that make one at the same time, one is first: this one has its key then.
    if (head.stored?.value === undefined) await reg.write(busKeyPrefix + number, value, head.revision);
    await this.follow();
    if (this.newest >= number) return number;
    throw new HaliteError('cluster.refused', `The key ${number} of the cluster was made, but is not for this master`, {
      hint: 'The log says why.',
    });
  }

  use(number: number): void {
    if (number !== this.current) this.#keys.use(number);
  }

  retire(below: number): void {
    this.#keys.retire(below);
  }

  async reseal(): Promise<number> {
    let left = 0;
    const { core, store, plain } = this.#parts;
    await plain().reseal(plain().subject(indexName));
    for (const name of bucketNames) {
      const { stream, subjects } = bucketPlan(core.options.name, name);
      const steps = this.#steps(name);
      const old = (await this.#old(stream, subjects)).filter((subject) => !steps.has(subject));
      const next = old[Symbol.iterator]();
      const work = async (): Promise<void> => {
        for (const subject of next) if (!(await store(name).reseal(subject))) left += 1;
      };
      await Promise.all(Array.from({ length: atOnce }, work));
    }
    return left;
  }

  /** The subjects of offered keys, which stay as they are; and that of the one key with a plain name. */
  #steps(name: BucketName): ReadonlySet<string> {
    if (name !== 'reg') return new Set();
    const reg = this.#parts.store('reg');
    const numbers = Array.from({ length: this.newest }, (_, at) => reg.subject(busKeyPrefix + (at + 1)));
    return new Set([...numbers, subjectOf.bucket(this.#parts.core.options.name, name) + indexName]);
  }

  /** Subjects whose last value is sealed with an older key. */
  async #old(stream: string, filter: string): Promise<string[]> {
    const { core } = this.#parts;
    const end = new AbortController();
    const old = new Set<string>();
    const reading = readStream({
      ...{ js: core.js(), stream, filter, start: 'last-per-subject', log: core.log },
      signal: AbortSignal.any([core.signal, end.signal]),
      onMessage: ({ subject, data }) => {
        const number = core.envelope.keyNumberOf(data);
        if (number !== undefined && number < this.current) old.add(subject);
        else old.delete(subject);
      },
      onCaughtUp: () => end.abort(),
      onLost: () => Promise.reject(cutOff(`the stream ${stream} is gone`)),
    });
    const late = sleep(listMs, undefined, { signal: end.signal, ref: false }).then(
      () => Promise.reject(cutOff(`the stream ${stream} was not read within ${listMs} ms`)),
      () => undefined,
    );
    try {
      await Promise.race([reading, late]);
    } finally {
      end.abort();
    }
    return [...old];
  }

  #lockedOut(): HaliteError {
    return new HaliteError(
      'cluster.refused',
      `The key of the cluster was changed, and ${this.#parts.id} does not get the new one: it was forgotten on another master`,
      {
        hint: 'To let it in again: "salt-run cluster.invite" on another master, "halite cluster join" here. To use it alone: remove `cluster:` from its configuration.',
      },
    );
  }
}

/** By slot. */
function readSealed(value: Value): Map<number, Uint8Array> {
  const fields = asPlainDict(value);
  const sealed = new Map<number, Uint8Array>();
  for (const [slot, bytes] of dictEntries((fields && dictField(fields, 'sealed')) ?? newDict()))
    if (bytes instanceof Uint8Array && bytes.length <= 1000) sealed.set(Number(slot), bytes);
  return sealed;
}
