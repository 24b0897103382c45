// sorted(): stable, by `<` only, asking in CPython's order so that type errors read the same.
import { less } from './compare.ts';
import type { PyValue } from './value.ts';

interface Keyed {
  readonly key: PyValue;
  readonly value: PyValue;
}

/** `sorted(items, key=…, reverse=…)`. */
export function sorted(items: readonly PyValue[], key?: (value: PyValue) => PyValue, reverse = false): PyValue[] {
  const keyed: Keyed[] = items.map((value) => ({ key: key === undefined ? value : key(value), value }));
  // Python reverses before and after, which keeps equal items in their first order.
  if (reverse) keyed.reverse();
  const done = keyed.length < 64 ? insertionSort(keyed) : mergeSort(keyed);
  if (reverse) done.reverse();
  return done.map((item) => item.value);
}

/** The starting run: ascending, or strictly descending and then turned round. */
function startingRun(items: Keyed[]): number {
  if (items.length < 2) return items.length;
  let end = 2;
  if (less(items[1]!.key, items[0]!.key)) {
    while (end < items.length && less(items[end]!.key, items[end - 1]!.key)) end += 1;
    items.splice(0, end, ...items.slice(0, end).reverse());
  } else {
    while (end < items.length && !less(items[end]!.key, items[end - 1]!.key)) end += 1;
  }
  return end;
}

function insertionSort(items: Keyed[]): Keyed[] {
  for (let at = startingRun(items); at < items.length; at += 1) {
    const pivot = items[at]!;
    let low = 0;
    let high = at;
    while (low < high) {
      const middle = low + ((high - low) >> 1);
      if (less(pivot.key, items[middle]!.key)) high = middle;
      else low = middle + 1;
    }
    items.copyWithin(low + 1, low, at);
    items[low] = pivot;
  }
  return items;
}

function mergeSort(items: Keyed[]): Keyed[] {
  if (items.length < 64) return insertionSort(items);
  const middle = items.length >> 1;
  const left = mergeSort(items.slice(0, middle));
  const right = mergeSort(items.slice(middle));
  const out: Keyed[] = [];
  let i = 0;
  let j = 0;
  while (i < left.length && j < right.length) {
    if (less(right[j]!.key, left[i]!.key)) {
      out.push(right[j]!);
      j += 1;
    } else {
      out.push(left[i]!);
      i += 1;
    }
  }
  while (i < left.length) out.push(left[i++]!);
  while (j < right.length) out.push(right[j++]!);
  return out;
}
