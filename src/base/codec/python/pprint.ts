// Python's pprint.pformat: what fits stays on one line, the rest breaks at items and at words.

import { compareText } from '../json/compare-text.ts';
import { type Dict, dictEntries, isDict, PyFloat, type Value } from '../value.ts';
import { pyRepr, reprBytes, reprKey } from './repr.ts';

export interface PprintOptions {
  readonly width?: number;
  readonly indent?: number;
}

interface Style {
  readonly width: number;
  readonly indent: number;
}

/** The value as pprint.pformat(value) writes it: keys sorted, 80 columns. */
export function pprintValue(value: Value, options: PprintOptions = {}): string {
  return format(value, { width: options.width ?? 80, indent: options.indent ?? 1 }, 0, 0, 0);
}

/** `column` is where the value begins, `allowance` the number of characters that must still fit after it. */
function format(value: Value, style: Style, column: number, allowance: number, level: number): string {
  const line = sortedRepr(value);
  if (lengthOf(line) <= style.width - column - allowance) return line;
  if (typeof value === 'string') return formatText(value, style, column, allowance, level + 1);
  if (value instanceof Uint8Array) return formatBytes(value, style, column, allowance, level + 1);
  if (Array.isArray(value)) return formatList(value, style, column, allowance, level + 1);
  return isDict(value) ? formatDict(value, style, column, allowance, level + 1) : line;
}

/** repr() with the keys of every dict in order. */
function sortedRepr(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(sortedRepr).join(', ')}]`;
  if (!isDict(value)) return pyRepr(value);
  const items = sortedEntries(value).map(([key, item]) => `${reprKey(key)}: ${sortedRepr(item)}`);
  return `{${items.join(', ')}}`;
}

const padding = (style: Style): string => ' '.repeat(Math.max(0, style.indent - 1));

function formatList(items: readonly Value[], style: Style, column: number, allowance: number, level: number): string {
  const inner = column + style.indent;
  const parts = items.map((item, index) => {
    return format(item, style, inner, index === items.length - 1 ? allowance + 1 : 1, level);
  });
  return `[${padding(style)}${parts.join(`,\n${' '.repeat(inner)}`)}]`;
}

function formatDict(dict: Dict, style: Style, column: number, allowance: number, level: number): string {
  const inner = column + style.indent;
  const entries = sortedEntries(dict);
  const parts = entries.map(([key, item], index) => {
    const name = reprKey(key);
    const room = index === entries.length - 1 ? allowance + 1 : 1;
    return `${name}: ${format(item, style, inner + lengthOf(name) + 2, room, level)}`;
  });
  return `{${padding(style)}${parts.join(`,\n${' '.repeat(inner)}`)}}`;
}

const linePattern = /[\s\S]*?(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]|$)/g;
const space = ' \\t-\\r\\x1c-\\x1f\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const wordPattern = new RegExp(`[^${space}]*[${space}]*`, 'g');
const matchesOf = (text: string, expression: RegExp): string[] =>
  (text.match(expression) ?? []).filter((part) => part !== '');

/** Text breaks after lines, and within long lines after words; at the top level it stands in parentheses. */
function formatText(text: string, style: Style, column: number, allowance: number, level: number): string {
  if (text === '') return "''";
  const top = level === 1;
  const start = top ? column + 1 : column;
  const room = top ? allowance + 1 : allowance;
  const width = style.width - start;
  const lines = matchesOf(text, linePattern);
  const chunks: string[] = [];
  let last = '';
  lines.forEach((line, index) => {
    const final = index === lines.length - 1;
    last = pyRepr(line);
    if (lengthOf(last) <= width - (final ? room : 0)) chunks.push(last);
    else chunks.push(...wrapWords(line, width, final ? room : 0));
  });
  if (chunks.length === 1) return last;
  const joined = chunks.join(`\n${' '.repeat(start)}`);
  return top ? `(${joined})` : joined;
}

function wrapWords(line: string, width: number, room: number): string[] {
  const words = matchesOf(line, wordPattern);
  return wrapParts(
    words,
    '',
    (part, next) => part + next,
    (part) => pyRepr(part),
    width,
    room,
  );
}

function formatBytes(bytes: Uint8Array, style: Style, column: number, allowance: number, level: number): string {
  if (bytes.length <= 4) return reprBytes(bytes);
  const top = level === 1;
  const start = top ? column + 1 : column;
  const room = top ? allowance + 1 : allowance;
  const parts: Uint8Array[] = [];
  for (let i = 0; i < bytes.length; i += 4) parts.push(bytes.subarray(i, i + 4));
  // Python: when the number of groups of four is whole there is no shorter last group, so no space is reserved for the
  // closing characters.
  const lastRoom = bytes.length % 4 === 0 ? 0 : room;
  const chunks = wrapParts(
    parts,
    new Uint8Array(),
    (a, b) => Buffer.concat([a, b]),
    reprBytes,
    style.width - start,
    lastRoom,
  );
  const joined = chunks.join(`\n${' '.repeat(start)}`);
  return top ? `(${joined})` : joined;
}

/** Joins parts to chunks whose repr fits the width; the last chunk must leave `room` columns free. */
function wrapParts<T extends { readonly length: number }>(
  parts: readonly T[],
  empty: T,
  join: (a: T, b: T) => T,
  repr: (part: T) => string,
  width: number,
  room: number,
): string[] {
  const chunks: string[] = [];
  let current = empty;
  parts.forEach((part, index) => {
    const candidate = join(current, part);
    const limit = index === parts.length - 1 ? width - room : width;
    if (lengthOf(repr(candidate)) > limit) {
      if (current.length > 0) chunks.push(repr(current));
      current = part;
    } else current = candidate;
  });
  if (current.length > 0) chunks.push(repr(current));
  return chunks;
}

/** Length in characters, as Python counts. */
function lengthOf(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0xd800 && code < 0xdc00) length--;
  }
  return length;
}

function sortedEntries(dict: Dict): [Value, Value][] {
  return dictEntries(dict).sort(([a], [b]) => compareKeys(a, b));
}

function compareKeys(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  const left = numeric(a);
  const right = numeric(b);
  if (left !== undefined && right !== undefined) return left < right ? -1 : left > right ? 1 : 0;
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if (Array.isArray(a) && Array.isArray(b)) return compareTuples(a, b);
  return compareText(typeName(a), typeName(b));
}

function compareTuples(a: readonly Value[], b: readonly Value[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareKeys(a[i] as Value, b[i] as Value);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function numeric(value: Value): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (typeof value === 'boolean') return Number(value);
  return value instanceof PyFloat ? value.value : undefined;
}

/** Keys of different kinds are ordered by the name of their type. */
function typeName(value: Value): string {
  if (value === null) return 'NoneType';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))) return 'int';
  if (typeof value === 'number' || value instanceof PyFloat) return 'float';
  if (value instanceof Uint8Array) return 'bytes';
  return Array.isArray(value) ? 'tuple' : 'datetime';
}
