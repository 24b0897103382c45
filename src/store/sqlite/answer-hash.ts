// Equal answers of different minions have the same hash; what else a result says (its minion, its times) does not count.
import { createHash } from 'node:crypto';
import { dumpJson, parseDict } from '../../base/codec/json/index.ts';
import { type Dict, dictEntries, dictGet, dictOf, isDict, type Value } from '../../base/codec/value.ts';

/** What states report differs from run to run in these only. */
const changing = new Set<Value>(['duration', 'start_time', 'jid', '__run_num__']);

export function answerHash(written: string): string {
  const answer = dictGet(parseDict(written), 'return') ?? null;
  return createHash('sha256')
    .update(dumpJson(isDict(answer) ? lasting(answer) : answer, { ensureAscii: false }))
    .digest('base64url')
    .slice(0, 11);
}

/** The results of states without their times. */
function lasting(answer: Dict): Dict {
  return dictOf(
    dictEntries(answer).map(([key, item]) => [
      key,
      isDict(item) && dictGet(item, '__run_num__') !== undefined
        ? dictOf(dictEntries(item).filter(([name]) => !changing.has(name)))
        : item,
    ]),
  );
}
