// Grains as a minion sends them: taken as they are within bounds, so that one minion's data can only be its own trouble.
import { type Dict, dictEntries, dictOf, type Value } from '../../base/codec/value.ts';
import { shortened } from '../../base/util/budget.ts';
import { measure } from '../../base/util/measure.ts';

/** Large grains have some kB and five levels; Salt itself knows no bound. */
const allBytes = 4 * 1024 * 1024;
const one = { bytes: 1024 * 1024, depth: 100 };
const most = 10_000;

export interface AcceptedGrains {
  readonly grains: Dict;
  /** Names of those that were left out. */
  readonly dropped: readonly string[];
}

/** Every grain that is small, flat and named enough; those beyond the bounds of the whole are left out from the end. */
export function acceptGrains(given: Dict): AcceptedGrains {
  const entries: [Value, Value][] = [];
  const dropped: string[] = [];
  let left = allBytes;
  for (const [name, value] of dictEntries(given)) {
    const bytes = name !== null && typeof name === 'object' ? undefined : measure([name, value], one);
    if (bytes === undefined || bytes > left || entries.length >= most) dropped.push(nameOf(name));
    else {
      left -= bytes;
      entries.push([name, value]);
    }
  }
  return { grains: dropped.length === 0 ? given : dictOf(entries), dropped };
}

const nameOf = (name: Value): string =>
  name !== null && typeof name === 'object' ? 'one without a name' : shortened(String(name));
