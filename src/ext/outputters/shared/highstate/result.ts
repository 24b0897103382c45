// One state's result, read from the dict that the minion sent.
import {
  asNumber,
  type Dict,
  dictEntries,
  dictGet,
  dictHas,
  HaliteError,
  isDict,
  isTruthy,
  pyStr,
  type Value,
} from 'halite/sdk';

/** Thrown for data that is not a state result; the caller falls back to another outputter. */
export const unfit = (what: string): HaliteError => new HaliteError('call.arguments', `not a state result: ${what}`);

export interface StateResult {
  /** `module_|-id_|-name_|-function`, split into its parts. */
  readonly parts: readonly string[];
  readonly tag: string;
  readonly info: Dict;
  readonly result: Value;
  readonly changes: Value;
}

/** A key that must be there. */
export function need(info: Dict, key: string): Value {
  const value = dictGet(info, key);
  if (value === undefined) throw unfit(`no ${key}`);
  return value;
}

export function part(parts: readonly string[], index: number): string {
  const found = parts[index];
  if (found === undefined) throw unfit('the tag has too few parts');
  return found;
}

export function readResult(tag: string, info: Dict): StateResult {
  return { tag, info, parts: tag.split('_|-'), result: need(info, 'result'), changes: need(info, 'changes') };
}

/** The results of a host in the order they ran. */
export function inRunOrder(results: readonly [string, Dict][]): [string, Dict][] {
  const order = (info: Dict): number => asNumber(dictGet(info, '__run_num__') ?? 0) ?? 0;
  return [...results].sort(([, a], [, b]) => order(a) - order(b));
}

const float = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i;

/** Milliseconds; old minions send `12.5 ms`. Undefined when it cannot be read. */
export function durationOf(info: Dict): number | undefined {
  const value = dictGet(info, 'duration') ?? (dictHas(info, 'duration') ? null : 0);
  if (typeof value === 'string') {
    if (float.test(value)) return Number(value);
    const before = value.split(' ms')[0]!;
    return float.test(before) ? Number(before) : undefined;
  }
  const number = typeof value === 'boolean' ? Number(value) : asNumber(value);
  if (number === undefined) throw unfit('duration');
  return number;
}

/** Salt's word for a result in terse output. */
export function resultWord(state: StateResult): string {
  if (state.result === false) return 'Failed';
  if (state.result === null) return 'Differs';
  return isTruthy(state.changes) ? 'Changed' : 'Clean';
}

/** The comment with everything the result adds to it. */
export function commentOf(info: Dict, clean: (text: string) => string): string {
  let comment = clean(pyStr(need(info, 'comment')));
  const data = dictGet(info, 'data');
  if (data === undefined) return comment;
  if (Array.isArray(data)) for (const item of data) comment += ` ${pyStr(item)}`;
  else if (isDict(data)) {
    const entries = dictEntries(data);
    for (const [key, value] of entries) comment += `\n\t\t${pyStr(key)}: ${pyStr(value)}`;
  } else comment += ` ${pyStr(data)}`;
  return comment;
}

/** Warnings of a state as texts; undefined when it has none. */
export function warningsOf(info: Dict): string[] | undefined {
  const warnings = dictGet(info, 'warnings');
  if (warnings === undefined) return undefined;
  if (!Array.isArray(warnings)) throw unfit('warnings');
  return warnings.map((warning) => {
    if (typeof warning !== 'string') throw unfit('warnings');
    return warning;
  });
}
