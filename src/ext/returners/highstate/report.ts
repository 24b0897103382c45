// The report about a run of states: numbers, the job, every state, as nested lists of names and values.

import {
  asNumber,
  type Dict,
  dictEntries,
  dictGet,
  dictSize,
  isDict,
  newDict,
  type PlainDict,
  PyFloat,
  pyStr,
  type Value,
} from 'halite/sdk';
import { compareText } from 'halite/sdk/codec';

export interface Report {
  readonly rows: Value[];
  readonly failed: number;
  readonly changed: number;
}

const row = (name: string, value: Value, style?: string): PlainDict =>
  newDict([[name, value], ...(style === undefined ? [] : [['__style__', style] as const])]);

const isTrue = (value: Value | undefined): boolean =>
  !(value === null || value === false || value === '' || value === 0 || (isDict(value) && dictSize(value) === 0));

/** Nested dicts as lists of one name and value each, in order of names. */
export function nameValues(value: Value): Value {
  if (!isDict(value)) return value;
  const sorted = dictEntries(value).sort(([a], [b]) => compareText(pyStr(a), pyStr(b)));
  return sorted.map(([name, item]) => row(pyStr(name), nameValues(item)));
}

const seconds = (value: Value | undefined): number =>
  typeof value === 'string' ? Number.parseFloat(value) || 0 : (asNumber(value) ?? 0);

type State = readonly [uid: string, data: Dict];

function statesIn(returned: Dict): State[] {
  const found: State[] = [];
  for (const [uid, data] of dictEntries(returned)) if (isDict(data)) found.push([pyStr(uid), data]);
  return found.sort(
    ([, a], [, b]) => (asNumber(dictGet(a, '__run_num__')) ?? 0) - (asNumber(dictGet(b, '__run_num__')) ?? 0),
  );
}

function stateRow([uid, data]: State): Value {
  const [module = '', id = uid, name = '', fun = ''] = uid.split('_|-');
  const result = dictGet(data, 'result') ?? null;
  const changes = dictGet(data, 'changes') ?? null;
  const changed = isTrue(result) && isDict(changes) && dictSize(changes) > 0;
  const started = dictGet(data, 'start_time');
  const rows: Value[] = [
    row('function', `${module}.${fun}`),
    row('name', name),
    row('result', result),
    row('duration', dictGet(data, 'duration') ?? new PyFloat(0)),
    row('comment', dictGet(data, 'comment') ?? ''),
    ...(changed ? [row('changes', nameValues(changes))] : []),
    ...(isTrue(started ?? null) ? [row('started', started!)] : []),
  ];
  return row(id, rows, isTrue(result) ? (changed ? 'changed' : 'unchanged') : 'failed');
}

/** The state results of a return; undefined when it has none. */
export function reportOf(ret: PlainDict): Report | undefined {
  const returned = ret['return'];
  // States that could not even be compiled answer with a list of reasons.
  const broken = Array.isArray(returned) && returned.length > 0 && pyStr(ret['fun']).startsWith('state.');
  const about = isDict(returned) && dictEntries(returned).every(([uid]) => pyStr(uid).includes('_|-'));
  if (!about && !broken) return undefined;
  const states = isDict(returned) ? statesIn(returned) : [];
  const failed = states.filter(([, data]) => !isTrue(dictGet(data, 'result') ?? null)).length + (broken ? 1 : 0);
  const changed = states.filter(([, data]) => isTrue(dictGet(data, 'changes') ?? null)).length;
  const total = states.length + (broken ? 1 : 0);
  const duration = states.reduce((sum, [, data]) => sum + seconds(dictGet(data, 'duration')), 0);
  const rows: Value[] = [
    row('stats', [
      row('total', total),
      row('failed', failed, 'failed'),
      row('unchanged', total - failed - changed, 'unchanged'),
      row('changed', changed, 'changed'),
      row('duration', new PyFloat(duration)),
    ]),
    row('job', [
      row('function', ret['fun'] ?? ''),
      row('arguments', ret['fun_args'] ?? ''),
      row('jid', ret['jid'] ?? ''),
      row('success', ret['success'] ?? true),
      row('retcode', ret['retcode'] ?? 0),
    ]),
    row('states', broken ? [row('errors', returned as Value[], 'failed')] : states.map(stateRow)),
  ];
  return { rows, failed, changed };
}
