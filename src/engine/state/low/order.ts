// Sorts low chunks into the order in which they run: by `order`, then by state, name and function.
import { compareText } from '../../../base/codec/json/compare-text.ts';
import { PyFloat, type Value } from '../../../base/codec/value.ts';
import { type Chunk, pyFloat, textOf } from '../data.ts';

/** As in Salt: `last` is this much after the highest given number. */
const lastOffset = 1_000_000;

/** Assigns every chunk a number and sorts the list in place. */
export function orderChunks(chunks: Chunk[]): Chunk[] {
  const cap = capOf(chunks);
  for (const chunk of chunks) setOrder(chunk, cap);
  const keyed = chunks.map((chunk) => ({
    chunk,
    order: numberOf(chunk['order']!) ?? cap,
    text: `${textOf(chunk['state'])}${textOf(chunk['name'])}${textOf(chunk['fun'])}`,
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
  if (numberOf(given) === undefined) {
    chunk['order'] = given === 'last' ? cap + lastOffset : given === 'first' ? 0 : cap;
  }
  if ('name_order' in chunk) {
    chunk['order'] = pyFloat(numberOf(chunk['order']!)! + numberOf(chunk['name_order']!)! / 10_000);
    delete chunk['name_order'];
  }
  const order = numberOf(chunk['order']!)!;
  if (order >= 0) return;
  const behind = cap + lastOffset + order;
  chunk['order'] = chunk['order'] instanceof PyFloat ? pyFloat(behind) : behind;
}

function numberOf(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  return value instanceof PyFloat ? value.value : undefined;
}
