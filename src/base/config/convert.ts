// Converts values from files to the types of the option tables, in the cases in which Salt converts.
import { dictEntries, isDict, newDict, PyFloat, type Value } from '../codec/value.ts';
import { hasGlob } from '../util/fnmatch.ts';
import { globFiles } from './glob.ts';
import type { OptionRow, OptionType } from './options/row.ts';
import { pyFloat, pyInt, pyText } from './py-values.ts';

/** `lossy` values are used although Salt warns about their type. */
export type Converted = { readonly ok: true; readonly value: Value; readonly lossy?: boolean } | { readonly ok: false };

const refused: Converted = { ok: false };
const fits = (value: Value): Converted => ({ ok: true, value });

export function typesOf(row: OptionRow): readonly OptionType[] {
  return typeof row.type === 'string' ? [row.type] : row.type;
}

/** Tries the types of a row in order; a value that already has one of them is never converted to another. */
export function convertOption(row: OptionRow, value: Value): Converted {
  const types = typesOf(row);
  for (const type of types) if (has(type, value)) return convert(type, value);
  for (const type of types) {
    const result = convert(type, value);
    if (result.ok) return result;
  }
  return refused;
}

function has(type: OptionType, value: Value): boolean {
  switch (type) {
    case 'bool':
      return typeof value === 'boolean';
    case 'int':
      return typeof value === 'bigint' || Number.isInteger(value);
    case 'float':
    case 'duration':
      return typeof value === 'number' || value instanceof PyFloat;
    case 'str':
    case 'path':
      return typeof value === 'string';
    case 'list':
    case 'strs':
      return Array.isArray(value);
    case 'dict':
    case 'roots':
      return isDict(value);
    case 'null':
      return value === null;
  }
}

function convert(type: OptionType, value: Value): Converted {
  switch (type) {
    case 'bool':
      return typeof value === 'boolean' ? fits(value) : refused;
    case 'int':
      return toInt(value);
    case 'float':
    case 'duration':
      return toFloat(value);
    case 'str':
    case 'path':
      return isScalar(value) ? fits(pyText(value)) : refused;
    case 'list':
      return Array.isArray(value) ? fits(value) : refused;
    case 'strs':
      return Array.isArray(value) ? fits(value.map(pyText)) : refused;
    case 'dict':
      return toDict(value);
    case 'roots':
      return isDict(value) ? fits(toRoots(value)) : refused;
    case 'null':
      return value === null ? fits(null) : refused;
  }
}

function isScalar(value: Value): boolean {
  return value !== null && (typeof value !== 'object' || value instanceof PyFloat || value instanceof Date);
}

/** Salt: text is read as a number, a float is used but warned about, a boolean is refused. */
function toInt(value: Value): Converted {
  if (typeof value === 'bigint') return fits(Number(value));
  if (typeof value === 'number') return { ok: true, value, lossy: !Number.isInteger(value) };
  if (value instanceof PyFloat) return { ok: true, value: value.value, lossy: true };
  const parsed = typeof value === 'string' ? pyInt(value) : undefined;
  return parsed === undefined ? refused : fits(parsed);
}

function toFloat(value: Value): Converted {
  if (typeof value === 'number') return fits(value);
  if (typeof value === 'bigint') return fits(Number(value));
  if (value instanceof PyFloat) return fits(value.value);
  const parsed = typeof value === 'string' ? pyFloat(value) : undefined;
  return parsed === undefined ? refused : fits(parsed);
}

/** Python's dict() also takes an empty list or text. */
function toDict(value: Value): Converted {
  if (isDict(value)) return fits(value);
  return value === '' || (Array.isArray(value) && value.length === 0) ? fits(newDict()) : refused;
}

/** Environments with their folders: names as text, patterns expanded, anything but a list means no folder. */
function toRoots(value: Value): Value {
  const roots = newDict();
  for (const [env, folders] of isDict(value) ? dictEntries(value) : []) {
    roots[pyText(env)] = Array.isArray(folders) ? folders.flatMap((folder) => expandFolder(pyText(folder))) : [];
  }
  return roots;
}

function expandFolder(folder: string): string[] {
  return hasGlob(folder) ? globFiles(folder) : [folder];
}
