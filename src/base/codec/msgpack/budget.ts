// What one message may make of the memory: estimated in bytes of heap, because an empty map of one byte takes hundreds.
import { HaliteError } from '../../errors/index.ts';

/** Estimates for V8, rounded up. Text and bytes cost their length besides. */
export const cost = {
  array: 32,
  item: 8,
  map: 320,
  entry: 96,
  text: 48,
  bytes: 160,
  /** Numbers that need an object of their own. */
  boxed: 40,
} as const;

/** One for a whole message, also for what is packed again inside it. */
export class Budget {
  /** Array items and map entries that may still come. */
  #items: number;
  #heap: number;

  constructor(maxItems: number, maxCost: number) {
    this.#items = maxItems;
    this.#heap = maxCost;
  }

  /** Before anything is made for them. */
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
