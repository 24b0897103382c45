// Properties and names of ZFS, in the forms that users write.
import { dictEntries, isDict, newDict, type PlainDict, pyStr, type Value } from 'halite/sdk';

/** Properties whose values are sizes; `5G` and 5368709120 are the same there. */
const sizes =
  /^(?:(?:ref)?(?:quota|reservation)|volsize|recordsize|volblocksize|special_small_blocks|(?:logical)?(?:used|referenced)|available|avail|refer|written|usedby\w+|(?:user|group)(?:quota|used)@.+)$/;
const units = 'KMGTPEZ';

/** A value in Salt's form: true, null, bytes. */
export function fromProperty(name: string, value: Value): Value {
  if (typeof value !== 'string') return value;
  if (value === 'none') return null;
  if (value === 'on' || value === 'yes') return true;
  if (value === 'off' || value === 'no') return false;
  if (!sizes.test(name)) return /^(copies|version)$/.test(name) && /^\d+$/.test(value) ? Number(value) : value;
  const match = /^(\d+(?:\.\d+)?)([KMGTPEZ])B?$/i.exec(value);
  if (match) return Number(match[1]) * 1024 ** (units.indexOf((match[2] ?? 'K').toUpperCase()) + 1);
  return /^\d+$/.test(value) ? Number(value) : value;
}

export const fromProperties = (values: Value): PlainDict =>
  newDict(
    isDict(values) ? dictEntries(values).map(([key, value]) => [pyStr(key), fromProperty(pyStr(key), value)]) : [],
  );

export const isSnapshot = (name: string): boolean => name.split('@').length === 2;
export const isBookmark = (name: string): boolean => name.split('#').length === 2;
