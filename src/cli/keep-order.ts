// The order of keys for results that come from files: Salt prints those in file order, and sorts all others.
import { JsonText } from '../base/codec/json/index.ts';
import { dictEntries, isDict, type Value } from '../base/codec/value.ts';
import { markOrdered } from '../base/codec/yaml/collections.ts';

/** Marks the maps within a value, so that outputters keep the order of their keys; its own keys are still sorted. */
export function keepOrder(value: Value | JsonText): void {
  if (value instanceof JsonText || value === null || typeof value !== 'object') return;
  const parts = Array.isArray(value) ? value : isDict(value) ? dictEntries(value).map(([, part]) => part) : [];
  for (const part of parts) {
    if (isDict(part)) markOrdered(part);
    keepOrder(part);
  }
}
