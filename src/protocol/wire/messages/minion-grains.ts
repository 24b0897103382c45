// Grains sent by a minion: accepted unchanged within limits, so that the data of one minion affects only this minion.
import { type Dict, dictEntries, dictOf, type Value } from '../../../base/codec/value.ts';
import { shortened } from '../../../base/util/budget.ts';
import { measure } from '../../../base/util/measure.ts';

/** Large grains have some kB and five levels; Salt itself has no limit. */
const allBytes = 4 * 1024 * 1024;
const one = { bytes: 1024 * 1024, depth: 100 };
const most = 10_000;

export interface AcceptedGrains {
  readonly grains: Dict;
  /** Names of the dropped ones. */
  readonly dropped: readonly string[];
}

/** Every grain within the limits; when the total is exceeded, the last ones are dropped. */
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
