// The `%` operator on text.
import { PyError, typeError, valueError } from '../errors.ts';
import { exponentText, fixedText, generalText } from './decimal.ts';
import { PyDict } from './dict.ts';
import { asciiRepr } from './format-string.ts';
import { escapeHtml, Markup } from './markup.ts';
import { asDouble, asInt, floatOf, intRepr, type PyInt, truncateFloat } from './number.ts';
import { repr, str } from './print.ts';
import { PyTuple } from './sequence.ts';
import { codePoints, pyLength, pySlice } from './text.ts';
import { Undefined } from './undefined.ts';
import { PyObject, type PyValue, typeName } from './value.ts';

interface Directive {
  readonly flags: string;
  readonly width: number;
  readonly precision: number | undefined;
  readonly type: string;
}

/** Provides arguments one by one, or by key from a mapping. */
class Arguments {
  readonly mapping: PyValue | undefined;
  readonly #list: readonly PyValue[];
  readonly #whole: boolean;
  #next = 0;

  constructor(value: PyValue) {
    const tuple = value instanceof PyTuple;
    this.#list = tuple ? value.items : [value];
    this.#whole = !tuple;
    const subscript =
      Array.isArray(value) || value instanceof Uint8Array || (value instanceof PyObject && value.subscriptable());
    this.mapping = subscript && !tuple && !(value instanceof Markup) ? value : undefined;
  }
  next(): PyValue {
    if (this.#next >= this.#list.length) throw typeError('not enough arguments for format string');
    const value = this.#list[this.#next]!;
    this.#next += 1;
    return value;
  }
  /** After use of a key the whole mapping counts as consumed. */
  lookup(key: string): PyValue {
    const { mapping } = this;
    if (mapping === undefined) throw typeError('format requires a mapping');
    if (mapping instanceof Undefined) mapping.fail();
    if (!(mapping instanceof PyDict))
      throw typeError(`${typeName(mapping)} indices must be integers or slices, not str`);
    const value = mapping.get(key);
    if (value === undefined) throw new PyError('KeyError', repr(key));
    return value;
  }
  finish(): void {
    if (this.mapping !== undefined) return;
    if (this.#next < this.#list.length && (!this.#whole || this.#next === 0)) {
      throw typeError('not all arguments converted during string formatting');
    }
  }
}

const directive = /([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?[hlL]?/y;

/** `format % value`. */
export function percentFormat(format: string, value: PyValue): string {
  const args = new Arguments(value);
  let out = '';
  let position = 0;
  for (;;) {
    const start = format.indexOf('%', position);
    if (start < 0) break;
    out += format.slice(position, start);
    let at = start + 1;
    if (format[at] === '%') {
      out += '%';
      position = at + 1;
      continue;
    }
    let keyed: PyValue | undefined;
    if (format[at] === '(') {
      const end = closing(format, at);
      keyed = args.lookup(format.slice(at + 1, end));
      at = end + 1;
    }
    directive.lastIndex = at;
    const match = directive.exec(format)!;
    at += match[0].length;
    const spec = readDirective(match, format, at, args);
    out += convert(spec, keyed === undefined ? args.next() : keyed, at);
    position = at + 1;
  }
  args.finish();
  return out + format.slice(position);
}

/** As `percentFormat` for Markup: arguments are escaped before they are put in. */
export function percentMarkup(format: string, value: PyValue): string {
  const safe = (item: PyValue): PyValue => {
    if (typeof item === 'string') return escapeHtml(item);
    if (item instanceof Markup || asDouble(item) !== undefined || item instanceof Undefined) return item;
    return item === null ? item : escapeHtml(str(item));
  };
  if (value instanceof PyTuple) return percentFormat(format, new PyTuple(value.items.map(safe)));
  if (value instanceof PyDict)
    return percentFormat(format, PyDict.from([...value.entries()].map(([k, v]) => [k, safe(v)])));
  // A list, or a lenient undefined, has subscripts: Python treats it as a mapping, of which nothing need be used.
  const subscript = Array.isArray(value) || value instanceof Undefined;
  if (subscript && !/%(?!%)/.test(format.replaceAll('%%', ''))) return percentFormat(format, new PyTuple([]));
  return percentFormat(format, new PyTuple([safe(value)]));
}

function closing(format: string, open: number): number {
  let depth = 0;
  for (let at = open; at < format.length; at += 1) {
    if (format[at] === '(') depth += 1;
    else if (format[at] === ')') {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  throw valueError('incomplete format key');
}

function readDirective(match: RegExpExecArray, format: string, at: number, args: Arguments): Directive {
  let flags = match[1]!;
  const star = (): number => {
    const size = asInt(args.next());
    if (size === undefined) throw typeError('* wants int');
    return Number(size);
  };
  let width = match[2] === '*' ? star() : Number(match[2] ?? 0);
  if (width < 0) {
    flags += '-';
    width = -width;
  }
  let precision: number | undefined;
  if (match[3] !== undefined) precision = match[3] === '*' ? Math.max(0, star()) : Number(match[3]);
  if (width > 100_000_000 || (precision ?? 0) > 100_000) throw valueError('width too big');
  if (at >= format.length) throw valueError('incomplete format');
  return { flags, width, precision, type: String.fromCodePoint(format.codePointAt(at)!) };
}

function convert(spec: Directive, value: PyValue, at: number): string {
  const { type, precision } = spec;
  if ('rsa'.includes(type)) {
    const text = type === 's' ? str(value) : type === 'a' ? asciiRepr(value) : repr(value);
    return pad(spec, precision === undefined ? text : pySlice(text, 0, precision), '', false);
  }
  if (type === 'c') return pad(spec, character(value), '', false);
  if ('diuoxX'.includes(type)) return integer(spec, value);
  if ('eEfFgG'.includes(type)) return float(spec, value);
  throw valueError(`unsupported format character '${type}' (0x${type.codePointAt(0)!.toString(16)}) at index ${at}`);
}

function character(value: PyValue): string {
  if (typeof value === 'string' && codePoints(value).length === 1) return value;
  const code = asInt(value);
  if (code === undefined) throw typeError('%c requires int or char');
  if (code < 0 || code > 0x10ffff) throw new PyError('OverflowError', '%c arg not in range(0x110000)');
  return String.fromCodePoint(Number(code));
}

function integer(spec: Directive, value: PyValue): string {
  const { type, precision, flags } = spec;
  if (value instanceof Undefined) value.fail();
  let int: PyInt | undefined = asInt(value);
  const double = floatOf(value);
  if (int === undefined && double !== undefined && 'diu'.includes(type)) int = truncateFloat(double);
  if (int === undefined) {
    const wanted = 'oxX'.includes(type) ? 'an integer' : 'a real number';
    throw typeError(`%${type} format: ${wanted} is required, not ${typeName(value)}`);
  }
  const negative = int < 0;
  const size = negative ? -int : int;
  const radix = type === 'o' ? 8 : type === 'x' || type === 'X' ? 16 : 10;
  let digits = radix === 10 ? intRepr(size) : size.toString(radix);
  if (precision !== undefined) digits = digits.padStart(precision, '0');
  let prefix = flags.includes('#') && radix !== 10 ? (radix === 8 ? '0o' : '0x') : '';
  if (type === 'X') {
    digits = digits.toUpperCase();
    prefix = prefix.toUpperCase();
  }
  return pad(spec, digits, sign(flags, negative) + prefix, true);
}

function float(spec: Directive, value: PyValue): string {
  const { type, flags } = spec;
  if (value instanceof Undefined) value.fail();
  const double = asDouble(value);
  if (double === undefined) throw typeError(`must be real number, not ${typeName(value)}`);
  const negative = double < 0 || Object.is(double, -0);
  let text = floatText(double, type.toLowerCase(), spec.precision ?? 6, flags.includes('#'));
  if (type !== type.toLowerCase()) text = text.toUpperCase();
  return pad(spec, text, sign(flags, negative), true, Number.isFinite(double));
}

function floatText(value: number, type: string, precision: number, alternate: boolean): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return 'inf';
  if (type === 'e') return exponentText(value, precision, alternate);
  if (type === 'g') return generalText(value, precision, alternate);
  const text = fixedText(value, precision);
  return alternate && precision === 0 ? `${text}.` : text;
}

function sign(flags: string, negative: boolean): string {
  if (negative) return '-';
  if (flags.includes('+')) return '+';
  return flags.includes(' ') ? ' ' : '';
}

function pad(spec: Directive, body: string, lead: string, number: boolean, zeros = true): string {
  const missing = spec.width - pyLength(body) - lead.length;
  if (missing <= 0) return lead + body;
  if (spec.flags.includes('-')) return lead + body + ' '.repeat(missing);
  if (number && zeros && spec.flags.includes('0')) return lead + '0'.repeat(missing) + body;
  return ' '.repeat(missing) + lead + body;
}
