// Values out of bytes that decide every choice, and equality of values without surprises.
import { type Dict, dictEntries, dictOf, isDict, PyFloat, type Value } from '../../../src/base/codec/value.ts';

/** The bytes as decisions; when they are used up, the first of every choice is taken. */
export class Choices {
  readonly #bytes: Uint8Array;
  #at = 0;
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }
  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }
  byte(): number {
    return this.#bytes[this.#at++] ?? 0;
  }
  below(limit: number): number {
    return this.byte() % limit;
  }
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
  bytes(length: number): Uint8Array {
    const taken = this.#bytes.slice(this.#at, this.#at + length);
    this.#at += length;
    return taken;
  }
  text(longest = 12): string {
    return Buffer.from(this.bytes(this.below(longest + 1))).toString('utf8');
  }
  rest(): Uint8Array {
    const taken = this.#bytes.slice(this.#at);
    this.#at = this.#bytes.length;
    return taken;
  }
}

const odd: readonly Value[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  new PyFloat(1),
  new PyFloat(-0),
  Number.NaN,
  Number.POSITIVE_INFINITY,
  2 ** 53,
  10n ** 30n,
  '',
  ' ',
  'a\nb',
  'None',
  '10',
  '__proto__',
  'constructor',
  '\u001b[31m',
  '\u2028',
  '\ud800',
  '😀',
  Buffer.from('bytes'),
  Buffer.from([0xff, 0xfe]),
  new Date(0),
  new Date(1.7e12),
  [],
];

/** Any value a peer may send; names of dicts are `keys` or any text. */
export function anyValue(choices: Choices, keys: readonly string[], depth = 4): Value {
  const kind = choices.below(8);
  if (choices.done || kind < 3) return choices.pick(odd);
  if (kind === 3) return choices.text();
  if (kind === 4) return choices.byte() - 128;
  if (depth <= 0) return choices.pick(keys);
  if (kind === 5) return Array.from({ length: choices.below(5) }, () => anyValue(choices, keys, depth - 1));
  return anyDict(choices, keys, depth);
}

export function anyDict(choices: Choices, keys: readonly string[], depth = 4): Dict {
  const size = choices.below(10);
  const entries: [Value, Value][] = [];
  for (let at = 0; at < size && !choices.done; at++) {
    const kind = choices.below(12);
    const key = kind < 9 ? choices.pick(keys) : kind < 11 ? choices.text() : choices.pick(odd);
    entries.push([Array.isArray(key) ? null : key, anyValue(choices, keys, depth - 1)]);
  }
  return dictOf(entries);
}

/** The same kind and content everywhere; order of dicts counts, -0 is 0, NaN is NaN. */
export function sameValue(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a instanceof PyFloat || b instanceof PyFloat || typeof a === 'number')
    return isFloatOf(a, b) || (Number.isNaN(a) && Number.isNaN(b));
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof Date) return b instanceof Date && a.getTime() === b.getTime();
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, at) => sameValue(item, b[at] as Value));
  }
  if (!isDict(a) || !isDict(b)) return false;
  const [left, right] = [dictEntries(a), dictEntries(b)];
  if (left.length !== right.length) return false;
  return left.every(([key, value], at) => sameValue(key, right[at]![0]) && sameValue(value, right[at]![1]));
}

const isFloatOf = (a: Value, b: Value): boolean =>
  a instanceof PyFloat && b instanceof PyFloat && (a.value === b.value || Object.is(a.value, b.value));
