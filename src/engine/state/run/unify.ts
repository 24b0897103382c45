// Converts the return value of a state function to the form of a state result.
import { isTruthy, pyStr } from '../../../base/codec/python/index.ts';
import { dictGet, isDict, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';

/** A result with all four keys, a comment as one text, and true, false or None. */
export function unifyResult(value: Value): PlainDict {
  const result = checked(value);
  const { comment } = result;
  if (Array.isArray(comment)) result['comment'] = comment.map(pyStr).join('\n');
  const verdict = result['result'] ?? null;
  result['result'] = verdict === null ? null : isTruthy(verdict);
  return result;
}

function checked(value: Value): PlainDict {
  const problem = problemWith(value);
  if (problem === undefined) return value as PlainDict;
  return newDict([
    ['result', false],
    ['name', 'later'],
    ['changes', newDict()],
    ['comment', `An exception occurred in this state: ${problem}`],
  ]);
}

function problemWith(value: Value): string | undefined {
  if (!isDict(value)) return 'Malformed state return. Data must be a dictionary type.';
  const changes = dictGet(value, 'changes');
  if (changes === undefined || !isDict(changes)) return "'Changes' should be a dictionary.";
  const missing = ['name', 'result', 'changes', 'comment'].filter((key) => dictGet(value, key) === undefined);
  if (missing.length === 0) return undefined;
  return `The following keys were not present in the state return: ${missing.join(', ')}.`;
}
