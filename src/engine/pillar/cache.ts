// Cached pillars (`pillar_cache`): by minion and pillar environment, in memory and optionally on disk in Salt's format.
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import { asNumber, type Dict, dictEntries, dictGet, dictOf, fieldOf, isDict } from '../../base/codec/value.ts';
import { isPathComponent } from '../../base/util/index.ts';
import { replaceFile } from '../../base/util/replace-file.ts';

export interface PillarCacheOptions {
  readonly folder: string;
  readonly ttlSeconds: number;
  readonly disk: boolean;
  readonly now?: () => number;
}

interface Entry {
  /** Seconds since the epoch. */
  readonly at: number;
  /** null is the key of "no pillar environment". */
  readonly byEnvironment: Map<string | null, Dict>;
}

const dataKey = 'CacheDisk_data';
const timeKey = 'CacheDisk_cachetime';

export class PillarCache {
  readonly #options: PillarCacheOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #looked = new Set<string>();

  constructor(options: PillarCacheOptions) {
    this.#options = options;
  }

  async get(minionId: string, pillarenv: string | undefined): Promise<Dict | undefined> {
    await this.#load(minionId);
    const entry = this.#entries.get(minionId);
    if (!entry) return undefined;
    if (this.#seconds() - entry.at <= this.#options.ttlSeconds) return entry.byEnvironment.get(pillarenv ?? null);
    this.#entries.delete(minionId);
    return undefined;
  }

  async set(minionId: string, pillarenv: string | undefined, pillar: Dict): Promise<void> {
    const known = this.#entries.get(minionId)?.byEnvironment ?? [];
    const entry = { at: this.#seconds(), byEnvironment: new Map(known).set(pillarenv ?? null, pillar) };
    this.#entries.set(minionId, entry);
    this.#looked.add(minionId);
    await this.#store(minionId, entry);
  }

  async forget(minionId: string): Promise<void> {
    this.#entries.delete(minionId);
    this.#looked.add(minionId);
    if (this.#options.disk && isPathComponent(minionId)) await rm(this.#path(minionId), { force: true });
  }

  #seconds(): number {
    return (this.#options.now ?? Date.now)() / 1000;
  }

  #path(minionId: string): string {
    return join(this.#options.folder, minionId);
  }

  async #load(minionId: string): Promise<void> {
    if (!this.#options.disk || this.#looked.has(minionId) || !isPathComponent(minionId)) return;
    this.#looked.add(minionId);
    try {
      const stored = unpack(await readFile(this.#path(minionId)), { maxDepth: 480 });
      const entry = isDict(stored) ? readEntry(stored, minionId) : undefined;
      if (entry) this.#entries.set(minionId, entry);
    } catch {
      // Not cached, or not readable any more: compiled again.
    }
  }

  async #store(minionId: string, entry: Entry): Promise<void> {
    if (!this.#options.disk || !isPathComponent(minionId)) return;
    const pillars = dictOf([...entry.byEnvironment]);
    const stored = dictOf([
      [dataKey, dictOf([[minionId, pillars]])],
      [timeKey, dictOf([[minionId, entry.at]])],
    ]);
    await mkdir(this.#options.folder, { recursive: true, mode: 0o700 });
    await replaceFile(this.#path(minionId), pack(stored));
  }
}

function readEntry(stored: Dict, minionId: string): Entry | undefined {
  const pillars = fieldOf(dictGet(stored, dataKey), minionId);
  const at = asNumber(fieldOf(dictGet(stored, timeKey), minionId));
  if (at === undefined || pillars === undefined || !isDict(pillars)) return undefined;
  const byEnvironment = new Map<string | null, Dict>();
  for (const [env, pillar] of dictEntries(pillars)) {
    if (isDict(pillar)) byEnvironment.set(env === null ? null : String(env), pillar);
  }
  return { at, byEnvironment };
}
