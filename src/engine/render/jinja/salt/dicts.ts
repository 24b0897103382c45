// Salt's filters on dicts and on paths through nested data.

import { HaliteError } from '../../../../base/errors/index.ts';
import { yamlKey } from '../../../../base/util/index.ts';
import { PyError, typeError } from '../errors.ts';
import { tryInt } from '../filters/numbers.ts';
import { itemOrRaise, plainItem } from '../runtime/access.ts';
import { contains, eq } from '../runtime/compare.ts';
import { define, type FunctionTable, tableOf } from '../runtime/define.ts';
import { PyDict } from '../runtime/dict.ts';
import { encodeText } from '../runtime/encoding.ts';
import { each, toArray, truth, tryIterate } from '../runtime/iterate.ts';
import { textOf } from '../runtime/markup.ts';
import { updateDict } from '../runtime/methods/dict.ts';
import { asInt } from '../runtime/number.ts';
import { PyTuple } from '../runtime/sequence.ts';
import { PySet } from '../runtime/set.ts';
import { noAttribute, Undefined } from '../runtime/undefined.ts';
import { classText, type PyValue, typeName } from '../runtime/value.ts';
import { numberFromText } from './strings.ts';

const invocation = (message: string): HaliteError => new HaliteError('call.arguments', message);
const className = classText;

function stepIntoList(list: readonly PyValue[], step: PyValue): PyValue | undefined {
  const index = tryInt(step);
  const key = index ?? step;
  for (const item of list) {
    const found = item instanceof PyDict ? item.get(key) : undefined;
    if (found !== undefined) return found;
  }
  if (index === undefined) return undefined;
  const at = Number(index);
  return list[at < 0 ? at + list.length : at];
}

function stepInto(value: PyValue, step: PyValue): PyValue | undefined {
  if (Array.isArray(value)) return stepIntoList(value, step);
  if (!(value instanceof PyDict)) return value instanceof Undefined ? value.fail() : plainItem(value, step);
  const found = value.get(step);
  const text = textOf(step);
  if (found !== undefined || text === undefined) return found;
  const loaded = yamlKey(text);
  return loaded === text || typeof loaded === 'object' ? undefined : value.get(loaded);
}

/** The value at a delimited path through dicts and lists, or the default. */
function traverse(data: PyValue, path: PyValue, fallback: PyValue, delimiter: PyValue): PyValue {
  const text = textOf(path);
  const steps =
    text !== undefined ? text.split(textOf(delimiter) ?? ':') : asInt(path) !== undefined ? [path] : toArray(path);
  let value = data;
  for (const step of steps) {
    const next = stepInto(value, step);
    if (next === undefined) return fallback;
    value = next;
  }
  return value;
}

interface Place {
  readonly dict: PyDict;
  readonly key: string;
}

/** The dict with the last key of a path; missing levels are created. */
function placeOf(data: PyValue, path: PyValue, delimiter: PyValue, ordered: boolean, asks: boolean): Place {
  const text = textOf(path);
  if (text === undefined) throw typeError(`argument of type '${typeName(path)}' is not iterable`);
  const keys = text.split(textOf(delimiter) ?? ':');
  const last = keys.pop()!;
  let dict = data;
  for (const key of keys) {
    if (!(dict instanceof PyDict)) throw notAssignable(dict, key, true);
    let next = dict.get(key);
    if (!(next instanceof PyDict)) {
      next = new PyDict({ ordered });
      dict.set(key, next);
    }
    dict = next;
  }
  if (!(dict instanceof PyDict)) throw notAssignable(dict, last, asks);
  return { dict, key: last };
}

/** What Python raises for `key not in x` and `x[key] = …` when x is no dict. */
function notAssignable(value: PyValue, key: string, asks: boolean): PyError {
  // A text or tuple that contains the key is read before it is written.
  if (asks && contains(value, key)) itemOrRaise(value, key);
  if (Array.isArray(value)) return typeError('list indices must be integers or slices, not str');
  return typeError(`'${typeName(value)}' object does not support item assignment`);
}

type Change = (current: PyValue | undefined, value: PyValue, ordered: boolean) => PyValue;

function changing(name: string, change: Change) {
  return define(
    name,
    "in_dict, keys, value, delimiter=':', ordered_dict=False",
    (_rt, data, path, value, delimiter, flag) => {
      const ordered = truth(flag!);
      const { dict, key } = placeOf(data!, path!, delimiter!, ordered, name !== 'set_dict_key_value');
      dict.set(key, change(dict.get(key), value!, ordered));
      return data!;
    },
  );
}

const append: Change = (current, value) => {
  const list = current ?? [];
  if (!Array.isArray(list)) throw invocation(`The last key contains a ${className(list)}, which cannot append.`);
  list.push(value);
  return list;
};

const extend: Change = (current, value) => {
  const list = current ?? [];
  if (!Array.isArray(list)) throw invocation(`The last key contains a ${className(list)}, which cannot extend.`);
  if (tryIterate(value) === undefined) throw invocation(`Cannot extend ${className(list)} with a ${className(value)}.`);
  list.push(...toArray(value));
  return list;
};

const update: Change = (current, value, ordered) => {
  const dict = current ?? new PyDict({ ordered });
  if (dict instanceof PySet) {
    for (const item of each(value)) dict.add(item);
    return dict;
  }
  if (!(dict instanceof PyDict)) throw invocation(`The last key contains a ${className(dict)}, which cannot update.`);
  try {
    updateDict(dict, 'update', [value], undefined);
  } catch (error) {
    if (error instanceof PyError && (error.pyType === 'ValueError' || error.pyType === 'TypeError')) {
      throw invocation(`Cannot update ${className(dict)} with a ${className(value)}.`);
    }
    throw error;
  }
  return dict;
};

function compareDicts(old: PyValue, fresh: PyValue): PyValue {
  const entry = (a: string, x: PyValue, b: string, y: PyValue): PyDict =>
    PyDict.from([
      [a, x],
      [b, y],
    ]);
  const keysOf = (value: PyValue): PyValue[] => (truth(value) ? toArray(value) : []);
  const changes = new PyDict();
  for (const key of new PySet([...keysOf(fresh), ...keysOf(old)])) {
    if (!contains(old, key)) changes.set(key, entry('old', '', 'new', itemOrRaise(fresh, key)));
    else if (!contains(fresh, key)) changes.set(key, entry('new', '', 'old', itemOrRaise(old, key)));
    else if (!eq(itemOrRaise(fresh, key), itemOrRaise(old, key)))
      changes.set(key, entry('old', itemOrRaise(old, key), 'new', itemOrRaise(fresh, key)));
  }
  return changes;
}

function encode(value: PyValue, encoding: string): PyValue {
  const text = textOf(value);
  if (text !== undefined) return encodeText(text, encoding);
  if (value instanceof PyDict) {
    return PyDict.from([...value.entries()].map(([key, item]) => [encode(key, encoding), encode(item, encoding)]));
  }
  if (Array.isArray(value)) return value.map((item) => encode(item, encoding));
  return value instanceof PyTuple ? value.items.map((item) => encode(item, encoding)) : value;
}

/** `encode_dict` needs a dict; `encode_list` takes anything that can be iterated. */
const encoded = (name: 'encode_dict' | 'encode_list') =>
  define(
    name,
    "data, encoding=None, errors='strict', keep=False, preserve_dict_class=False, preserve_tuples=False",
    (_rt, data, encoding) => {
      const codec = textOf(encoding!) ?? 'utf-8';
      if (name === 'encode_list') return toArray(data!).map((item) => encode(item, codec));
      if (data instanceof PyDict) return encode(data, codec);
      if (data instanceof Undefined) data.fail();
      throw noAttribute(data, 'items');
    },
  );

/** Rows of a MySQL table print-out as dicts, by the value of one column. */
function mysqlToDict(data: PyValue, key: PyValue): PyValue {
  const out = new PyDict();
  let headers: string[] | undefined;
  for (const item of each(data)) {
    if (!truth(item)) continue;
    const line = textOf(item);
    if (line === undefined) throw noAttribute(item, 'startswith');
    if (line.startsWith('+')) continue;
    const cells = line.split('|').map((cell) => cell.trim());
    if (headers === undefined) {
      if (cells.length > 1) headers = cells;
      continue;
    }
    const row = new PyDict();
    for (let at = 1; at < headers.length - 1; at += 1) row.set(headers[at]!, numberFromText(cells[at]!));
    const id = row.get(key);
    if (id === undefined) throw new PyError('KeyError', `'${textOf(key) ?? ''}'`);
    out.set(id, row);
  }
  return out;
}

export const dictFilters: FunctionTable = tableOf({
  traverse: define(
    'traverse_dict_and_list',
    "data, key, default=None, delimiter=':'",
    (_rt, data, key, fallback, delimiter) => traverse(data!, key!, fallback!, delimiter!),
  ),
  set_dict_key_value: changing('set_dict_key_value', (_current, value) => value),
  append_dict_key_value: changing('append_dict_key_value', append),
  extend_dict_key_value: changing('extend_dict_key_value', extend),
  update_dict_key_value: changing('update_dict_key_value', update),
  compare_dicts: define('compare_dicts', 'old=None, new=None', (_rt, old, fresh) => compareDicts(old!, fresh!)),
  json_decode_dict: encoded('encode_dict'),
  json_encode_dict: encoded('encode_dict'),
  json_decode_list: encoded('encode_list'),
  json_encode_list: encoded('encode_list'),
  mysql_to_dict: define('mysql_to_dict', 'data, key', (_rt, data, key) => mysqlToDict(data!, key!)),
});
