// Python's random generator: the same seed must give the same choices, otherwise schedules and shuffles would change.
import { createHash } from 'node:crypto';

const size = 624;
const half = 397;

/** A seed as the 32-bit words Python feeds its generator with. */
function seedWords(seed: number | bigint | string): number[] {
  let value: bigint;
  if (typeof seed === 'string') {
    const text = Buffer.from(seed, 'utf8');
    const bytes = Buffer.concat([text, createHash('sha512').update(text).digest()]);
    value = BigInt(`0x${bytes.toString('hex')}`);
  } else value = BigInt(seed) < 0n ? -BigInt(seed) : BigInt(seed);
  const found: number[] = [];
  for (; value > 0n; value >>= 32n) found.push(Number(value & 0xffffffffn));
  return found.length > 0 ? found : [0];
}

/** MT19937, seeded as `random.Random(seed)`. */
export class PyRandom {
  readonly #state = new Uint32Array(size);
  #index = size;

  constructor(seed: number | bigint | string) {
    this.#initialize(19650218);
    const key = seedWords(seed);
    const state = this.#state;
    let i = 1;
    let j = 0;
    const mixed = (factor: number): number => {
      const before = state[i - 1] as number;
      return (state[i] as number) ^ Math.imul(before ^ (before >>> 30), factor);
    };
    const step = (): void => {
      if (++i < size) return;
      state[0] = state[size - 1] as number;
      i = 1;
    };
    for (let count = Math.max(size, key.length); count > 0; count--) {
      state[i] = mixed(1664525) + (key[j] as number) + j;
      step();
      j = (j + 1) % key.length;
    }
    for (let count = size - 1; count > 0; count--) {
      state[i] = mixed(1566083941) - i;
      step();
    }
    state[0] = 0x80000000;
  }

  #initialize(seed: number): void {
    const state = this.#state;
    state[0] = seed;
    for (let i = 1; i < size; i++) {
      const before = state[i - 1] as number;
      state[i] = Math.imul(1812433253, before ^ (before >>> 30)) + i;
    }
  }

  #next32(): number {
    const state = this.#state;
    if (this.#index >= size) {
      for (let i = 0; i < size; i++) {
        const y = ((state[i] as number) & 0x80000000) | ((state[(i + 1) % size] as number) & 0x7fffffff);
        state[i] = (state[(i + half) % size] as number) ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
      }
      this.#index = 0;
    }
    let y = state[this.#index++] as number;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  #bits(count: number): bigint {
    let value = 0n;
    for (let at = 0; at < count; at += 32) {
      const left = count - at;
      const word = left < 32 ? this.#next32() >>> (32 - left) : this.#next32();
      value |= BigInt(word) << BigInt(at);
    }
    return value;
  }

  /** A number from 0 up to, but not including, `limit`. */
  below(limit: number): number {
    if (limit <= 0) return 0;
    const count = limit.toString(2).length;
    let value = this.#bits(count);
    while (value >= BigInt(limit)) value = this.#bits(count);
    return Number(value);
  }

  /** `k` different indices of a list, in random order. */
  sample<T>(list: readonly T[], k: number): T[] {
    const n = list.length;
    const result: T[] = [];
    const setSize = 21 + (k > 5 ? 4 ** Math.ceil(Math.log(k * 3) / Math.log(4)) : 0);
    if (n <= setSize) {
      const pool = [...list];
      for (let i = 0; i < k; i++) {
        const j = this.below(n - i);
        result.push(pool[j] as T);
        pool[j] = pool[n - i - 1] as T;
      }
      return result;
    }
    const chosen = new Set<number>();
    for (let i = 0; i < k; i++) {
      let j = this.below(n);
      while (chosen.has(j)) j = this.below(n);
      chosen.add(j);
      result.push(list[j] as T);
    }
    return result;
  }
}
