// The verdicts of a job as one character per minion.
import { unpacked } from '../../base/codec/msgpack/index.ts';
import { dictEntries, dictGet, dictSize, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { Verdict, VerdictKind } from '../../protocol/job/verdict.ts';

const letters: Readonly<Record<VerdictKind, string>> = {
  waiting: 'w',
  running: 'r',
  queued: 'q',
  returned: 'o',
  failed: 'f',
  missing: 'm',
  deadline: 'd',
  expired: 'x',
};

export const letterOf = (verdict: Verdict | undefined): string => letters[verdict?.kind ?? 'waiting'];

/** The letter of a stored verdict without a result. */
export const storedLetter = (kind: string): string =>
  Object.hasOwn(letters, kind) ? letters[kind as VerdictKind] : 'm';

export const isStates = (fun: string): boolean => fun.startsWith('state.');

/** Whether states changed something. */
export function hasChanges(ret: Value): boolean {
  const answer = unpacked(ret);
  if (!isDict(answer)) return false;
  return dictEntries(answer).some(([, state]) => {
    const changes = isDict(state) ? dictGet(state, 'changes') : undefined;
    return isDict(changes) && dictSize(changes) > 0;
  });
}

/** How many minions have each letter; only those that occur. */
export function balanceOfLetters(verdicts: string | readonly string[]): PlainDict {
  const counts = newDict();
  for (const letter of verdicts) counts[letter] = Number(counts[letter] ?? 0) + 1;
  return counts;
}
