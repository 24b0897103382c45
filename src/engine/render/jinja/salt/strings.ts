// Salt's filters on text.
import { randomBytes } from 'node:crypto';
import { writeDoubleQuoted } from '../../../../base/codec/yaml/emit-scalar.ts';
import { Writer } from '../../../../base/codec/yaml/writer.ts';
import { globMatcher, pyRegexFull } from '../../../../base/util/index.ts';
import { indexError, PyError, typeError } from '../errors.ts';
import { intOf } from '../filters/support.ts';
import { methodOf, plainAttribute } from '../runtime/access.ts';
import { mul, pow } from '../runtime/arith.ts';
import { callMethod, isCallable } from '../runtime/callable.ts';
import { define, defineBound, type FunctionTable, tableOf } from '../runtime/define.ts';
import { PyDict } from '../runtime/dict.ts';
import { encodeText } from '../runtime/encoding.ts';
import { each, len, toArray, truth, tryIterate } from '../runtime/iterate.ts';
import { escapeHtml, isText, Markup, textOf } from '../runtime/markup.ts';
import { capitalize, isLower, isUpper } from '../runtime/methods/str-case.ts';
import {
  asInt,
  floatOf,
  floatRepr,
  intRepr,
  makeFloat,
  parseFloatText,
  parseInteger,
  truncateFloat,
} from '../runtime/number.ts';
import { repr, str } from '../runtime/print.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { PyTuple } from '../runtime/sequence.ts';
import { PySet } from '../runtime/set.ts';
import type { Bound } from '../runtime/signature.ts';
import { codePoints, isSpace, trim } from '../runtime/text.ts';
import { noAttribute, Undefined } from '../runtime/undefined.ts';
import { classText, type MaybePromise, type PyValue, typeName } from '../runtime/value.ts';
import { isHashable } from './lists.ts';

function toBool(value: PyValue): boolean {
  if (value === null) return false;
  if (typeof value === 'boolean') return value;
  const text = textOf(value);
  if (text !== undefined) return ['yes', '1', 'true'].includes(text.toLowerCase());
  const int = asInt(value);
  if (int !== undefined) return int > 0;
  return isHashable(value) ? false : len(value) > 0;
}

function shellQuote(value: PyValue): PyValue {
  const text = textOf(value);
  if (text === undefined) {
    if (!truth(value)) return "''";
    throw typeError(`expected string or bytes-like object, got '${typeName(value)}'`);
  }
  if (text === '') return "''";
  if (!/[^\w@%+=:,./-]/.test(text)) return value;
  const quotes = `'"'"'`;
  // Markup escapes what is put into it and around it.
  if (value instanceof Markup) {
    const [outer, inner] = [escapeHtml("'"), escapeHtml(quotes)];
    return new Markup(outer + text.replaceAll("'", inner) + outer);
  }
  return `'${text.replaceAll("'", quotes)}'`;
}

/** int, else float, else the text itself. */
export function numberFromText(text: string): PyValue {
  const int = parseInteger(text);
  if (int !== undefined) return int;
  const double = parseFloatText(text);
  return double === undefined ? text : makeFloat(double);
}

function toNumber(value: PyValue): PyValue {
  if (value instanceof Undefined) value.fail();
  const text = textOf(value);
  if (text !== undefined) {
    const number = numberFromText(text);
    return number === text ? value : number;
  }
  const int = asInt(value);
  if (int !== undefined) return int;
  const double = floatOf(value);
  if (double !== undefined) return truncateFloat(double);
  throw typeError(`int() argument must be a string, a bytes-like object or a real number, not '${typeName(value)}'`);
}

/** `30MB`, `2G`, `64KiB` as a number of bytes; 0 for what is no size. */
function lowered(value: PyValue): string {
  const text = textOf(value);
  if (text === undefined) throw noAttribute(value, 'lower');
  return text.toLowerCase();
}

function humanToBytes(value: PyValue, defaultUnit: PyValue, metric: PyValue): PyValue {
  const match = /^([0-9.]*)[\s\x1c-\x1f]*(.*)$/.exec(trim(str(value)));
  if (match === null) throw new PyError('AttributeError', "'NoneType' object has no attribute 'group'");
  const unit = match[2]!.toLowerCase() || lowered(defaultUnit);
  const amount = numberFromText(match[1]!);
  if (typeof amount === 'string') return 0;
  const decimal = /^[kmgtpezy]b$/.test(unit);
  if (!decimal && !/^(?:b|[kmgtpezy](?:ib)?)$/.test(unit)) return 0;
  const power = 'bkmgtpezy'.indexOf(unit[0]!);
  const factor = decimal && truth(metric) ? pow(10, power * 3) : pow(2, power * 10);
  const product = mul(amount, factor);
  return asInt(product) ?? truncateFloat(floatOf(product) ?? 0);
}

/** What Python raises when it takes the first character of something else. */
function notText(value: PyValue): PyError {
  if (value instanceof Undefined) value.fail();
  if (value instanceof PyDict) return new PyError('KeyError', '0');
  const list = Array.isArray(value) ? value : value instanceof PyTuple ? value.items : undefined;
  if (list === undefined) return typeError(`'${typeName(value)}' object is not subscriptable`);
  if (list[0] === undefined) return indexError(`${typeName(value)} index out of range`);
  return noAttribute(list[0], 'lower');
}

function camelToSnake(value: PyValue): PyValue {
  const text = textOf(value);
  // A list of texts passes for a text here, as it does in Python.
  const list = value instanceof PyTuple ? value.items : Array.isArray(value) ? value : [];
  const texts = list.length > 0 ? list.map(textOf) : [undefined];
  if (text === undefined && texts.includes(undefined)) throw notText(value);
  const chars = text === undefined ? texts.map(String) : codePoints(text);
  if (chars[0] === undefined) throw indexError('string index out of range');
  let out = chars[0].toLowerCase();
  for (let at = 1; at < chars.length; at += 1) {
    const next = chars[at + 1];
    if (isUpper(chars[at]!) && (isLower(chars[at - 1]!) || (next !== undefined && isLower(next)))) out += '_';
    // Markup escapes what is added to it, and its characters are plain text.
    out += value instanceof Markup ? escapeHtml(chars[at]!.toLowerCase()) : chars[at]!.toLowerCase();
  }
  return value instanceof Markup ? new Markup(out) : out;
}

function snakeToCamel(value: PyValue, upper: PyValue): string {
  const text = textOf(value);
  if (text === undefined) throw noAttribute(value, 'split');
  const [first = '', ...rest] = text.split('_');
  return (truth(upper) ? capitalize(first) : first) + rest.map(capitalize).join('');
}

/** Glob first, then a full match as regular expression. */
function expressionMatches(text: string, expression: PyValue): boolean {
  const pattern = textOf(expression);
  if (pattern === undefined) return false;
  if (globMatcher(pattern)(text)) return true;
  try {
    return pyRegexFull(pattern).test(text);
  } catch {
    return false;
  }
}

function patternList(value: PyValue, name: string): PyValue[] {
  if (!truth(value)) return [];
  if (isText(value)) return [value];
  if (tryIterate(value) === undefined)
    throw typeError(`Expecting iterable ${name}, but got ${typeName(value)} (${str(value)})`);
  return toArray(value);
}

function whitelisted(value: PyValue, whitelist: PyValue, blacklist: PyValue): boolean {
  const black = patternList(blacklist, 'blacklist');
  const white = patternList(whitelist, 'whitelist');
  const text = textOf(value);
  const hits = (patterns: readonly PyValue[]): boolean =>
    text !== undefined && patterns.some((item) => expressionMatches(text, item));
  if (black.length > 0 && hits(black)) return false;
  return white.length === 0 || hits(white);
}

/** Text in double quotes on one line, all but ASCII escaped. */
function yamlDoubleQuoted(text: string): string {
  const writer = new Writer(Number.POSITIVE_INFINITY, 2, false);
  writeDoubleQuoted(writer, text, false);
  return writer.text;
}

/** Text in single quotes: every run of line breaks grows by one, since reading folds it. */
function yamlSingleQuoted(text: string): string {
  const broken = text.replace(/[\n\x85\u2028\u2029]+/g, (run) => (run.startsWith('\n') ? `\n${run}` : run));
  return `'${broken.replaceAll("'", "''")}'`;
}

function yamlEncode(value: PyValue): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (typeof value === 'string') return yamlDoubleQuoted(value);
  const int = asInt(value);
  if (int !== undefined) return intRepr(int);
  const double = floatOf(value);
  if (double !== undefined) {
    if (!Number.isFinite(double)) return Number.isNaN(double) ? '.nan' : double > 0 ? '.inf' : '-.inf';
    const text = floatRepr(double).toLowerCase();
    return text.includes('.') || !text.includes('e') ? text : text.replace('e', '.0e');
  }
  if (value instanceof Uint8Array) return `${Buffer.from(value).toString('base64').replace(/.{76}/g, '$&\n')}\n`;
  if (value instanceof Undefined) throw new PyError('RepresenterError', "('cannot represent an object', Undefined)");
  const collections =
    Array.isArray(value) || value instanceof PyDict || value instanceof PyTuple || value instanceof PySet;
  if (collections) {
    throw typeError(`yaml_encode() only works with YAML scalar data; failed for ${classText(value)}`);
  }
  throw new PyError('RepresenterError', `('cannot represent an object', ${repr(value)})`);
}

/** Calls a method by name; names that do not exist (or are private) give None. */
function methodCall(rt: Runtime, { values, rest, named }: Bound): MaybePromise<PyValue> {
  const [target, name] = values as [PyValue, PyValue];
  const text = textOf(name);
  if (text === undefined) throw typeError(`attribute name must be string, not '${typeName(name)}'`);
  const entry = methodOf(target, text);
  if (entry !== undefined) return callMethod(typeName(target), entry, target, rest, rt, named);
  const found = text.startsWith('_') ? undefined : plainAttribute(rt, target, text);
  if (found === undefined) return null;
  if (!isCallable(found)) throw typeError(`'${typeName(found)}' object is not callable`);
  return found.invoke(rt, rest, named);
}

function toBytes(value: PyValue, encoding: PyValue, errors: PyValue): Uint8Array {
  if (value instanceof Uint8Array) return value;
  const text = textOf(value);
  if (text === undefined) throw typeError(`expected str, bytes, or bytearray not ${classText(value)}`);
  return encodeText(text, encoding === null ? 'utf-8' : str(encoding), str(errors));
}

function isHex(value: PyValue): boolean {
  const text = textOf(value);
  return text !== undefined && parseInteger(text, 16) !== undefined;
}

function hasWhitespace(value: PyValue): boolean {
  for (const char of each(value)) {
    const text = textOf(char);
    if (text === undefined) throw noAttribute(char, 'isspace');
    if (isSpace(text)) return true;
  }
  return false;
}

function randomText(size: PyValue): string {
  const count = intOf(size);
  if (count < 0) throw new PyError('ValueError', 'negative argument not allowed');
  return randomBytes(Math.min(count, 1 << 20))
    .toString('base64')
    .slice(0, count);
}

export const stringFilters: FunctionTable = tableOf({
  skip: define('skip_filter', 'data', () => ''),
  to_bool: define('to_bool', 'val', (_rt, value) => toBool(value!)),
  quote: define('quote', 'txt', (_rt, value) => shellQuote(value!)),
  to_num: define('to_num', 'text', (_rt, value) => toNumber(value!)),
  str_to_num: define('to_num', 'text', (_rt, value) => toNumber(value!)),
  is_hex: define('is_hex', 'value', (_rt, value) => isHex(value!)),
  contains_whitespace: define('contains_whitespace', 'text', (_rt, value) => hasWhitespace(value!)),
  human_to_bytes: define('human_to_bytes', "size, default_unit='B', handle_metric=False", (_rt, size, unit, metric) =>
    humanToBytes(size!, unit!, metric!),
  ),
  to_snake_case: define('camel_to_snake_case', 'camel_input', (_rt, value) => camelToSnake(value!)),
  to_camelcase: define('snake_to_camel_case', 'snake_input, uppercamel=False', (_rt, value, upper) =>
    snakeToCamel(value!, upper!),
  ),
  check_whitelist_blacklist: define(
    'check_whitelist_blacklist',
    'value, whitelist=None, blacklist=None',
    (_rt, value, white, black) => whitelisted(value!, white!, black!),
  ),
  yaml_dquote: define('yaml_dquote', 'text', (_rt, value) => yamlDoubleQuoted(str(value!))),
  yaml_squote: define('yaml_squote', 'text', (_rt, value) => yamlSingleQuoted(str(value!))),
  yaml_encode: define('yaml_encode', 'data', (_rt, value) => yamlEncode(value!)),
  method_call: defineBound('method_call', 'obj, f_name, *f_args, **f_kwargs', methodCall, { waits: true }),
  to_bytes: define('to_bytes', "s, encoding=None, errors='strict'", (_rt, value, encoding, errors) =>
    toBytes(value!, encoding!, errors!),
  ),
  random_str: define('random', 'size=32', (_rt, size) => randomText(size!)),
});
