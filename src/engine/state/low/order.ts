// Sorts low chunks into the order in which they run: by `order`, then by state, name and function.

import { compareText } from '../../../base/codec/json/compare-text.ts';
import { pyStr } from '../../../base/codec/python/index.ts';
import { asNumber, PyFloat, pyFloat, type Value } from '../../../base/codec/value.ts';
import type { Chunk } from '../data.ts';

/** As in Salt: `last` is this much after the highest given number. */
const lastOffset = 1_000_000;

/** Assigns every chunk a number and sorts the list in place. */
export function orderChunks(chunks: Chunk[]): Chunk[] {
  const cap = capOf(chunks);
  for (const chunk of chunks) setOrder(chunk, cap);
  const keyed = chunks.map((chunk) => ({
    chunk,
    order: orderNumber(chunk['order']!) ?? cap,
    text: `${pyStr(chunk['state'])}${pyStr(chunk['name'])}${pyStr(chunk['fun'])}`,
  }));
  keyed.sort((a, b) => a.order - b.order || compareText(a.text, b.text));
  keyed.forEach((item, at) => {
    chunks[at] = item.chunk;
  });
  return chunks;
}

/** Unnumbered states come after all given whole numbers. */
function capOf(chunks: readonly Chunk[]): number {
  let cap = 1;
  for (const { order } of chunks) {
    const whole = typeof order === 'boolean' ? Number(order) : order;
    if (typeof whole === 'number' && Number.isInteger(whole) && whole > cap - 1 && whole > 0) cap = whole + 100;
  }
  return cap;
}

function setOrder(chunk: Chunk, cap: number): void {
  if (!('order' in chunk)) {
    chunk['order'] = cap;
    return;
  }
  const given = chunk['order']!;
  if (orderNumber(given) === undefined) {
    chunk['order'] = given === 'last' ? cap + lastOffset : given === 'first' ? 0 : cap;
  }
  if ('name_order' in chunk) {
    chunk['order'] = pyFloat(orderNumber(chunk['order']!)! + orderNumber(chunk['name_order']!)! / 10_000);
    delete chunk['name_order'];
  }
  const order = orderNumber(chunk['order']!)!;
  if (order >= 0) return;
  const behind = cap + lastOffset + order;
  chunk['order'] = chunk['order'] instanceof PyFloat ? pyFloat(behind) : behind;
}

/** True and false are numbers in Python; whole numbers beyond the safe ones are no order. */
function orderNumber(value: Value): number | undefined {
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'bigint' ? undefined : asNumber(value);
}
