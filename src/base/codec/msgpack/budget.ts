// Bounds the memory that decoding one message may use: estimated in bytes of heap, because an empty map of one byte
// takes hundreds.
import { HaliteError } from '../../errors/index.ts';

/** Estimates for V8, rounded up. Text and bytes additionally cost their length. */
export const cost = {
  array: 32,
  item: 8,
  map: 320,
  entry: 96,
  text: 48,
  bytes: 160,
  /** Numbers that V8 stores as separate heap objects. */
  boxed: 40,
} as const;

/** One budget for a whole message, including msgpack values nested inside byte strings of it. */
export class Budget {
  /** Array items and map entries that are still allowed. */
  #items: number;
  #heap: number;

  constructor(maxItems: number, maxCost: number) {
    this.#items = maxItems;
    this.#heap = maxCost;
  }

  /** Called before anything is allocated for them. */
  container(count: number, heap: number): void {
    this.#items -= count;
    if (this.#items < 0) throw tooMuch('has too many items');
    this.charge(heap);
  }

  charge(heap: number): void {
    this.#heap -= heap;
    if (this.#heap < 0) throw tooMuch('would take too much memory');
  }
}

export function tooMuch(what: string): HaliteError {
  return new HaliteError('codec.limit', `A message ${what}`);
}

export function malformed(what: string, at: number): HaliteError {
  return new HaliteError('codec.malformed', `Not valid msgpack: ${what} at byte ${at}`);
}
