// a.b and a[b] as the sandbox resolves them.
import { indexError, PyError, typeError } from '../errors.ts';
import { BoundMethod, callMethod, type Method, type MethodTable } from './callable.ts';
import { PyDict } from './dict.ts';
import { hasInternal } from './internals.ts';
import { Markup } from './markup.ts';
import { asInt, makeFloat } from './number.ts';
import { repr } from './print.ts';
import type { Runtime } from './runtime.ts';
import { GroupTuple, normalIndex, PyRange, PyTuple } from './sequence.ts';
import { codePoints, isSimple, reprText } from './text.ts';
import { Undefined } from './undefined.ts';
import { type Kwargs, type MaybePromise, PyFloat, PyObject, type PyValue, typeName } from './value.ts';

const tables = new Map<string, MethodTable>();

/** Method tables by type name; filled by `methods/index.ts`. */
export function registerMethods(type: string, table: MethodTable): void {
  tables.set(type, table);
}

function tableOf(value: PyValue): MethodTable | undefined {
  if (value instanceof GroupTuple) return tables.get('tuple');
  return tables.get(typeName(value));
}

/** The built-in method of a value's type, if it has one of that name. */
export function methodOf(value: PyValue, name: string): Method | undefined {
  return tableOf(value)?.get(name);
}

/** `getattr(value, name)` without the sandbox; undefined for AttributeError. */
export function plainAttribute(rt: Runtime, value: PyValue, name: string): PyValue | undefined {
  const entry = methodOf(value, name);
  if (entry !== undefined) return new BoundMethod(value, typeName(value), entry);
  if (value instanceof Undefined) return value.fail();
  if (value instanceof PyObject) return value.attr(name, rt);
  return numberAttribute(value, name);
}

function numberAttribute(value: PyValue, name: string): PyValue | undefined {
  if (
    typeof value !== 'number' &&
    typeof value !== 'bigint' &&
    typeof value !== 'boolean' &&
    !(value instanceof PyFloat)
  ) {
    return undefined;
  }
  const int = asInt(value);
  if (name === 'real') return int ?? value;
  if (name === 'imag') return int === undefined ? makeFloat(0) : 0;
  if (int === undefined) return undefined;
  if (name === 'numerator') return int;
  return name === 'denominator' ? 1 : undefined;
}

function unsafe(rt: Runtime, value: PyValue, name: string): Undefined {
  const hint = `access to attribute ${reprText(name)} of ${reprText(typeName(value))} object is unsafe.`;
  return rt.undefined({ hint, owner: value, name, exception: 'SecurityError' });
}

/** `value[key]`; undefined for LookupError or TypeError. */
export function plainItem(value: PyValue, key: PyValue): PyValue | undefined {
  if (value instanceof PyDict) return Array.isArray(key) || key instanceof PyDict ? undefined : value.get(key);
  if (value instanceof Undefined) return value.fail();
  if (
    value instanceof PyObject &&
    !(value instanceof PyTuple) &&
    !(value instanceof PyRange) &&
    !(value instanceof Markup)
  ) {
    return value.item(key);
  }
  const index = asInt(key);
  return index === undefined ? undefined : sequenceItem(value, Number(index));
}

/** `value[key]` as Python code does it: an item, or the error Python raises. */
export function itemOrRaise(value: PyValue, key: PyValue): PyValue {
  const found = plainItem(value, key);
  if (found !== undefined) return found;
  if (value instanceof PyDict) throw new PyError('KeyError', repr(key));
  const kind = typeName(value);
  const isTextual = typeof value === 'string' || value instanceof Markup;
  if (!isTextual && !Array.isArray(value) && !(value instanceof PyTuple)) {
    throw typeError(`'${kind}' object is not subscriptable`);
  }
  if (asInt(key) !== undefined) throw indexError(`${isTextual ? 'string' : kind} index out of range`);
  if (isTextual) throw typeError(`string indices must be integers, not '${typeName(key)}'`);
  throw typeError(`${kind} indices must be integers or slices, not ${typeName(key)}`);
}

function sequenceItem(value: PyValue, index: number): PyValue | undefined {
  if (Array.isArray(value)) return value[index < 0 ? index + value.length : index];
  if (typeof value === 'string' || value instanceof Markup) {
    const text = typeof value === 'string' ? value : value.text;
    const units = isSimple(text) ? text : codePoints(text);
    const at = normalIndex(index, units.length);
    if (at === undefined) return undefined;
    return typeof value === 'string' ? units[at]! : new Markup(units[at]!);
  }
  if (value instanceof PyTuple) return value.items[index < 0 ? index + value.items.length : index];
  if (value instanceof PyRange) {
    const at = normalIndex(index, value.size);
    return at === undefined ? undefined : value.at(at);
  }
  if (value instanceof Uint8Array) return value[index < 0 ? index + value.length : index];
  return undefined;
}

/** `value.name`: the attribute, else the item, else undefined. */
export function getAttribute(rt: Runtime, value: PyValue, name: string): PyValue {
  if (name.charCodeAt(0) === 95) return underscored(rt, value, name, false);
  const found = plainAttribute(rt, value, name);
  if (found !== undefined) return found;
  const item = plainItem(value, name);
  return item === undefined ? rt.undefined({ owner: value, name }) : item;
}

/** `value[key]`: the item, else (for text) the attribute, else undefined. */
export function getItem(rt: Runtime, value: PyValue, key: PyValue): PyValue {
  const item = plainItem(value, key);
  if (item !== undefined) return item;
  const name = typeof key === 'string' ? key : key instanceof Markup ? key.text : undefined;
  if (name !== undefined) {
    if (name.charCodeAt(0) === 95) return underscored(rt, value, name, true);
    const found = plainAttribute(rt, value, name);
    if (found !== undefined) return found;
  }
  return rt.undefined({ owner: value, name: key });
}

/** Names with a leading underscore: existing attributes are unsafe, items are allowed. */
function underscored(rt: Runtime, value: PyValue, name: string, itemTried: boolean): PyValue {
  if (hasInternal(value, name)) return unsafe(rt, value, name);
  if (!itemTried) {
    const item = plainItem(value, name);
    if (item !== undefined) return item;
  }
  if (value instanceof Undefined) value.fail();
  return rt.undefined({ owner: value, name });
}

/** `value.name(…)` without creating the bound method first. */
export function callAttribute(
  rt: Runtime,
  value: PyValue,
  name: string,
  args: PyValue[],
  kwargs: Kwargs | undefined,
): MaybePromise<PyValue> {
  const entry = methodOf(value, name);
  if (entry !== undefined) return callMethod(typeName(value), entry, value, args, rt, kwargs);
  const target = getAttribute(rt, value, name);
  if (target instanceof PyObject && target.invoke !== undefined) return target.invoke(rt, args, kwargs);
  throw typeError(`'${typeName(target)}' object is not callable`);
}
