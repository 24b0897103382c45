// The value model: Salt data is Python data, represented in JavaScript without losing type or order.

/** A float with a whole value (`1.0`), which JavaScript alone cannot distinguish from an integer. */
export class PyFloat {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
  valueOf(): number {
    return this.value;
  }
  toJSON(): number {
    return this.value;
  }
}

/** Text keys only, and none that JavaScript would reorder (`"10"`). Always made by `newDict()`: no prototype. */
export type PlainDict = { [key: string]: Value };
export type MapDict = Map<Value, Value>;
export type Dict = PlainDict | MapDict;
export type Value = null | boolean | number | bigint | string | PyFloat | Uint8Array | Date | Value[] | Dict;

/** An object without prototype, so that `__proto__` is a key like any other. */
export function newDict(entries?: Iterable<readonly [string, Value]>): PlainDict {
  const dict = Object.create(null) as PlainDict;
  if (entries) for (const entry of entries) dict[entry[0]] = entry[1];
  return dict;
}

/** True for maps of both forms; false for arrays, dates, bytes and PyFloat. */
export function isDict(value: unknown): value is Dict {
  if (value === null || typeof value !== 'object') return false;
  if (value instanceof Map) return true;
  return (
    !Array.isArray(value) && !(value instanceof Uint8Array) && !(value instanceof Date) && !(value instanceof PyFloat)
  );
}

/** JavaScript moves keys like `"10"` to the front of an object; such dicts must be Maps to keep their order. */
export function isReorderedKey(key: string): boolean {
  if (key.length === 0 || key.length > 10) return false;
  const first = key.charCodeAt(0);
  if (first < 48 || first > 57) return false;
  return String(Number(key) >>> 0) === key && key !== '4294967295';
}

/** A dict from entries in order: plain when every key is ordinary text, a Map otherwise. Later duplicates win in place. */
export function dictOf(entries: readonly (readonly [Value, Value])[]): Dict {
  for (const entry of entries) {
    const key = entry[0];
    if (typeof key !== 'string' || isReorderedKey(key)) return new Map(entries as readonly [Value, Value][]);
  }
  return newDict(entries as readonly (readonly [string, Value])[]);
}

export function dictGet(dict: Dict, key: Value): Value | undefined {
  if (dict instanceof Map) return dict.get(key);
  return typeof key === 'string' && Object.hasOwn(dict, key) ? dict[key] : undefined;
}

export function dictHas(dict: Dict, key: Value): boolean {
  return dict instanceof Map ? dict.has(key) : typeof key === 'string' && Object.hasOwn(dict, key);
}

export function dictEntries(dict: Dict): [Value, Value][] {
  return dict instanceof Map ? [...dict.entries()] : Object.entries(dict);
}

export function dictKeys(dict: Dict): Value[] {
  return dict instanceof Map ? [...dict.keys()] : Object.keys(dict);
}

/** A list of texts only. */
export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

export function dictSize(dict: Dict): number {
  return dict instanceof Map ? dict.size : Object.keys(dict).length;
}

// Reading what came from outside. One rule for all: what has another type is absent.

export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The number inside a number, PyFloat or safe bigint. */
export function asNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (value instanceof PyFloat) return value.value;
  if (typeof value === 'bigint') return Number(value);
  return undefined;
}

export function asList(value: unknown): Value[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

export function asDict(value: unknown): Dict | undefined {
  return isDict(value) ? value : undefined;
}

/** A dict whose keys are names. */
export function asPlainDict(value: unknown): PlainDict | undefined {
  return isDict(value) && !(value instanceof Map) ? value : undefined;
}

/** A field of what may be a dict. */
export function fieldOf(value: unknown, key: Value): Value | undefined {
  return isDict(value) ? dictGet(value, key) : undefined;
}

/** A list as it is, anything else as a list of its own. */
export function oneOrMore(value: string | string[]): string[];
export function oneOrMore(value: Value): Value[];
export function oneOrMore(value: Value): Value[] {
  return Array.isArray(value) ? value : [value];
}

/** True for values Python would print as a float. */
export function isFloat(value: unknown): boolean {
  return value instanceof PyFloat || (typeof value === 'number' && !Number.isInteger(value));
}

/** A number as a float in Python. */
export function pyFloat(value: number): number | PyFloat {
  return Number.isInteger(value) ? new PyFloat(value) : value;
}
