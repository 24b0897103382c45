// set with Python's key equality; ints come out in the order CPython's hash table would give.
import { typeError } from '../errors.ts';
import { hashKey } from './hash.ts';
import { guardedRepr, repr } from './print.ts';
import { type HashKey, PyObject, type PyValue } from './value.ts';

export class PySet extends PyObject {
  readonly frozen: boolean;
  #map = new Map<HashKey, PyValue>();

  constructor(values: Iterable<PyValue> = [], frozen = false) {
    super();
    this.frozen = frozen;
    for (const value of values) this.add(value);
  }
  typeName(): string {
    return this.frozen ? 'frozenset' : 'set';
  }
  override repr(): string {
    return guardedRepr(this, 'set(...)', () => {
      const body = this.toArray().map(repr).join(', ');
      if (this.frozen) return body === '' ? 'frozenset()' : `frozenset({${body}})`;
      return body === '' ? 'set()' : `{${body}}`;
    });
  }
  override length(): number {
    return this.#map.size;
  }
  get size(): number {
    return this.#map.size;
  }
  add(value: PyValue): void {
    const key = hashKey(value);
    if (!this.#map.has(key)) this.#map.set(key, value);
  }
  has(value: PyValue): boolean {
    return this.#map.has(hashKey(value));
  }
  delete(value: PyValue): boolean {
    return this.#map.delete(hashKey(value));
  }
  clear(): void {
    this.#map.clear();
  }
  toArray(): PyValue[] {
    return tableOrder([...this.#map.entries()]);
  }
  [Symbol.iterator](): Iterator<PyValue> {
    return this.toArray()[Symbol.iterator]();
  }
  override iterate(): Iterator<PyValue> {
    return this.toArray()[Symbol.iterator]();
  }
  override contains(key: PyValue): boolean {
    return this.has(key);
  }
  override hashKey(): HashKey {
    if (!this.frozen) throw typeError("unhashable type: 'set'");
    return `\0f${[...this.#map.keys()].map(String).sort().join('\0')}`;
  }
}

const probes = 9;

/** Members in the order of CPython's open-addressing table when all are ints; otherwise as inserted. */
function tableOrder(entries: [HashKey, PyValue][]): PyValue[] {
  for (const [key] of entries) {
    if (typeof key !== 'number' || !Number.isInteger(key) || Math.abs(key) >= 2 ** 31) {
      return entries.map(([, value]) => value);
    }
  }
  let table: ([number, PyValue] | undefined)[] = new Array(8);
  let used = 0;
  for (const [key, value] of entries as [number, PyValue][]) {
    place(table, key, value);
    used += 1;
    if (used * 5 >= (table.length - 1) * 3) table = grow(table, used);
  }
  const ordered: PyValue[] = [];
  for (const slot of table) if (slot !== undefined) ordered.push(slot[1]);
  return ordered;
}

function grow(table: ([number, PyValue] | undefined)[], used: number): ([number, PyValue] | undefined)[] {
  const wanted = used > 50_000 ? used * 2 : used * 4;
  let size = 8;
  while (size <= wanted) size *= 2;
  const bigger: ([number, PyValue] | undefined)[] = new Array(size);
  for (const slot of table) if (slot !== undefined) place(bigger, slot[0], slot[1]);
  return bigger;
}

function place(table: ([number, PyValue] | undefined)[], key: number, value: PyValue): void {
  const mask = table.length - 1;
  // Python's hash of -1 is -2; negative hashes are used as unsigned 64-bit words.
  const hash = key === -1 ? -2 : key;
  let perturb = BigInt.asUintN(64, BigInt(hash));
  let index = Number(perturb & BigInt(mask));
  for (;;) {
    const last = index + probes <= mask ? index + probes : index;
    for (let at = index; at <= last; at += 1) {
      if (table[at] === undefined) {
        table[at] = [key, value];
        return;
      }
    }
    perturb >>= 5n;
    index = Number((BigInt(index) * 5n + 1n + perturb) & BigInt(mask));
  }
}
