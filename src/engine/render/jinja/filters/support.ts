// Helpers that many filters share: text conversion, attribute paths, case-insensitive keys.

import { typeError } from '../errors.ts';
import { getItem } from '../runtime/access.ts';
import { Markup, textOf } from '../runtime/markup.ts';
import { asInt } from '../runtime/number.ts';
import { str } from '../runtime/print.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { Undefined } from '../runtime/undefined.ts';
import { type PyValue, typeName } from '../runtime/value.ts';

/** Applies a text function to `str(value)`; safe text stays safe. */
export function softly(value: PyValue, change: (text: string) => string): PyValue {
  return value instanceof Markup ? new Markup(change(value.text)) : change(str(value));
}

/** The text itself, or str() of anything else, keeping Markup. */
export function softText(value: PyValue): PyValue {
  return typeof value === 'string' || value instanceof Markup ? value : str(value);
}

function ignoreCase(value: PyValue): PyValue {
  const text = textOf(value);
  return text === undefined ? value : text.toLowerCase();
}

const keep = (value: PyValue): PyValue => value;
export const caseOption = (caseSensitive: boolean): ((value: PyValue) => PyValue) =>
  caseSensitive ? keep : ignoreCase;

function pathParts(attribute: PyValue): PyValue[] {
  if (attribute === null) return [];
  const text = textOf(attribute);
  if (text === undefined) return [attribute];
  return text.split('.').map((part) => (/^\p{Nd}+$/u.test(part) ? Number(part) : part));
}

/** Looks up a dotted path on an item; a default replaces undefined steps. */
export function attributeGetter(
  rt: Runtime,
  attribute: PyValue,
  finish: (value: PyValue) => PyValue = keep,
  fallback: PyValue = null,
): (item: PyValue) => PyValue {
  const parts = pathParts(attribute);
  return (item) => {
    let value = item;
    for (const part of parts) {
      value = getItem(rt, value, part);
      if (fallback !== null && value instanceof Undefined) value = fallback;
    }
    return finish(value);
  };
}

/** Several comma-separated paths at once, as a list. */
export function multiGetter(
  rt: Runtime,
  attribute: PyValue,
  finish: (value: PyValue) => PyValue,
): (item: PyValue) => PyValue {
  const text = textOf(attribute);
  const paths: PyValue[] = text === undefined ? [attribute] : text.split(',');
  const getters = paths.map((path) => attributeGetter(rt, path, finish));
  return (item) => getters.map((get) => get(item));
}

/** An int parameter of a filter. */
export function intOf(value: PyValue): number {
  const int = asInt(value);
  if (int === undefined) throw typeError(`'${typeName(value)}' object cannot be interpreted as an integer`);
  return Number(int);
}
