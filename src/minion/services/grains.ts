// The grains of this minion: collected in a job process at start and on request, kept in memory and optionally on disk.
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import { asPlainDict, newDict, type PlainDict } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { replaceFile } from '../../base/util/replace-file.ts';

export class GrainStore {
  readonly #opts: MinionOpts;
  readonly #log: Logger;
  readonly #collect: () => Promise<PlainDict>;
  #collecting: Promise<PlainDict> | undefined;
  #values: PlainDict | undefined;

  constructor(opts: MinionOpts, log: Logger, collect: () => Promise<PlainDict>) {
    this.#opts = opts;
    this.#log = log;
    this.#collect = collect;
  }

  /** The current grains; empty before the first collection has finished. */
  get now(): PlainDict {
    return this.#values ?? newDict();
  }

  /** The grains, after the first collection. */
  async get(): Promise<PlainDict> {
    return this.#values ?? this.#load(false);
  }

  /** Collects again; concurrent calls share one collection. */
  refresh(): Promise<PlainDict> {
    return this.#load(true);
  }

  #load(force: boolean): Promise<PlainDict> {
    this.#collecting ??= this.#read(force).finally(() => {
      this.#collecting = undefined;
    });
    return this.#collecting;
  }

  async #read(force: boolean): Promise<PlainDict> {
    const cached = force ? undefined : await this.#readCache();
    const grains = cached ?? (await this.#collect());
    // The collector runs in a job process; the grain must be that of the minion.
    if (Object.hasOwn(grains, 'pid')) grains['pid'] = process.pid;
    this.#values = grains;
    if (!cached) await this.#writeCache(grains);
    return grains;
  }

  get #cachePath(): string {
    return join(this.#opts.cachedir, 'grains.cache.p');
  }

  async #readCache(): Promise<PlainDict | undefined> {
    if (!this.#opts.grains_cache) return undefined;
    try {
      const { mtimeMs } = await stat(this.#cachePath);
      if (Date.now() - mtimeMs > this.#opts.grains_cache_expiration * 1000) return undefined;
      const value = unpack(await readFile(this.#cachePath));
      return asPlainDict(value);
    } catch {
      return undefined;
    }
  }

  async #writeCache(grains: PlainDict): Promise<void> {
    if (!this.#opts.grains_cache) return;
    try {
      await replaceFile(this.#cachePath, pack(grains));
    } catch (error) {
      this.#log.error('the grains cache could not be written', { path: this.#cachePath, error: messageOf(error) });
    }
  }
}
