// Merges dicts with Salt's strategies; the inputs are never changed, unchanged parts are shared.
import { type Dict, dictEntries, dictOf, isDict, type Value } from '../codec/value.ts';
import { pyDictGet, pyEquals } from './py-equals.ts';

export const mergeStrategies = ['smart', 'recurse', 'aggregate', 'overwrite', 'list', 'none'] as const;
export type MergeStrategy = (typeof mergeStrategies)[number];

export interface MergeOptions {
  readonly strategy?: MergeStrategy;
  /** Determines the strategy for `smart`: aggregate for yamlex, recurse for every other renderer. */
  readonly renderer?: string;
  /** Appends list items that are missing instead of replacing the list. */
  readonly mergeLists?: boolean;
}

/** `over` merged into `base`. */
export function mergeDicts(base: Dict, over: Dict, options: MergeOptions = {}): Dict {
  const { strategy = 'smart', renderer = 'yaml', mergeLists = false } = options;
  switch (strategy) {
    case 'list':
      return mergeAsLists(base, over);
    case 'aggregate':
    case 'overwrite':
      // As in Salt: without yamlex marks, aggregation affects only the top level, so both give a shallow update.
      return shallowUpdate(base, over);
    case 'smart':
      return renderer.split('|').at(-1) === 'yamlex' || renderer.startsWith('yamlex_')
        ? shallowUpdate(base, over)
        : mergeRecurse(base, over, mergeLists);
    case 'none':
      return mergeRecurse(base, over, false);
    default:
      return mergeRecurse(base, over, mergeLists);
  }
}

/** Dicts merge level by level, everything else is replaced. */
export function mergeRecurse(base: Dict, over: Dict, mergeLists = false): Dict {
  return combine(base, over, (old, now) => {
    if (isDict(old) && isDict(now)) return mergeRecurse(old, now, mergeLists);
    if (mergeLists && Array.isArray(old) && Array.isArray(now)) {
      return [...old, ...now.filter((item) => !old.some((known) => pyEquals(known, item)))];
    }
    return now;
  });
}

function shallowUpdate(base: Dict, over: Dict): Dict {
  return combine(base, over, (_, now) => now);
}

/** Salt: keys in both become a list of both values; keys only in `over` are dropped. */
function mergeAsLists(base: Dict, over: Dict): Dict {
  return dictOf(
    dictEntries(base).map(([key, value]): [Value, Value] => {
      const other = pyDictGet(over, key);
      return [key, other === undefined ? value : [value, other]];
    }),
  );
}

function combine(base: Dict, over: Dict, both: (old: Value, now: Value) => Value): Dict {
  const merged = new Map<Value, Value>(dictEntries(base));
  for (const [key, now] of dictEntries(over)) {
    const old = merged.get(key);
    merged.set(key, old === undefined ? now : both(old, now));
  }
  return dictOf([...merged]);
}
