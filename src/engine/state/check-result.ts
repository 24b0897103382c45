// Evaluates a whole run: failed unless every state succeeded, or its failure was expected and handled.
import { type Dict, dictEntries, dictGet, fieldOf, isDict, type Value } from '../../base/codec/value.ts';
import { type High, isBody } from './data.ts';
import { splitTag } from './tags.ts';

/** Whether a run is a success. `high` is what was run: it determines which failures are handled by an `onfail`. */
export function checkResult(running: Value, high?: High, recurse = false): boolean {
  if (!isDict(running)) return false;
  const entries = dictEntries(running);
  if (entries.length === 0) return false;
  for (const [tag, result] of entries) {
    if (succeeded(tag, result, high, recurse)) continue;
    if (!isHandled(String(tag), result, running, high)) return false;
  }
  return true;
}

function succeeded(tag: Value, result: Value, high: High | undefined, recurse: boolean): boolean {
  const expected = tag === '__extend__' ? Array.isArray(result) : isDict(result);
  if (!recurse && !expected) return false;
  if (!isDict(result)) return true;
  const verdict = dictGet(result, 'result');
  return verdict === undefined ? checkResult(result, high, true) : verdict !== false;
}

/** A failure counts as handled when a state has `onfail` on it with `onfail_stop: False`, and succeeded. */
function isHandled(tag: string, result: Value, running: Dict, high: High | undefined): boolean {
  if (!high || !isDict(result)) return false;
  const parts = splitTag(tag);
  const id = parts?.id ?? tag;
  let handled: boolean | undefined;
  for (const handler of handlersOf(id, parts?.state, high)) {
    for (const [otherTag, other] of dictEntries(running)) {
      const otherParts = splitTag(String(otherTag));
      if (!otherParts || otherParts.state !== handler.state || otherParts.id !== handler.id) continue;
      const verdict = fieldOf(other, 'result');
      if (typeof verdict === 'boolean') handled = verdict;
      if (verdict === false) break;
    }
    handled ??= false;
  }
  return handled === true;
}

interface Handler {
  readonly id: string;
  readonly state: string;
}

function handlersOf(id: string, state: string | undefined, high: High): Handler[] {
  const found: Handler[] = [];
  for (const [other, body] of high) {
    if (other === id || !isBody(body)) continue;
    for (const [key, args] of body) {
      if (typeof key !== 'string' || key.startsWith('__') || !Array.isArray(args)) continue;
      const dicts = args.filter(isDict);
      if (!dicts.some((arg) => dictGet(arg, 'onfail_stop') === false)) continue;
      const lists = dicts.map((arg) => dictGet(arg, 'onfail')).filter((list) => Array.isArray(list));
      const means = (entry: Value): boolean =>
        isDict(entry) && dictEntries(entry).some(([on, name]) => name === id && (state === undefined || on === state));
      if (lists.some((list) => list.some(means))) found.push({ id: String(other), state: key });
    }
  }
  return found;
}
