// dict and OrderedDict with insertion order and Python's key equality, and their live views.
import { PyError, typeError } from '../errors.ts';
import { hashKey } from './hash.ts';
import { guardedRepr, repr } from './print.ts';
import { PyTuple } from './sequence.ts';
import { type HashKey, PyObject, type PyValue } from './value.ts';

export class PyDict extends PyObject {
  readonly ordered: boolean;
  #map: Map<HashKey, PyValue>;
  /** Keys that differ from their normal form (True, 1.0, tuples…). */
  #originals: Map<HashKey, PyValue> | undefined;
  /** Fills the dict on first use: host data is converted level by level, only where a template reads it. */
  #fill: ((dict: PyDict) => void) | undefined;

  constructor(options: { ordered?: boolean; fill?: (dict: PyDict) => void } = {}) {
    super();
    this.ordered = options.ordered === true;
    this.#map = new Map();
    this.#fill = options.fill;
  }

  static from(entries: Iterable<readonly [PyValue, PyValue]>, ordered = false): PyDict {
    const dict = new PyDict({ ordered });
    for (const [key, value] of entries) dict.set(key, value);
    return dict;
  }

  #ready(): Map<HashKey, PyValue> {
    const fill = this.#fill;
    if (fill !== undefined) {
      this.#fill = undefined;
      fill(this);
    }
    return this.#map;
  }

  typeName(): string {
    return this.ordered ? 'OrderedDict' : 'dict';
  }
  override moduleName(): string {
    return this.ordered ? 'collections' : 'builtins';
  }
  override repr(): string {
    return guardedRepr(this, this.ordered ? '...' : '{...}', () => {
      const parts: string[] = [];
      for (const [key, value] of this.entries()) {
        parts.push(this.ordered ? `(${repr(key)}, ${repr(value)})` : `${repr(key)}: ${repr(value)}`);
      }
      if (!this.ordered) return `{${parts.join(', ')}}`;
      return parts.length === 0 ? 'OrderedDict()' : `OrderedDict([${parts.join(', ')}])`;
    });
  }
  override length(): number {
    return this.#ready().size;
  }
  get size(): number {
    return this.#ready().size;
  }

  get(key: PyValue): PyValue | undefined {
    return this.#ready().get(typeof key === 'string' && key.charCodeAt(0) !== 0 ? key : hashKey(key));
  }
  has(key: PyValue): boolean {
    return this.#ready().has(hashKey(key));
  }
  set(key: PyValue, value: PyValue): void {
    const map = this.#ready();
    const normal = hashKey(key);
    if (normal !== key && !map.has(normal)) {
      this.#originals ??= new Map();
      this.#originals.set(normal, key);
    }
    map.set(normal, value);
  }
  delete(key: PyValue): boolean {
    const normal = hashKey(key);
    this.#originals?.delete(normal);
    return this.#ready().delete(normal);
  }
  clear(): void {
    this.#ready().clear();
    this.#originals = undefined;
  }
  copy(): PyDict {
    return PyDict.from(this.entries(), this.ordered);
  }

  #original(normal: HashKey): PyValue {
    const original = this.#originals?.get(normal);
    return original === undefined ? (normal as PyValue) : original;
  }
  /** Keys in order; the caller must not change the dict meanwhile. */
  *keys(): Generator<PyValue> {
    for (const normal of this.#ready().keys()) yield this.#original(normal);
  }
  *entries(): Generator<[PyValue, PyValue]> {
    for (const [normal, value] of this.#ready()) yield [this.#original(normal), value];
  }
  values(): IterableIterator<PyValue> {
    return this.#ready().values();
  }

  override iterate(): Iterator<PyValue> {
    return this.guarded((normal) => this.#original(normal));
  }
  /** Iteration that raises when the dict grows or shrinks, as in Python. */
  guarded(pick: (normal: HashKey, value: PyValue) => PyValue): Iterator<PyValue> {
    const map = this.#ready();
    const { size } = map;
    const source = map.entries();
    return {
      next: () => {
        if (map.size !== size)
          throw new PyError(
            'RuntimeError',
            `${this.ordered ? 'OrderedDict mutated' : 'dictionary changed size'} during iteration`,
          );
        const step = source.next();
        if (step.done) return { done: true, value: undefined };
        return { done: false, value: pick(step.value[0], step.value[1]) };
      },
    };
  }
  guardedItems(): Iterator<PyValue> {
    return this.guarded((normal, value) => new PyTuple([this.#original(normal), value]));
  }
  override contains(key: PyValue): boolean {
    return this.has(key);
  }
  override hashKey(): HashKey {
    throw typeError(`unhashable type: '${this.typeName()}'`);
  }
  override item(key: PyValue): PyValue | undefined {
    return this.get(key);
  }
  override subscriptable(): boolean {
    return true;
  }
}

export type ViewKind = 'keys' | 'values' | 'items';

/** A live view: `dict_keys`, `dict_values`, `dict_items`. */
export class DictView extends PyObject {
  readonly dict: PyDict;
  readonly kind: ViewKind;
  constructor(dict: PyDict, kind: ViewKind) {
    super();
    this.dict = dict;
    this.kind = kind;
  }
  typeName(): string {
    return `${this.dict.ordered ? 'odict' : 'dict'}_${this.kind}`;
  }
  override repr(): string {
    return guardedRepr(this, '...', () => `${this.typeName()}([${this.toArray().map(repr).join(', ')}])`);
  }
  override length(): number {
    return this.dict.size;
  }
  override iterate(): Iterator<PyValue> {
    if (this.kind === 'keys') return this.dict.iterate();
    if (this.kind === 'values') return this.dict.guarded((_normal, value) => value);
    return this.dict.guardedItems();
  }
  toArray(): PyValue[] {
    const source = this.iterate();
    const out: PyValue[] = [];
    for (let step = source.next(); !step.done; step = source.next()) out.push(step.value);
    return out;
  }
  override contains(key: PyValue): boolean | undefined {
    return this.kind === 'keys' ? this.dict.has(key) : undefined;
  }
  override hashKey(): HashKey {
    if (this.kind === 'values') return this;
    throw typeError(`unhashable type: '${this.typeName()}'`);
  }
}
