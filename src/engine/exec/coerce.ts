// Turns given values into the types a function declared, or says which parameter does not fit.
import { pyRepr, pyStr } from '../../base/codec/python/index.ts';
import { asNumber, dictEntries, dictOf, dictSize, isDict, type Value } from '../../base/codec/value.ts';
import type { Param } from '../../extend/sdk/index.ts';
import { ArgumentError } from './errors.ts';
import { textForm } from './text-form.ts';

/** The value as the parameter's kind. Throws ArgumentError when it cannot be that. */
export function coerce(functionName: string, name: string, param: Param, value: Value): Value {
  // None given for an optional parameter means "as if not given", whatever its type.
  if (value === null && !param.required && param.kind !== 'any') return param.default;
  const result = convert(param, value);
  if (result !== undefined) return result;
  throw new ArgumentError(`${functionName}() argument '${name}' must be ${wanted(param)}, not ${pyRepr(value)}`);
}

function wanted(param: Param): string {
  const words: Partial<Record<Param['kind'], string>> = {
    int: 'an integer',
    float: 'a number',
    bool: 'True or False',
    list: 'a list',
    dict: 'a dictionary',
  };
  return words[param.kind] ?? 'text';
}

function convert(param: Param, value: Value): Value | undefined {
  switch (param.kind) {
    case 'text':
    case 'path':
      return textForm(value);
    case 'string':
      return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : pyStr(value);
    case 'int':
      return toInt(value);
    case 'float':
      return toFloat(value);
    case 'bool':
      return toBool(value);
    case 'list':
      return toList(value);
    case 'dict':
      return toDict(value);
    default:
      return value;
  }
}

function toFloat(value: Value): number | undefined {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'string')
    return /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?\s*$/i.test(value) ? Number(value) : undefined;
  return asNumber(value);
}

function toInt(value: Value): number | undefined {
  const number = toFloat(value);
  return number !== undefined && Number.isSafeInteger(number) ? number : undefined;
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
