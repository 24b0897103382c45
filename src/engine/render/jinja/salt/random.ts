// Random choices; with a seed they repeat what Python's generator (Mersenne Twister) gives.
import { createHash, randomInt } from 'node:crypto';
import { typeError, valueError } from '../errors.ts';
import { PyDict } from '../runtime/dict.ts';
import { lengthOf, toArray } from '../runtime/iterate.ts';
import { textOf } from '../runtime/markup.ts';
import { PySet } from '../runtime/set.ts';
import type { PyValue } from '../runtime/value.ts';

const size = 624;

class MersenneTwister {
  readonly #state = new Uint32Array(size);
  #index = size;

  /** Seeds as `random.seed(int)` does: from the 32-bit words of the absolute value. */
  constructor(seed: bigint) {
    const words: number[] = [];
    for (let rest = seed < 0n ? -seed : seed; rest > 0n; rest >>= 32n) words.push(Number(rest & 0xffffffffn));
    this.#seedArray(words.length === 0 ? [0] : words);
  }

  #seedWord(seed: number): void {
    const state = this.#state;
    state[0] = seed;
    for (let i = 1; i < size; i += 1) {
      const last = state[i - 1]! ^ (state[i - 1]! >>> 30);
      state[i] = Math.imul(1812433253, last) + i;
    }
  }

  #seedArray(key: readonly number[]): void {
    this.#seedWord(19650218);
    const state = this.#state;
    let i = 1;
    let j = 0;
    for (let k = Math.max(size, key.length); k > 0; k -= 1) {
      state[i] = (state[i]! ^ Math.imul(state[i - 1]! ^ (state[i - 1]! >>> 30), 1664525)) + key[j]! + j;
      i += 1;
      j += 1;
      if (i >= size) {
        state[0] = state[size - 1]!;
        i = 1;
      }
      if (j >= key.length) j = 0;
    }
    for (let k = size - 1; k > 0; k -= 1) {
      state[i] = (state[i]! ^ Math.imul(state[i - 1]! ^ (state[i - 1]! >>> 30), 1566083941)) - i;
      i += 1;
      if (i >= size) {
        state[0] = state[size - 1]!;
        i = 1;
      }
    }
    state[0] = 0x80000000;
  }

  #refill(): void {
    const state = this.#state;
    for (let i = 0; i < size; i += 1) {
      const mixed = (state[i]! & 0x80000000) | (state[(i + 1) % size]! & 0x7fffffff);
      state[i] = state[(i + 397) % size]! ^ (mixed >>> 1) ^ (mixed & 1 ? 0x9908b0df : 0);
    }
    this.#index = 0;
  }

  next(): number {
    if (this.#index >= size) this.#refill();
    let y = this.#state[this.#index]!;
    this.#index += 1;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    y ^= y >>> 18;
    return y >>> 0;
  }

  /** A number below `limit`, by rejection as `randrange` does. */
  below(limit: number): number {
    const bits = 32 - Math.clz32(limit);
    let value = this.next() >>> (32 - bits);
    while (value >= limit) value = this.next() >>> (32 - bits);
    return value;
  }
}

/** Salt hashes the seed with SHA-512 and gives the hex text to Python, which hashes text seeds once more. */
function seedOf(seed: PyValue): bigint {
  const bytes = seed instanceof Uint8Array ? seed : textOf(seed);
  if (bytes === undefined) throw typeError('object supporting the buffer API required');
  const text = Buffer.from(createHash('sha512').update(bytes).digest('hex'), 'latin1');
  return BigInt(`0x${text.toString('hex')}${createHash('sha512').update(text).digest('hex')}`);
}

/** `random.sample(population, count)`. */
export function sampleOf(population: PyValue, count: number, seed: PyValue): PyValue[] {
  const twister = seed === null ? undefined : new MersenneTwister(seedOf(seed));
  if (population instanceof PyDict || population instanceof PySet || lengthOf(population) === undefined) {
    throw typeError('Population must be a sequence.  For dicts or sets, use sorted(d).');
  }
  const pool = toArray(population);
  if (count < 0 || count > pool.length) throw valueError('Sample larger than population or is negative');
  return pick(pool, count, (limit) => (twister === undefined ? randomInt(limit) : twister.below(limit)));
}

function pick(pool: PyValue[], count: number, below: (limit: number) => number): PyValue[] {
  const total = pool.length;
  let small = 21;
  if (count > 5) small += 4 ** Math.ceil(Math.log(count * 3) / Math.log(4));
  const out: PyValue[] = [];
  if (total <= small) {
    for (let at = 0; at < count; at += 1) {
      const j = below(total - at);
      out.push(pool[j]!);
      pool[j] = pool[total - at - 1]!;
    }
    return out;
  }
  const chosen = new Set<number>();
  while (out.length < count) {
    const j = below(total);
    if (chosen.has(j)) continue;
    chosen.add(j);
    out.push(pool[j]!);
  }
  return out;
}
