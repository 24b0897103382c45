// External pillar `extra_minion_data_in_pillar`: data that minions send with a pillar request (`pass_to_ext_pillars`).
import {
  type Dict,
  definePillar,
  dictEntries,
  dictGet,
  dictOf,
  isDict,
  newDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';

/** The part of the data at a path `a:b`, under the same keys. */
function part(data: Dict, path: readonly string[]): Dict | undefined {
  const [key = '', ...rest] = path;
  const value = dictGet(data, key);
  if (value === undefined) return undefined;
  if (rest.length === 0) return dictOf([[key, value]]);
  const below = isDict(value) ? part(value, rest) : undefined;
  return below && dictOf([[key, below]]);
}

export default definePillar({
  name: 'extra_minion_data_in_pillar',
  doc: 'Adds data that the minion sent to the pillar: everything (*), or the keys listed in include (a:b for nested ones).',
  params: { include: p.oneOf(['string', 'list'], { doc: '"*", "<all>" or a list of keys' }) },
  compile({ include }, ctx): Dict {
    if (include === '*' || include === '<all>') return ctx.extraMinionData;
    const entries: [Value, Value][] = [];
    for (const key of Array.isArray(include) ? include : [include]) {
      const found = part(ctx.extraMinionData, pyStr(key).split(':'));
      if (found) entries.push(...dictEntries(found));
    }
    return entries.length === 0 ? newDict() : dictOf(entries);
  },
});
