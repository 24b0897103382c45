// Finds the chunks of a requisite without checking every chunk for every requisite.
import { pyStr } from '../../../base/codec/python/index.ts';
import { dictKeys, isDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { globMatcher, hasGlob } from '../../../base/util/index.ts';
import { type Chunk, firstKey, firstValue } from '../data.ts';

/** One requisite as written: `{file: /etc/x}` or a bare id. */
export interface Requisite {
  /** A state module, `sls`, or `id` for a bare text. */
  readonly key: string;
  readonly value: Value;
}

/** Reads one entry of a requisite list. A function after the module (`pkg.installed`) is dropped. */
export function readRequisite(entry: Value): Requisite {
  if (!isDict(entry)) return { key: 'id', value: entry };
  const key = pyStr(firstKey(entry));
  return { key: key.includes('.') ? key.slice(0, key.indexOf('.')) : key, value: firstValue(entry) ?? null };
}

/** The entries of a requisite. Salt iterates over any value: over the keys of a dict, over the characters of a text. */
export function requisiteEntries(list: Value | undefined): readonly Value[] {
  if (Array.isArray(list)) return list;
  if (typeof list === 'string') return [...list];
  return list !== undefined && isDict(list) ? dictKeys(list) : [];
}

const none: readonly number[] = [];

/** Positions of chunks, by name, id and SLS. */
export class RequisiteIndex {
  readonly #chunks: readonly Chunk[];
  readonly #byName = new Map<string, number[]>();
  readonly #bySls = new Map<string, number[]>();
  readonly #cache = new Map<string, readonly number[]>();
  /** A chunk whose name is not text makes every lookup by name fail, as in Salt. */
  #unnamed: Chunk | undefined;

  constructor(chunks: readonly Chunk[]) {
    this.#chunks = chunks;
    for (const [at, chunk] of chunks.entries()) {
      const { name, __id__: id, __sls__: sls } = chunk;
      if (typeof name === 'string') note(this.#byName, name, at);
      else this.#unnamed ??= chunk;
      if (typeof id === 'string' && id !== name) note(this.#byName, id, at);
      if (typeof sls === 'string') note(this.#bySls, sls, at);
    }
  }

  /** Positions of the matching chunks, in order; none for a value of None. */
  find({ key, value }: Requisite): readonly number[] {
    if (value === null) return none;
    const bad = typeof value === 'string' ? this.#unnamed : this.#chunks[0];
    if (bad && (key !== 'sls' || typeof value !== 'string')) {
      throw new HaliteError(
        'render.failed',
        `Could not locate requisite of [${key}] present in state with name [${pyStr(bad['name'])}]`,
      );
    }
    if (typeof value !== 'string') return none;
    const cacheKey = `${key}\0${value}`;
    let found = this.#cache.get(cacheKey);
    if (!found) {
      found = key === 'sls' ? this.#search(this.#bySls, value) : this.#ofState(key, this.#search(this.#byName, value));
      this.#cache.set(cacheKey, found);
    }
    return found;
  }

  #search(places: ReadonlyMap<string, number[]>, pattern: string): readonly number[] {
    if (!hasGlob(pattern)) return places.get(pattern) ?? none;
    const matches = globMatcher(pattern);
    const found = new Set<number>();
    for (const [name, at] of places) if (matches(name)) for (const position of at) found.add(position);
    return [...found].sort((a, b) => a - b);
  }

  #ofState(key: string, found: readonly number[]): readonly number[] {
    return key === 'id' ? found : found.filter((at) => this.#chunks[at]!['state'] === key);
  }
}

function note(places: Map<string, number[]>, name: string, at: number): void {
  const known = places.get(name);
  if (known) known.push(at);
  else places.set(name, [at]);
}
