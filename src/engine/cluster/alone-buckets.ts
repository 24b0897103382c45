// Buckets of a master without others: rows of a table, and listeners in this process.
import { packValue, unpackValue } from '../../base/codec/msgpack/index.ts';
import type { Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Bucket, BucketName, Entry, Removed, Revision, WatchOptions } from './api.ts';
import type { LocalTable } from './ports.ts';

const counters = 'bucket-revision';

/** The error of a compare-and-set that lost. */
function conflict(bucket: string, key: string): HaliteError {
  return new HaliteError('cluster.conflict', `Another master decided otherwise meanwhile: ${bucket} ${key}`);
}

export class AloneBuckets {
  readonly #table: LocalTable;
  readonly #open = new Map<BucketName, AloneBucket>();

  constructor(table: LocalTable) {
    this.#table = table;
  }

  bucket<T extends Value>(name: BucketName): Bucket<T> {
    let bucket = this.#open.get(name);
    if (!bucket) {
      bucket = new AloneBucket(name, this.#table);
      this.#open.set(name, bucket);
    }
    // A bucket gives back what its only users put into it.
    return bucket as unknown as Bucket<T>;
  }
}

class AloneBucket implements Bucket<Value> {
  readonly #name: BucketName;
  readonly #space: string;
  readonly #table: LocalTable;
  #revision: Revision;
  readonly #watchers = new Set<WatchOptions<Value>>();

  constructor(name: BucketName, table: LocalTable) {
    this.#name = name;
    this.#space = `bucket-${name}`;
    this.#table = table;
    this.#revision = Number(Buffer.from(table.get(counters, name) ?? []).toString() || 0);
  }

  async get(key: string): Promise<Entry<Value> | undefined> {
    return this.#read(key);
  }

  async create(key: string, value: Value): Promise<Revision> {
    if (this.#read(key)) throw conflict(this.#name, key);
    return this.#write(key, value);
  }

  async update(key: string, value: Value, last: Revision): Promise<Revision> {
    if (this.#read(key)?.revision !== last) throw conflict(this.#name, key);
    return this.#write(key, value);
  }

  async remove(key: string, last?: Revision): Promise<void> {
    const entry = this.#read(key);
    if (last !== undefined && entry?.revision !== last) throw conflict(this.#name, key);
    if (!entry) return;
    const revision = this.#count();
    this.#table.remove(this.#space, key);
    this.#tell({ key, removed: true, revision });
  }

  watch(options: WatchOptions<Value>): void {
    if (options.signal.aborted) return;
    for (const [key, row] of this.#table.all(this.#space)) {
      const entry = entryOf(key, row);
      if (entry.revision > (options.from ?? 0)) options.on(entry);
    }
    this.#watchers.add(options);
    options.signal.addEventListener('abort', () => this.#watchers.delete(options), { once: true });
    options.synced?.();
  }

  #read(key: string): Entry<Value> | undefined {
    const row = this.#table.get(this.#space, key);
    return row && entryOf(key, row);
  }

  #write(key: string, value: Value): Revision {
    const revision = this.#count();
    this.#table.set(this.#space, key, packValue([revision, value]));
    this.#tell({ key, value, revision });
    return revision;
  }

  #count(): Revision {
    this.#revision += 1;
    this.#table.set(counters, this.#name, Buffer.from(String(this.#revision)));
    return this.#revision;
  }

  #tell(change: Entry<Value> | Removed): void {
    for (const watcher of this.#watchers) watcher.on(change);
  }
}

function entryOf(key: string, row: Uint8Array): Entry<Value> {
  const [revision, value] = unpackValue(row) as [number, Value];
  return { key, value, revision };
}
