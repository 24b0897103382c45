// json.dumps over template values, with Python's options and errors.
import { typeError, valueError } from '../errors.ts';
import { less } from '../runtime/compare.ts';
import { PyDict } from '../runtime/dict.ts';
import { textOf } from '../runtime/markup.ts';
import { asInt, floatOf, floatRepr, intRepr } from '../runtime/number.ts';
import { str } from '../runtime/print.ts';
import { PyTuple } from '../runtime/sequence.ts';
import { sorted } from '../runtime/sort.ts';
import { type PyValue, typeName } from '../runtime/value.ts';

export interface JsonOptions {
  /** Text per level; undefined keeps everything on one line. */
  readonly indent: string | undefined;
  readonly sortKeys: boolean;
  readonly ensureAscii: boolean;
  readonly itemSeparator: string;
  readonly keySeparator: string;
}

const short: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\f': '\\f',
  '\b': '\\b',
};
const code = (char: string): string => short[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

function quote(text: string, ascii: boolean): string {
  return `"${text.replace(ascii ? /["\\]|[^ -~]/g : /["\\\x00-\x1f]/g, code)}"`;
}

function number(value: PyValue): string | undefined {
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  const int = asInt(value);
  if (int !== undefined) return intRepr(int);
  const double = floatOf(value);
  if (double === undefined) return undefined;
  if (Number.isFinite(double)) return floatRepr(double);
  return Number.isNaN(double) ? 'NaN' : double > 0 ? 'Infinity' : '-Infinity';
}

function keyText(key: PyValue): string {
  const text = textOf(key) ?? number(key);
  if (text !== undefined) return text;
  if (key === null) return 'null';
  throw typeError(`keys must be str, int, float, bool or None, not ${typeName(key)}`);
}

/** json.dumps(value). */
export function dumpsJson(value: PyValue, options: JsonOptions): string {
  const active = new Set<unknown>();
  const dump = (item: PyValue, depth: number): string => {
    const text = textOf(item);
    if (text !== undefined) return quote(text, options.ensureAscii);
    if (item === null) return 'null';
    const plain = number(item);
    if (plain !== undefined) return plain;
    if (active.has(item)) throw valueError('Circular reference detected');
    active.add(item);
    const out = container(item, depth);
    active.delete(item);
    return out;
  };
  const container = (item: PyValue, depth: number): string => {
    if (Array.isArray(item))
      return wrap(
        '[',
        item.map((member) => dump(member, depth + 1)),
        ']',
        depth,
        options,
      );
    if (item instanceof PyTuple)
      return wrap(
        '[',
        item.items.map((member) => dump(member, depth + 1)),
        ']',
        depth,
        options,
      );
    if (!(item instanceof PyDict)) throw typeError(`Object of type ${typeName(item)} is not JSON serializable`);
    const entries = sortEntries([...item.entries()], options.sortKeys);
    const parts = entries.map(
      ([key, member]) => `${quote(keyText(key), options.ensureAscii)}${options.keySeparator}${dump(member, depth + 1)}`,
    );
    return wrap('{', parts, '}', depth, options);
  };
  return dump(value, 0);
}

function sortEntries(entries: [PyValue, PyValue][], wanted: boolean): [PyValue, PyValue][] {
  if (!wanted) return entries;
  if (entries.every(([key]) => typeof key === 'string')) {
    return entries.sort(([a], [b]) => (a === b ? 0 : less(a, b) ? -1 : 1));
  }
  // Keys of different kinds raise the TypeError of Python's sort.
  const order = sorted(entries.map((entry) => new PyTuple(entry)));
  return order.map((pair) => [...(pair as PyTuple).items] as [PyValue, PyValue]);
}

function wrap(open: string, parts: readonly string[], close: string, depth: number, options: JsonOptions): string {
  if (parts.length === 0) return open + close;
  const { indent } = options;
  if (indent === undefined) return open + parts.join(options.itemSeparator) + close;
  const inner = `\n${indent.repeat(depth + 1)}`;
  return `${open}${inner}${parts.join(options.itemSeparator + inner)}\n${indent.repeat(depth)}${close}`;
}

/** The `indent` argument: a number of blanks, a text, or None. */
export function indentText(value: PyValue): string | undefined {
  if (value === null) return undefined;
  const int = asInt(value);
  return int === undefined ? str(value) : ' '.repeat(Math.max(0, Number(int)));
}
