// pprint.pformat: keys sorted, 80 columns, one item per line where a value does not fit.
import { splitLines } from '../../../../base/util/pytext.ts';
import { isPyError } from '../errors.ts';
import { less } from './compare.ts';
import { PyDict } from './dict.ts';
import { guardedRepr, repr } from './print.ts';
import { GroupTuple, PyTuple } from './sequence.ts';
import { PySet } from './set.ts';
import { pyLength, spaceClass } from './text.ts';
import { classText, type PyValue } from './value.ts';

const width = 80;

/** Order of keys and set members; values that cannot be compared are ordered by the name of their type. */
function safely(a: PyValue, b: PyValue): number {
  try {
    if (a instanceof PyTuple && b instanceof PyTuple) return pairwise(a, b);
    return less(a, b) ? -1 : less(b, a) ? 1 : 0;
  } catch (error) {
    if (!isPyError(error, 'TypeError')) throw error;
    const left = classText(a);
    const right = classText(b);
    return left < right ? -1 : left > right ? 1 : 0;
  }
}

function pairwise(a: PyTuple, b: PyTuple): number {
  for (let at = 0; at < Math.min(a.items.length, b.items.length); at += 1) {
    const order = safely(a.items[at]!, b.items[at]!);
    if (order !== 0) return order;
  }
  return a.items.length - b.items.length;
}

const sortedEntries = (dict: PyDict): [PyValue, PyValue][] => [...dict.entries()].sort(([a], [b]) => safely(a, b));

/** repr() on one line, dicts with sorted keys. */
function flat(value: PyValue): string {
  if (Array.isArray(value)) return guardedRepr(value, '[...]', () => `[${value.map(flat).join(', ')}]`);
  if (value instanceof PyTuple) {
    const parts = value.items.map(flat);
    return parts.length === 1 ? `(${parts[0]},)` : `(${parts.join(', ')})`;
  }
  if (value instanceof PyDict && !value.ordered) {
    return guardedRepr(value, '{...}', () => {
      const parts = sortedEntries(value).map(([key, item]) => `${flat(key)}: ${flat(item)}`);
      return `{${parts.join(', ')}}`;
    });
  }
  return repr(value);
}

function format(value: PyValue, indent: number, allowance: number, level: number): string {
  const line = flat(value);
  if (pyLength(line) <= width - indent - allowance) return line;
  const below = level + 1;
  if (typeof value === 'string') return formatText(value, indent, allowance, below);
  if (Array.isArray(value)) return `[${items(value, indent, allowance + 1, below)}]`;
  if (value instanceof PyTuple && !(value instanceof GroupTuple)) {
    const end = value.items.length === 1 ? ',)' : ')';
    return `(${items(value.items, indent, allowance + end.length, below)}${end}`;
  }
  if (value instanceof PyDict) return formatDict(value, indent, allowance, below);
  if (value instanceof PySet && value.size > 0) {
    const members = value.toArray().sort(safely);
    return value.frozen
      ? `frozenset({${items(members, indent + 10, allowance + 2, below)}})`
      : `{${items(members, indent, allowance + 1, below)}}`;
  }
  return line;
}

function items(values: readonly PyValue[], indent: number, allowance: number, level: number): string {
  const inner = indent + 1;
  const parts = values.map((item, at) => format(item, inner, at === values.length - 1 ? allowance : 1, level));
  return parts.join(`,\n${' '.repeat(inner)}`);
}

function formatDict(dict: PyDict, indent: number, allowance: number, level: number): string {
  if (dict.ordered) {
    if (dict.size === 0) return repr(dict);
    const pairs = [...dict.entries()].map((entry) => new PyTuple(entry));
    return `OrderedDict(${format(pairs, indent + 12, allowance + 1, level)})`;
  }
  const inner = indent + 1;
  const entries = sortedEntries(dict);
  const parts = entries.map(([key, item], at) => {
    const name = flat(key);
    const room = at === entries.length - 1 ? allowance + 1 : 1;
    return `${name}: ${format(item, inner + pyLength(name) + 2, room, level)}`;
  });
  return `{${parts.join(`,\n${' '.repeat(inner)}`)}}`;
}

const wordRun = new RegExp(`[^${spaceClass}]*[${spaceClass}]*`, 'g');

/** Long text as adjacent literals, broken after lines and words; in parentheses at the top level. */
function formatText(text: string, indent: number, allowance: number, level: number): string {
  const lines = splitLines(text, true);
  if (lines.length === 0) return repr(text);
  const start = level === 1 ? indent + 1 : indent;
  const room = level === 1 ? allowance + 1 : allowance;
  const space = width - start;
  const chunks: string[] = [];
  let whole = '';
  lines.forEach((line, at) => {
    const final = at === lines.length - 1;
    whole = repr(line);
    if (pyLength(whole) <= space - (final ? room : 0)) chunks.push(whole);
    else chunks.push(...wrapWords(line, space, final ? room : 0));
  });
  if (chunks.length === 1) return whole;
  const joined = chunks.join(`\n${' '.repeat(start)}`);
  return level === 1 ? `(${joined})` : joined;
}

function wrapWords(line: string, space: number, room: number): string[] {
  const words = (line.match(wordRun) ?? []).filter((part) => part !== '');
  const chunks: string[] = [];
  let current = '';
  words.forEach((word, at) => {
    const candidate = current + word;
    const limit = at === words.length - 1 ? space - room : space;
    if (pyLength(repr(candidate)) > limit) {
      if (current !== '') chunks.push(repr(current));
      current = word;
    } else current = candidate;
  });
  if (current !== '') chunks.push(repr(current));
  return chunks;
}

export function pformat(value: PyValue): string {
  return format(value, 0, 0, 0);
}
