// JSON written as Python's json.dumps writes it: separators, floats, escapes and key conversion.
import { HaliteError } from '../../errors/index.ts';
import { pyRepr, reprFloat, reprKey } from '../python/repr.ts';
import { type Dict, dictEntries, type PlainDict, PyFloat, type Value } from '../value.ts';
import { compareText } from './compare-text.ts';

export interface DumpOptions {
  /** Spaces per level; without it everything is on one line. */
  readonly indent?: number | undefined;
  readonly sortKeys?: boolean;
  /** Escape everything beyond ASCII (default, as in Python; Salt's own output turns it off). */
  readonly ensureAscii?: boolean;
  /** Separators between items and after a key; default: those of Python. */
  readonly separators?: readonly [string, string] | undefined;
}

const maxDepth = 512;

interface Style {
  readonly indent: number | undefined;
  readonly sortKeys: boolean;
  readonly quote: (text: string) => string;
  readonly comma: string;
  readonly colon: string;
}

/**
 * The JSON text of a value. A kind that JSON lacks (bytes, dates) is written as its Python repr, as in Salt's output.
 */
export function dumpJson(value: Value, options: DumpOptions = {}): string {
  const style: Style = {
    indent: options.indent,
    sortKeys: options.sortKeys === true,
    quote: options.ensureAscii === false ? quoteText : quoteAscii,
    comma: options.separators?.[0] ?? (options.indent === undefined ? ', ' : ','),
    colon: options.separators?.[1] ?? ': ',
  };
  return dump(value, style, 0);
}

function dump(value: Value | undefined, style: Style, depth: number): string {
  switch (typeof value) {
    case 'string':
      return style.quote(value);
    case 'number':
      return dumpNumber(value);
    case 'bigint':
      return value.toString();
    case 'boolean':
      return value ? 'true' : 'false';
    case 'undefined':
      return 'null';
    default:
      return value === null ? 'null' : dumpObject(value, style, depth);
  }
}

function dumpObject(value: PyFloat | Uint8Array | Date | Value[] | Dict, style: Style, depth: number): string {
  if (value instanceof PyFloat) return dumpFloat(value.value);
  if (value instanceof Uint8Array || value instanceof Date) return style.quote(pyRepr(value));
  if (depth >= maxDepth) throw new HaliteError('codec.limit', `A value is nested deeper than ${maxDepth} levels`);
  // On one line the text is extended part by part: lists of parts would cost more than the text.
  if (Array.isArray(value)) {
    if (style.indent === undefined) return flatList(value, style, depth);
    const items = value.map((item) => dump(item, style, depth + 1));
    return wrap('[', items, ']', style.indent, style, depth);
  }
  if (style.indent === undefined && !style.sortKeys && !(value instanceof Map)) return flatDict(value, style, depth);
  const entries = dictEntries(value);
  if (style.sortKeys) entries.sort(([a], [b]) => compareKeys(a, b));
  const items = entries.map(
    ([key, item]) => `${style.quote(keyText(key))}${style.colon}${dump(item, style, depth + 1)}`,
  );
  if (style.indent === undefined) return `{${items.join(style.comma)}}`;
  return wrap('{', items, '}', style.indent, style, depth);
}

function flatList(items: readonly Value[], style: Style, depth: number): string {
  let text = '[';
  for (let at = 0; at < items.length; at++) {
    if (at > 0) text += style.comma;
    text += dump(items[at], style, depth + 1);
  }
  return `${text}]`;
}

function flatDict(dict: PlainDict, style: Style, depth: number): string {
  let text = '{';
  const keys = Object.keys(dict);
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] as string;
    if (at > 0) text += style.comma;
    text += style.quote(key) + style.colon + dump(dict[key], style, depth + 1);
  }
  return `${text}}`;
}

function wrap(
  open: string,
  items: readonly string[],
  close: string,
  indent: number,
  style: Style,
  depth: number,
): string {
  if (items.length === 0) return open + close;
  const inner = `\n${' '.repeat(indent * (depth + 1))}`;
  const outer = `\n${' '.repeat(indent * depth)}`;
  return open + inner + items.join(style.comma + inner) + outer + close;
}

function dumpNumber(value: number): string {
  if (Number.isSafeInteger(value)) return String(value === 0 ? 0 : value);
  return Number.isInteger(value) ? BigInt(value).toString() : dumpFloat(value);
}

function dumpFloat(value: number): string {
  if (Number.isFinite(value)) return reprFloat(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
}

/** Converts keys that are not text as Python does; keys that Python refuses are written as their repr. */
function keyText(key: Value): string {
  if (typeof key === 'string') return key;
  if (key === null) return 'null';
  if (typeof key === 'boolean') return key ? 'true' : 'false';
  if (typeof key === 'number') return dumpNumber(key);
  return key instanceof PyFloat ? dumpFloat(key.value) : reprKey(key);
}

function compareKeys(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return compareText(keyText(a), keyText(b));
}

const named: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
};
const escaped = (character: string): string =>
  named[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

// Most texts need no escape: a test costs less than a replacement that finds nothing.
const notAscii = /["\\]|[^ -~]/;
const notPlain = /["\\\x00-\x1f]/;

function quoteAscii(text: string): string {
  if (!notAscii.test(text)) return `"${text}"`;
  return `"${text.replace(/["\\]|[^ -~]/g, escaped)}"`;
}

function quoteText(text: string): string {
  if (!notPlain.test(text)) return `"${text}"`;
  return `"${text.replace(/["\\\x00-\x1f]/g, escaped)}"`;
}
