// JSON values with their Python type as a tag, the form of the recorded fixtures; used only by tests.
import { parseDateTime } from '../msgpack/datetime.ts';
import { dictOf, PyFloat, type Value } from '../value.ts';

export type Tagged = null | boolean | string | Tagged[] | { $: string; v: string | [Tagged, Tagged][] };

const floats: Readonly<Record<string, number>> = { inf: Number.POSITIVE_INFINITY, '-inf': Number.NEGATIVE_INFINITY };

/** The value without its tags. */
export function untag(tagged: Tagged): Value {
  if (Array.isArray(tagged)) return tagged.map(untag);
  if (tagged === null || typeof tagged !== 'object') return tagged;
  if (typeof tagged.v !== 'string') return dictOf(tagged.v.map(([key, item]) => [untag(key), untag(item)] as const));
  switch (tagged.$) {
    case 'int':
      return Number.isSafeInteger(Number(tagged.v)) ? Number(tagged.v) : BigInt(tagged.v);
    case 'float': {
      const value = floats[tagged.v] ?? Number(tagged.v);
      return Number.isInteger(value) ? new PyFloat(value) : value;
    }
    case 'bytes':
      return Buffer.from(tagged.v, 'base64');
    default:
      return parseDateTime(tagged.v) ?? tagged.v;
  }
}
