// Builds a dict entry by entry with Python's equality of keys: 1, 1.0 and true are one key.
import { type Dict, isReorderedKey, type MapDict, newDict, type PlainDict, PyFloat, type Value } from '../value.ts';

export class DictBuilder {
  readonly #plain: PlainDict;
  #map: MapDict | undefined;
  /** Keys that are not text, by a text that is the same for equal keys. */
  #others: Map<string, Value> | undefined;

  /** Starts from an empty dict that exists already, if given. */
  constructor(empty: PlainDict | null) {
    this.#plain = empty ?? newDict();
  }

  get dict(): Dict {
    return this.#map ?? this.#plain;
  }

  /** Adds or replaces an entry; false when an equal key exists already, which then keeps its form and place. */
  add(key: Value, value: Value): boolean {
    if (typeof key !== 'string') return this.#addOther(key, value);
    if (this.#map === undefined) {
      if (!isReorderedKey(key)) {
        const isNew = !(key in this.#plain);
        this.#plain[key] = value;
        return isNew;
      }
      this.#map = new Map(Object.entries(this.#plain));
    }
    const isNew = !this.#map.has(key);
    this.#map.set(key, value);
    return isNew;
  }

  #addOther(key: Value, value: Value): boolean {
    this.#map ??= new Map(Object.entries(this.#plain));
    this.#others ??= new Map();
    const hash = hashOf(key);
    const known = this.#others.get(hash);
    if (known === undefined) this.#others.set(hash, key);
    this.#map.set(known === undefined ? key : known, value);
    return known === undefined;
  }

  /** The key as it is stored. */
  storedKey(key: Value): Value {
    return typeof key === 'string' ? key : (this.#others?.get(hashOf(key)) ?? key);
  }
}

/** Equal texts for keys that are equal in Python. */
function hashOf(key: Value): string {
  if (typeof key === 'boolean') return key ? 'n1' : 'n0';
  if (typeof key === 'bigint') return `n${key}`;
  if (key instanceof Uint8Array) return `b${Buffer.from(key).toString('hex')}`;
  const number = key instanceof PyFloat ? key.value : key;
  if (typeof number !== 'number') return String(key);
  return Number.isInteger(number) ? `n${BigInt(number)}` : `n${number}`;
}
