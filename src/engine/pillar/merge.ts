// Merging of pillar sources with the configured strategy.
import { asText, type Dict, dictEntries, dictOf, isDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { type MergeStrategy, mergeDicts, mergeRecurse, mergeStrategies } from '../../base/util/index.ts';
import { aggregate } from '../../extend/sdk/aggregation.ts';

export type Merge = (base: Value, over: Value) => Dict;

/** The merge function for the options. */
export function mergerOf(opts: Readonly<Record<string, Value>>, warn: (text: string) => void): Merge {
  const renderer = asText(opts['renderer']) ?? 'yaml';
  const mergeLists = opts['pillar_merge_lists'] === true;
  const asked = String(opts['pillar_source_merging_strategy'] || 'smart');
  const isYamlex = renderer.split('|').at(-1) === 'yamlex' || renderer.startsWith('yamlex_');
  const strategy = asked === 'smart' ? (isYamlex ? 'aggregate' : 'recurse') : asked;
  if (strategy === 'aggregate') return checked((base, over) => aggregate(base, over, 1) as Dict);
  if ((mergeStrategies as readonly string[]).includes(strategy)) {
    return checked((base, over) =>
      mergeDicts(base, over, { strategy: strategy as MergeStrategy, renderer, mergeLists }),
    );
  }
  warn(`Unknown merging strategy '${strategy}', fallback to recurse`);
  return checked((base, over) => mergeRecurse(base, over));
}

function checked(merge: (base: Dict, over: Dict) => Dict): Merge {
  return (base, over) => {
    if (isDict(base) && isDict(over)) return merge(base, over);
    throw new HaliteError('render.failed', 'Cannot update using non-dict types in dictupdate.update()');
  };
}

/** A copy without one key. */
export function without(dict: Dict, name: string): Dict {
  return dictOf(dictEntries(dict).filter(([key]) => key !== name));
}
