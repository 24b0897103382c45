// Converts given values to the declared types of a function, or names the parameter that does not fit.
import { isTrue, isTruthy, pyRepr, pyStr } from '../../base/codec/python/index.ts';
import {
  asDict,
  asList,
  asNumber,
  asText,
  dictEntries,
  dictOf,
  dictSize,
  isDict,
  isFloat,
  newDict,
  type PlainDict,
  type Value,
} from '../../base/codec/value.ts';
import type { Form, Param } from '../../extend/sdk/index.ts';
import { ArgumentError } from './errors.ts';
import { textForm } from './text-form.ts';

/** The value converted to the parameter's kind. Throws ArgumentError when that is impossible. */
export function coerce(functionName: string, name: string, param: Param, value: Value): Value {
  if (param.kind === 'any' || param.kind === 'ignored') return value;
  if (param.falsy === null && !isTruthy(value)) return null;
  if (value === null && param.nullable) return null;
  // None for an optional parameter means "not given", for every type; as a boolean it is false, for every default.
  if (value === null && !param.required && !isTruth(param)) return defaultOf(param);
  const result = convert(param, value);
  if (result !== undefined) return result;
  throw new ArgumentError(`${functionName}() argument '${name}' must be ${wanted(param)}, not ${brief(value)}`);
}

const isTruth = (param: Param): boolean => param.kind === 'truthy' || param.kind === 'isTrue';

/** What the function receives when the parameter is not given: its own copy, because it may modify it. */
export function defaultOf(param: Param): Value {
  const value = param.default;
  if (param.falsy === null && !isTruthy(value)) return null;
  if (value === null && (param.nullable || !isTruth(param))) return null;
  if (param.kind === 'string' || param.kind === 'strings' || isTruth(param)) return convert(param, value) ?? value;
  return typeof value === 'object' && !(value instanceof Date) ? structuredDefault(value) : value;
}

function structuredDefault(value: Value): Value {
  if (Array.isArray(value)) return value.map(structuredDefault);
  if (value instanceof Map) return new Map(value);
  if (value !== null && typeof value === 'object' && (Object.getPrototypeOf(value) === null || isPlain(value))) {
    return newDict(Object.entries(value as PlainDict).map(([key, item]) => [key, structuredDefault(item)] as const));
  }
  return value;
}

function isPlain(value: object): boolean {
  return Object.getPrototypeOf(value) === Object.prototype;
}

const longest = 200;
const deepest = 100;

/**
 * The value in an error message, which goes to the master and into logs: truncated when large, only its kind when deep.
 */
function brief(value: Value): string {
  if (nestsDeeper(value, deepest)) return Array.isArray(value) ? 'a deeply nested list' : 'a deeply nested dictionary';
  const text = pyRepr(value);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

function nestsDeeper(value: Value, levels: number): boolean {
  const items = Array.isArray(value) ? value : isDict(value) ? dictEntries(value).map(([, item]) => item) : [];
  return items.length > 0 && (levels === 0 || items.some((item) => nestsDeeper(item, levels - 1)));
}

const formWords: Readonly<Record<Form, string>> = {
  string: 'text',
  int: 'an integer',
  float: 'a number',
  bool: 'True or False',
  list: 'a list',
  dict: 'a dictionary',
};

function wanted(param: Param): string {
  if (param.kind === 'oneOf') return (param.forms ?? []).map((form) => formWords[form]).join(' or ');
  if (param.kind === 'strings') return 'text or a list';
  if (param.kind === 'scalar') return 'text or a number';
  return formWords[param.kind as Form] ?? 'text';
}

function convert(param: Param, value: Value): Value | undefined {
  switch (param.kind) {
    case 'text':
      return textForm(value);
    case 'path':
      return isContainer(value) ? undefined : textForm(value);
    case 'string':
      return isContainer(value) ? undefined : toText(value);
    case 'strings':
      return toTexts(value, param.split);
    case 'int':
      return toInt(value, param.fractions === 'cut');
    case 'float':
      return toFloat(value);
    case 'bool':
      return toBool(value);
    case 'truthy':
      return isTruthy(value);
    case 'isTrue':
      return isTrue(value);
    case 'list':
      return toList(value);
    case 'dict':
      return toDict(value);
    case 'scalar':
      return isScalar(value) ? value : undefined;
    case 'oneOf':
      return toForm(param.forms ?? [], value);
    default:
      return value;
  }
}

/** A list or a dictionary: its Python text is never what the caller meant where a text is expected. */
const isContainer = (value: Value): boolean => Array.isArray(value) || isDict(value);
const isScalar = (value: Value): boolean => value !== null && !isContainer(value);

const toText = (value: Value): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : pyStr(value);

/** A list of texts. One text is a list of one, or of its parts where the parameter declares a separator. */
function toTexts(value: Value, split: string | undefined): string[] | undefined {
  if (Array.isArray(value)) return value.map(toText);
  if (!isScalar(value)) return undefined;
  const text = toText(value);
  if (split === undefined) return [text];
  return text === '' ? [] : text.split(split).map((item) => item.trim());
}

/** The value in the first form that it already has; numbers, booleans and dates become text where text is accepted. */
function toForm(forms: readonly Form[], value: Value): Value | undefined {
  for (const form of forms) {
    const found = inForm(form, value);
    if (found !== undefined) return found;
  }
  return forms.includes('string') && isScalar(value) ? toText(value) : undefined;
}

function inForm(form: Form, value: Value): Value | undefined {
  switch (form) {
    case 'string':
      return asText(value);
    case 'bool':
      return typeof value === 'boolean' ? value : undefined;
    case 'int':
      return isFloat(value) ? undefined : safeInteger(asNumber(value));
    case 'float':
      return asNumber(value);
    case 'list':
      return asList(value);
    case 'dict':
      return asDict(value);
  }
}

const safeInteger = (number: number | undefined): number | undefined =>
  Number.isSafeInteger(number) ? number : undefined;

function toFloat(value: Value): number | undefined {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'string')
    return /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?\s*$/i.test(value) ? Number(value) : undefined;
  return asNumber(value);
}

/** A text with a fraction is no integer for Python's int() either. */
function toInt(value: Value, cut: boolean): number | undefined {
  const number = toFloat(value);
  return safeInteger(cut && number !== undefined && typeof value !== 'string' ? Math.trunc(number) : number);
}

const words: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  1: true,
  false: false,
  no: false,
  off: false,
  0: false,
  none: false,
  '': false,
};

function toBool(value: Value): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (value === null) return false;
  if (typeof value === 'string') {
    const word = value.trim().toLowerCase();
    return Object.hasOwn(words, word) ? words[word] : undefined;
  }
  const number = asNumber(value);
  return number === undefined ? undefined : number !== 0;
}

/** Text is split at commas, as Salt does wherever it accepts a list on the command line. */
function toList(value: Value): Value[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return value.split(',').map((item) => item.trim());
  return isDict(value) ? undefined : [value];
}

/** A dict, or a list of one-key dicts (the form state files produce). */
function toDict(value: Value): Value | undefined {
  if (isDict(value)) return value;
  if (!Array.isArray(value)) return undefined;
  const entries: [Value, Value][] = [];
  for (const item of value) {
    if (!isDict(item) || dictSize(item) !== 1) return undefined;
    entries.push(...dictEntries(item));
  }
  return dictOf(entries);
}
