// What a target may read of the mine data of others.
import { type Dict, dictEntries, dictGet, dictOf, isDict, isTexts, newDict, type Value } from '../base/codec/value.ts';
import { matches, parseTarget } from '../protocol/target/index.ts';
import type { MineQuery } from '../protocol/wire/messages/minion-loads.ts';

const dataMark = '__data__';
const aclMark = '__saltmine_acl__';

/** The value, or undefined when its owner does not allow this reader. */
function readable(entry: Value, reader: string): Value | undefined {
  if (!isDict(entry) || dictGet(entry, aclMark) === undefined) return entry;
  const allowed = dictGet(entry, 'allow_tgt');
  const kind = dictGet(entry, 'allow_tgt_type') ?? 'glob';
  if (typeof allowed !== 'string' && !isTexts(allowed)) return undefined;
  try {
    if (matches(parseTarget(allowed, String(kind)), { id: reader }) !== 'match') return undefined;
  } catch {
    return undefined;
  }
  return dictGet(entry, dataMark) ?? null;
}

/** One function gives a map by id, several a map of such maps. */
export function mineAnswer(query: MineQuery, reader: string, byId: ReadonlyMap<string, Dict>): Value {
  const of = (fun: string): Dict =>
    dictOf(
      [...byId].flatMap(([id, data]): [Value, Value][] => {
        const found = dictEntries(data).find(([name]) => name === fun);
        const value = found && readable(found[1], reader);
        return value === undefined ? [] : [[id, value]];
      }),
    );
  if (query.single) return of(query.fun[0] ?? '');
  return newDict(query.fun.map((fun) => [fun, of(fun)]));
}
