// Results as documents of Elasticsearch: Salt's fields, names of indices, and treatment of states.
import { asNumber, dictEntries, dictGet, dictOf, isDict, newDict, type PlainDict, pyStr, type Value } from 'halite/sdk';
import { arrivalMillis, fromJson, keysOf, toJson } from '../shared/loads.ts';

export interface DocumentRules {
  readonly index_date: boolean;
  readonly states_count: boolean;
  readonly states_order_output: boolean;
  readonly states_single_index: boolean;
}

const stateFunctions = new Set(['state.apply', 'state.highstate', 'state.sls']);

/** The suffix `-2026.11.29` of daily indices. */
export function dated(index: string, wanted: boolean, now = new Date()): string {
  if (!wanted) return index;
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${index}-${now.getFullYear()}.${two(now.getMonth() + 1)}.${two(now.getDate())}`;
}

/** Dots in names would be paths: they become underscores, and the original name is stored too. */
export function convertKeys(value: Value): Value {
  if (Array.isArray(value)) return value.map(convertKeys);
  if (!isDict(value)) return value;
  const entries: [Value, Value][] = [];
  for (const [key, item] of dictEntries(value)) {
    const name = pyStr(key);
    if (name.includes('.')) entries.push(['_orig_key', name]);
    entries.push([name.replaceAll('.', '_'), convertKeys(item)]);
  }
  return dictOf(entries);
}

/** Restores the original names where they are known: of several names in one place only the last was stored. */
export function restoreKeys(value: Value): Value {
  if (Array.isArray(value)) return value.map(restoreKeys);
  if (!isDict(value)) return value;
  const original = dictGet(value, '_orig_key');
  const written = typeof original === 'string' ? original.replaceAll('.', '_') : undefined;
  const entries = dictEntries(value).filter(([key]) => key !== '_orig_key' || written === undefined);
  return dictOf(entries.map(([key, item]) => [key === written ? original! : key, restoreKeys(item)] as const));
}

/** Names of states with their run number as prefix, and `_func` inside. */
function ordered(returned: Value): Value {
  if (!isDict(returned)) return returned;
  const entries = dictEntries(returned);
  const width = String(entries.length).length;
  return dictOf(
    entries.map(([key, data]) => {
      const uid = pyStr(key);
      if (/^\d/.test(uid) || !isDict(data)) return [key, data] as const;
      const parts = uid.split('_|-');
      const place = pyStr(dictGet(data, '__run_num__') ?? 0).padStart(width, '0');
      const func = `${parts[0]}.${parts.at(-1)}`;
      return [`${place}_|-${uid}`, dictOf([...dictEntries(data), ['_func', func]])] as const;
    }),
  );
}

function countsOf(returned: Value): PlainDict {
  const states = isDict(returned) ? dictEntries(returned).map(([, data]) => data) : [];
  // An item that is not a state is the reason why there are none.
  const failed = states.filter((data) => !isDict(data) || dictGet(data, 'result') === false).length;
  return newDict([
    ['succeeded', states.length - failed],
    ['failed', failed],
  ]);
}

export interface Bodies {
  readonly body: string;
  readonly plainBody: string;
}

/**
 * A document with one field of any type. The first value in an index fixes the type of a field, and the index then refuses
 * a text where it saw a dict: such a document stores the field as JSON in `<field>_json`.
 */
export function bodiesOf(document: PlainDict, field: string, value: Value, original: Value): Bodies {
  const entries = dictEntries(document);
  return {
    body: toJson(dictOf([...entries, [field, value]])),
    plainBody: toJson(dictOf([...entries, [`${field}_json`, toJson(original)]])),
  };
}

/** The value of that field, in whichever form it was stored. */
export function openField(document: PlainDict, field: string): Value {
  const plain = document[`${field}_json`];
  return typeof plain === 'string' ? (fromJson(plain) ?? null) : (document[field] ?? null);
}

/** The index and the document of a result. */
export function documentOf(ret: PlainDict, rules: DocumentRules): Bodies & { index: string } {
  const { id, jid, fun } = keysOf(ret);
  const isState = stateFunctions.has(fun);
  const name = rules.states_single_index && isState ? 'state_apply' : fun.replaceAll('.', '_').toLowerCase();
  let index = dated(`salt-${name}`, rules.index_date);
  let returned = ret['return'] ?? null;
  if (isState && isDict(returned) && rules.states_order_output) {
    index = `${index}-ordered`;
    returned = ordered(returned);
    // Errors of states are lists; the index would refuse them where other documents have dicts.
  } else if (isState && !isDict(returned)) returned = newDict([['return', returned]]);
  const retcode = asNumber(ret['retcode']) ?? 1;
  const document = newDict([
    ['@timestamp', new Date(arrivalMillis(ret)).toISOString().replace('Z', '000+00:00')],
    ['success', retcode === 0],
    ['retcode', retcode],
    ['minion', id],
    ['fun', fun],
    ['jid', jid],
    ['counts', isState && rules.states_count ? countsOf(returned) : newDict()],
  ]);
  return { index, ...bodiesOf(document, 'data', convertKeys(returned), returned) };
}

/** A return load from a document. */
export function loadOf(document: PlainDict): PlainDict {
  const entries: [string, Value][] = [
    ['id', document['minion'] ?? ''],
    ...(['jid', 'fun', 'retcode', 'success'] as const).map((name): [string, Value] => [name, document[name] ?? null]),
    ['return', 'data_json' in document ? openField(document, 'data') : restoreKeys(document['data'] ?? null)],
  ];
  return newDict(entries);
}
