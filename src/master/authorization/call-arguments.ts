// The arguments of a call as minions bind them, for the rules that limit them.
import { type Dict, dictEntries, dictGet, dictOf, isDict, type Value } from '../../base/codec/value.ts';
import { parseInput } from '../../base/codec/yaml/index.ts';

/**
 * As minions bind them: maps marked as keywords and texts of the form `name=value` are named, the last of a name
 * applies.
 */
export function argumentsOf(list: readonly Value[]): { args: Value[]; kwargs: Dict } {
  const args: Value[] = [];
  const named: [Value, Value][] = [];
  for (const item of list) {
    if (isDict(item) && dictGet(item, '__kwarg__') === true) named.push(...dictEntries(item));
    else {
      const keyword = typeof item === 'string' ? dictEntries(parseInput([item], { condition: false }).kwargs) : [];
      if (keyword.length > 0) named.push(...keyword);
      else args.push(item);
    }
  }
  return { args, kwargs: dictOf(named) };
}
