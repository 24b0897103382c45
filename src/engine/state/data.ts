// High data, low chunks and the properties of Python's dicts and lists on which Salt's compiler depends.
import { pyRepr, pyTypeName, reprKey } from '../../base/codec/python/index.ts';
import { type Dict, dictEntries, dictOf, isDict, type PlainDict, type Value } from '../../base/codec/value.ts';

/** One id: state → arguments, and its `__sls__`/`__env__`. Maps, because the order of keys matters. */
export type Body = Map<Value, Value>;
/** Id → body; besides, `__extend__` and `__exclude__` lists. */
export type High = Map<Value, Value>;
/** One call of a state function, ready to run. */
export type Chunk = PlainDict;

export const isBody = (value: Value | undefined): value is Body => value instanceof Map;
export const isHidden = (key: Value): boolean => typeof key === 'string' && key.startsWith('__');

/**
 * Rendered data as high data. A body that two ids share (a YAML alias) stays shared, as in Python: a change made for
 * the first id must not be repeated for the second.
 */
export function toHigh(rendered: Dict): High {
  const seen = new Map<object, Body>();
  const high: High = new Map();
  for (const [id, value] of dictEntries(rendered)) {
    if (!isDict(value)) {
      high.set(id, value);
      continue;
    }
    let body = seen.get(value);
    if (!body) {
      body = new Map(dictEntries(value));
      seen.set(value, body);
    }
    high.set(id, body);
  }
  return high;
}

/** High data for output, cache or transfer. */
export function fromHigh(high: High): Dict {
  return dictOf([...high].map(([id, body]) => [id, isBody(body) ? dictOf([...body]) : body] as const));
}

/** The first key of a dict; undefined when it is empty. */
export function firstKey(dict: Dict): Value | undefined {
  if (dict instanceof Map) return dict.keys().next().value;
  for (const key in dict) return key;
  return undefined;
}

/** The value below a dict's first key. */
export function firstValue(dict: Dict): Value | undefined {
  if (dict instanceof Map) return dict.values().next().value;
  for (const key in dict) return dict[key];
  return undefined;
}

export function setKey(dict: Dict, key: Value, value: Value): void {
  if (dict instanceof Map) dict.set(key, value);
  else dict[String(key)] = value;
}

/** The entry of a map, created if missing. */
export function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

/** The list below a key, created if missing. */
export function listAt(map: Map<Value, Value>, key: Value): Value[] {
  const value = map.get(key);
  if (Array.isArray(value)) return value;
  const list: Value[] = [];
  map.set(key, list);
  return list;
}

/** type(value).__name__ for rendered data, whose dicts are of a class of Salt's. */
export const typeName = (value: Value): string => (isDict(value) ? 'OrderedDict' : pyTypeName(value));

/** str(value) of rendered data: Python prints the class of ordered dicts. */
export function shown(value: Value): string {
  return typeof value === 'string' ? value : shownRepr(value);
}

function shownRepr(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(shownRepr).join(', ')}]`;
  if (!isDict(value)) return pyRepr(value);
  const items = dictEntries(value).map(([key, item]) => `(${reprKey(key)}, ${shownRepr(item)})`);
  return items.length === 0 ? 'OrderedDict()' : `OrderedDict([${items.join(', ')}])`;
}
