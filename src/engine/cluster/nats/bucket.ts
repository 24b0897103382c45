// Buckets of the registry on NATS: compare-and-set by the engine, and watches that survive whatever happens to it.
import type { Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import type { Bucket, Entry, Removed, Revision, WatchOptions } from '../api.ts';
import type { JetStream } from './jetstream.ts';
import { readStream, type Start } from './reader.ts';
import type { BucketStore, Head } from './store.ts';
import type { StreamPlan } from './streams.ts';

/** The error of a compare-and-set that lost. */
const conflict = (bucket: string, key: string): HaliteError =>
  new HaliteError('cluster.conflict', `Another master decided otherwise meanwhile: ${bucket} ${key}`);

export interface BucketParts {
  readonly name: string;
  readonly plan: StreamPlan;
  readonly store: BucketStore;
  readonly js: () => JetStream;
  /** Resolves when the streams are there, rejects when that takes long. */
  ready(): Promise<void>;
  /** The same for who can wait. */
  established(): Promise<void>;
  /** Makes the stream again, and tells that the engine lost data. */
  lost(stream: string): Promise<void>;
  readonly signal: AbortSignal;
  readonly log: Pick<Logger, 'limited' | 'error'>;
}

export class NatsBucket implements Bucket<Value> {
  readonly #parts: BucketParts;

  constructor(parts: BucketParts) {
    this.#parts = parts;
  }

  async get(key: string): Promise<Entry<Value> | undefined> {
    await this.#parts.ready();
    return entryOf(await this.#parts.store.head(key));
  }

  async create(key: string, value: Value): Promise<Revision> {
    await this.#parts.ready();
    const head = await this.#parts.store.head(key);
    if (entryOf(head)) throw conflict(this.#parts.name, key);
    return this.#write(key, value, head.revision);
  }

  async update(key: string, value: Value, last: Revision): Promise<Revision> {
    await this.#parts.ready();
    return this.#write(key, value, last);
  }

  async remove(key: string, last?: Revision): Promise<void> {
    await this.#parts.ready();
    for (;;) {
      const head = await this.#parts.store.head(key);
      if (last !== undefined && head.revision !== last && head.stored?.repeats !== last)
        throw conflict(this.#parts.name, key);
      if (!entryOf(head)) return;
      // Removed by a value that says so: only members can remove.
      if ((await this.#parts.store.write(key, undefined, head.revision)) !== undefined) return;
      if (last !== undefined) throw conflict(this.#parts.name, key);
    }
  }

  watch(options: WatchOptions<Value>): void {
    const { plan, store, js, log } = this.#parts;
    const signal = AbortSignal.any([options.signal, this.#parts.signal]);
    const start: Start = options.from === undefined ? 'last-per-subject' : { from: options.from + 1 };
    const run = async (): Promise<void> => {
      await this.#parts.established();
      await readStream({
        ...{ js: js(), stream: plan.stream, filter: plan.subjects, start, signal, log },
        onMessage: ({ subject, data, seq, time }) => {
          const stored = store.read(subject, data, seq, time);
          if (stored) options.on(changeOf(stored));
        },
        onCaughtUp: () => options.synced?.(),
        onLost: async () => {
          await this.#parts.lost(plan.stream);
          return 'last-per-subject';
        },
      });
    };
    run().catch((error: unknown) => {
      if (!signal.aborted)
        log.error('a watch of the registry ended', { bucket: this.#parts.name, error: String(error) });
    });
  }

  async #write(key: string, value: Value, last: Revision): Promise<Revision> {
    const { store } = this.#parts;
    const revision = await store.write(key, value, last);
    if (revision !== undefined) return revision;
    // Nothing was decided meanwhile when the same value was only sealed anew.
    const head = last === 0 ? undefined : await store.head(key);
    const again = head?.stored?.repeats === last ? await store.write(key, value, head.revision) : undefined;
    if (again === undefined) throw conflict(this.#parts.name, key);
    return again;
  }
}

type Stored = NonNullable<Head['stored']>;

function changeOf({ key, value, revision }: Stored): Entry<Value> | Removed {
  return value === undefined ? { key, removed: true, revision } : { key, value, revision };
}

function entryOf({ stored }: Head): Entry<Value> | undefined {
  return stored?.value === undefined ? undefined : { key: stored.key, value: stored.value, revision: stored.revision };
}
