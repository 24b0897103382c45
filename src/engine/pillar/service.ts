// Pillars for a master: compiled in worker threads, cached when `pillar_cache` is on.
import { join } from 'node:path';
import { type Dict, dictEntries, isDict, newDict, type Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { ExtensionLog, PillarRemote, PillarView } from '../../extend/sdk/index.ts';
import { PillarCache } from './cache.ts';
import { mergerOf } from './merge.ts';
import { PillarPool } from './pool.ts';
import type { PillarRequest } from './types.ts';

export interface PillarServiceOptions {
  readonly opts: Readonly<Record<string, Value>>;
  readonly log: ExtensionLog;
  readonly pool?: Pick<PillarPool, 'compile' | 'top' | 'explain' | 'update' | 'close'>;
}

export class PillarService implements PillarView {
  readonly #options: PillarServiceOptions;
  readonly #pool: NonNullable<PillarServiceOptions['pool']>;
  readonly #cache: PillarCache | undefined;

  constructor(options: PillarServiceOptions) {
    const { opts, log } = options;
    this.#options = options;
    this.#pool = options.pool ?? new PillarPool({ opts, log });
    if (opts['pillar_cache'] === true) {
      this.#cache = new PillarCache({
        folder: join(String(opts['cachedir'] ?? '.'), 'pillar_cache'),
        ttlSeconds: Number(opts['pillar_cache_ttl'] ?? 3600),
        disk: opts['pillar_cache_backend'] !== 'memory',
      });
    }
  }

  get caching(): boolean {
    return this.#cache !== undefined;
  }

  /** For a minion: from the cache when there is one. `clean` compiles again. */
  async get(request: PillarRequest, clean = false): Promise<Dict> {
    const cache = this.#cache;
    if (!cache) return this.compile(request);
    const { minionId, pillarenv } = request;
    if (clean) await cache.forget(minionId);
    let pillar = await cache.get(minionId, pillarenv);
    if (!pillar) {
      pillar = await this.compile({ ...request, override: undefined });
      await cache.set(minionId, pillarenv, pillar).catch((error: unknown) => {
        this.#options.log.error('a pillar could not be cached', { minion: minionId, error: messageOf(error) });
      });
    }
    return this.#withOverride(pillar, request.override);
  }

  /** Salt ignores `pillar=` when its cache is on; here it works in both cases. */
  #withOverride(pillar: Dict, override: Value | undefined): Dict {
    if (override === undefined || !isDict(override) || dictEntries(override).length === 0) return pillar;
    return mergerOf(this.#options.opts, () => undefined)(pillar, override);
  }

  compile(request: PillarRequest): Promise<Dict> {
    return this.#pool.compile(request);
  }

  top(request: PillarRequest): Promise<Value> {
    return this.#pool.top(request);
  }

  explain(request: PillarRequest, key: string, delimiter?: string): Promise<Value> {
    return this.#pool.explain(request, key, delimiter);
  }

  async cached(minionId: string, pillarenv?: string): Promise<Dict | undefined> {
    return this.#cache?.get(minionId, pillarenv);
  }

  async forget(minionId: string): Promise<void> {
    await this.#cache?.forget(minionId);
  }

  update(source: string, wanted: PillarRemote): Promise<Dict> {
    return this.#pool.update(source, wanted);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** The result for a minion whose pillar could not be compiled at all. */
export function failedPillar(why: string): Dict {
  return newDict([['_errors', [why]]]);
}
