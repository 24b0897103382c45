// What each member knows about minions (grains and pillar, mine): the last writer wins, and what did not change is not
// written.
import { createHash } from 'node:crypto';
import { textField } from '../../base/codec/fields.ts';
import { pack } from '../../base/codec/msgpack/index.ts';
import { asDict, dictGet, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import type { Bucket, Cluster, Entry, Removed, Revision } from '../../engine/cluster/api.ts';

export interface SharedRecordsParts {
  readonly cluster: Pick<Cluster, 'name' | 'registry' | 'onChange'>;
  readonly bucket: 'data' | 'mine';
  readonly log: Pick<Logger, 'debug' | 'limited'>;
  /** What this master has about its minions when it starts. */
  own(): Iterable<readonly [id: string, value: Value]>;
  /** Only these have records: others were removed while this master was away. */
  isKnown(id: string): boolean;
  /** Another member wrote or removed a record. */
  changed(id: string, value: Value | undefined): void;
}

/** Records that could not be written yet; what is beyond is written with the next change. */
const mostWaiting = 100_000;
const writersAtOnce = 8;
const mostTries = 10;
const againMs = 2_000;

export class SharedRecords {
  readonly #parts: SharedRecordsParts;
  readonly #bucket: Bucket<Value>;
  readonly #known = new Map<string, { hash: string; revision: Revision }>();
  /** To be written; undefined removes. */
  readonly #waiting = new Map<string, Value | undefined>();
  readonly #writing = new Set<string>();
  /** What others wrote while a write of our own was on its way: which of them is the last one shows at its end. */
  readonly #meanwhile = new Map<string, { value: Value | undefined; revision: Revision }>();
  readonly #end = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #synced = false;

  /** Undefined for a master without others: its store has all there is. */
  static open(parts: SharedRecordsParts): SharedRecords | undefined {
    return parts.cluster.name === undefined ? undefined : new SharedRecords(parts);
  }

  private constructor(parts: SharedRecordsParts) {
    this.#parts = parts;
    this.#bucket = parts.cluster.registry.bucket(parts.bucket);
    this.#bucket.watch({
      on: (entry) => this.#heard(entry),
      synced: () => this.#seed(),
      signal: this.#end.signal,
    });
    const stop = parts.cluster.onChange((change) => {
      if (change.kind === 'state' && change.state.kind === 'joined') this.#work();
    });
    this.#end.signal.addEventListener('abort', stop, { once: true });
  }

  put(id: string, value: Value): void {
    if (this.#known.get(id)?.hash === hashOf(value)) this.#waiting.delete(id);
    else this.#want(id, value);
  }

  remove(id: string): void {
    if (this.#known.has(id) || this.#waiting.has(id)) this.#want(id, undefined);
  }

  close(): void {
    this.#end.abort();
    clearTimeout(this.#timer);
  }

  #want(id: string, value: Value | undefined): void {
    this.#waiting.delete(id);
    if (this.#waiting.size < mostWaiting) this.#waiting.set(id, value);
    this.#work();
  }

  /** What the registry does not have after all of it was read. */
  #seed(): void {
    if (this.#synced) return;
    this.#synced = true;
    for (const [id, value] of this.#parts.own()) {
      if (this.#known.has(id) || this.#waiting.has(id)) continue;
      if (this.#parts.isKnown(id)) this.put(id, value);
      else this.#parts.changed(id, undefined);
    }
    this.#work();
  }

  #heard(entry: Entry<Value> | Removed): void {
    const id = entry.key;
    if (!isValidMinionId(id)) return;
    const before = this.#known.get(id);
    if (before && before.revision >= entry.revision) return;
    const record = 'removed' in entry ? undefined : (asDict(entry.value) ?? {});
    const hash = record && (textField(record, 'hash') ?? '');
    if (hash === undefined) this.#known.delete(id);
    else this.#known.set(id, { hash, revision: entry.revision });
    const value = record && (dictGet(record, 'value') ?? null);
    if (this.#waiting.has(id)) this.#meanwhile.set(id, { value, revision: entry.revision });
    else if (before?.hash !== hash || hash === undefined) this.#parts.changed(id, value);
  }

  #work(): void {
    if (!this.#synced) return;
    for (const [id, value] of this.#waiting) {
      if (this.#writing.size >= writersAtOnce) return;
      if (this.#writing.has(id)) continue;
      this.#writing.add(id);
      void this.#write(id, value).finally(() => {
        this.#writing.delete(id);
        if (!this.#end.signal.aborted && this.#timer === undefined) this.#work();
      });
    }
  }

  async #write(id: string, value: Value | undefined): Promise<void> {
    let revision: Revision | undefined;
    try {
      for (let tries = 0; tries < mostTries && revision === undefined; tries++)
        revision = await this.#tryWrite(id, value);
    } catch (error) {
      if (error instanceof HaliteError && error.code === 'codec.limit') {
        // It stays with this member, which has the minion.
        this.#parts.log.limited(`large:${id}`, 'warn', 'data of a minion is too large for the other members', {
          minion: id,
        });
      } else {
        this.#parts.log.debug('data of a minion is not shared yet', { minion: id, why: messageOf(error) });
        this.#later();
        return;
      }
    }
    // Another value may have come to wait.
    if (this.#waiting.get(id) !== value) return;
    this.#waiting.delete(id);
    const last = this.#meanwhile.get(id);
    this.#meanwhile.delete(id);
    if (last && last.revision > (revision ?? 0)) this.#parts.changed(id, last.value);
  }

  /** Undefined when another member wrote meanwhile: the last writer wins, so it is written over that. */
  async #tryWrite(id: string, value: Value | undefined): Promise<Revision | undefined> {
    const known = this.#known.get(id);
    try {
      if (value === undefined) {
        await this.#bucket.remove(id);
        return known?.revision ?? 0;
      }
      const hash = hashOf(value);
      const record = { hash, value };
      const revision = known
        ? await this.#bucket.update(id, record, known.revision)
        : await this.#bucket.create(id, record);
      this.#learn(id, { hash, revision });
      return revision;
    } catch (error) {
      if (!(error instanceof HaliteError) || error.code !== 'cluster.conflict') throw error;
      const entry = await this.#bucket.get(id);
      if (entry)
        this.#learn(id, { hash: textField(asDict(entry.value) ?? {}, 'hash') ?? '', revision: entry.revision });
      else this.#known.delete(id);
      return undefined;
    }
  }

  #learn(id: string, known: { hash: string; revision: Revision }): void {
    if (known.revision > (this.#known.get(id)?.revision ?? 0)) this.#known.set(id, known);
  }

  #later(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#work();
    }, againMs).unref();
  }
}

const hashOf = (value: Value): string => createHash('sha256').update(pack(value)).digest('base64url').slice(0, 22);
