// Built-in filters on text.
import { splitLines } from '../../../../base/util/pytext.ts';
import { filterArgumentError, PyError, typeError } from '../errors.ts';
import { add, mod, mul } from '../runtime/arith.ts';
import { define, defineBound, type FunctionTable, tableOf } from '../runtime/define.ts';
import { PyDict } from '../runtime/dict.ts';
import { len, truth } from '../runtime/iterate.ts';
import { escapeHtml, isText, Markup, textOf } from '../runtime/markup.ts';
import { stripTags } from '../runtime/methods/str.ts';
import { capitalize, center } from '../runtime/methods/str-case.ts';
import { replaceText, stripChars } from '../runtime/methods/str-search.ts';
import { str } from '../runtime/print.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { PyTuple } from '../runtime/sequence.ts';
import { slice } from '../runtime/slice.ts';
import { spaceClass, trim } from '../runtime/text.ts';
import { noAttribute, Undefined } from '../runtime/undefined.ts';
import { type PyValue, typeName } from '../runtime/value.ts';
import { intOf, softly, softText } from './support.ts';
import { wrapLine } from './textwrap.ts';

/** markupsafe's toMarkupText(). */
export function toMarkupText(value: PyValue): Markup {
  return value instanceof Markup ? value : new Markup(escapeHtml(str(value)));
}

const wordStart = new RegExp(`([-${spaceClass}({\\[<]+)`);

function title(value: PyValue): string {
  return str(value)
    .split(wordStart)
    .filter((part) => part !== '')
    .map((part) => {
      const first = String.fromCodePoint(part.codePointAt(0)!);
      return first.toUpperCase() + part.slice(first.length).toLowerCase();
    })
    .join('');
}

function replace(rt: Runtime, value: PyValue, old: PyValue, fresh: PyValue, count: PyValue): PyValue {
  const most = count === null ? -1 : intOf(count);
  const limit = most < 0 ? Number.POSITIVE_INFINITY : most;
  if (rt.frame?.context.autoescape !== true) return replaceText(str(value), str(old), str(fresh), limit);
  const safe = value instanceof Markup || old instanceof Markup || fresh instanceof Markup;
  const source = safe ? toMarkupText(value).text : str(value);
  const replaced = replaceText(source, str(old), safe ? toMarkupText(fresh).text : str(fresh), limit);
  return safe ? new Markup(replaced) : replaced;
}

function format(value: PyValue, args: PyValue[], kwargs: ReadonlyMap<string, PyValue>): PyValue {
  if (args.length > 0 && kwargs.size > 0) {
    throw filterArgumentError("can't handle positional and keyword arguments at the same time");
  }
  return mod(softText(value), kwargs.size > 0 ? PyDict.from(kwargs) : new PyTuple(args));
}

function indent(value: PyValue, width: PyValue, first: PyValue, blank: PyValue): PyValue {
  const unit = isText(width) ? str(width) : str(mul(' ', width));
  if (value instanceof Undefined) value.fail();
  const text = textOf(value);
  if (text === undefined) {
    if (Array.isArray(value)) throw noAttribute(value, 'splitlines');
    if (value instanceof PyTuple) throw typeError('can only concatenate tuple (not "str") to tuple');
    throw typeError(`unsupported operand type(s) for +=: '${typeName(value)}' and 'str'`);
  }
  const lines = splitLines(`${text}\n`);
  const rest = lines.slice(1).map((line) => (line === '' && !truth(blank) ? line : unit + line));
  const body = [lines[0]!, ...rest].join('\n');
  const done = truth(first) ? unit + body : body;
  return value instanceof Markup ? new Markup(done) : done;
}

function truncate(value: PyValue, length: PyValue, kill: PyValue, end: PyValue, leeway: PyValue): PyValue {
  const size = intOf(length);
  const spare = leeway === null ? 5 : intOf(leeway);
  const tail = len(end);
  if (size < tail) throw new PyError('AssertionError', `expected length >= ${tail}, got ${size}`);
  if (spare < 0) throw new PyError('AssertionError', `expected leeway >= 0, got ${spare}`);
  if (len(value) <= size + spare) return value;
  const cut = slice(value, null, size - tail, null);
  if (truth(kill)) return add(cut, end);
  const text = textOf(cut);
  if (text === undefined) throw noAttribute(cut, 'rsplit');
  const at = text.lastIndexOf(' ');
  const words = at < 0 ? text : text.slice(0, at);
  return add(cut instanceof Markup ? new Markup(words) : words, end);
}

function wordwrap(
  rt: Runtime,
  value: PyValue,
  width: PyValue,
  breakWords: PyValue,
  joiner: PyValue,
  hyphens: PyValue,
): PyValue {
  const between = joiner === null ? rt.settings.newlineSequence : str(joiner);
  if (value instanceof Undefined) value.fail();
  const text = textOf(value);
  if (text === undefined) throw noAttribute(value, 'splitlines');
  return splitLines(text)
    .map((line) => wrapLine(line, intOf(width), truth(breakWords), truth(hyphens)).join(between))
    .join(between);
}

function trimFilter(value: PyValue, chars: PyValue): PyValue {
  if (chars === null) return softly(value, trim);
  const set = textOf(chars);
  if (set === undefined) throw typeError('strip arg must be None or str');
  return softly(value, (text) => stripChars(text, set));
}

function xmlattr(rt: Runtime, value: PyValue, autospace: PyValue): PyValue {
  if (value instanceof Undefined) value.fail();
  if (!(value instanceof PyDict)) throw noAttribute(value, 'items');
  const parts: string[] = [];
  for (const [key, item] of value.entries()) {
    if (item === null || item instanceof Undefined) continue;
    const name = textOf(key);
    if (name === undefined) throw typeError(`expected string or bytes-like object, got '${typeName(key)}'`);
    if (/[\s/>=]/.test(name))
      throw new PyError('ValueError', `Invalid character in attribute name: ${str(new PyTuple([name])).slice(1, -2)}`);
    parts.push(`${toMarkupText(key).text}="${toMarkupText(item).text}"`);
  }
  const text = parts.join(' ');
  const spaced = truth(autospace) && text !== '' ? ` ${text}` : text;
  return rt.frame?.context.autoescape === true ? new Markup(spaced) : spaced;
}

/** Text quoted for a URL; `query` also quotes slashes and writes blanks as plus. */
export function urlQuote(value: PyValue, query: boolean): string {
  const bytes = value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(str(value), 'utf8');
  let out = '';
  for (const byte of bytes) {
    const char = String.fromCharCode(byte);
    if (/[A-Za-z0-9_.~-]/.test(char) || (!query && char === '/')) out += char;
    else if (query && char === ' ') out += '+';
    else out += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return out;
}

const words = /[\p{L}\p{N}_]+/gu;

export const textFilters: FunctionTable = tableOf({
  capitalize: define('do_capitalize', 's', (_rt, s) => softly(s!, capitalize)),
  center: define('do_center', 'value, width=80', (_rt, value, width) =>
    softly(value!, (text) => center(text, intOf(width!))),
  ),
  e: define('escape', 's', (_rt, s) => toMarkupText(s!)),
  escape: define('escape', 's', (_rt, s) => toMarkupText(s!)),
  forceescape: define('do_forceescape', 'value', (_rt, value) => new Markup(escapeHtml(str(value!)))),
  format: defineBound('do_format', 'value, *args, **kwargs', (_rt, { values, rest, named }) =>
    format(values[0]!, rest, named),
  ),
  indent: define('do_indent', 's, width=4, first=False, blank=False', (_rt, s, width, first, blank) =>
    indent(s!, width!, first!, blank!),
  ),
  lower: define('do_lower', 's', (_rt, s) => softly(s!, (text) => text.toLowerCase())),
  replace: define(
    'do_replace',
    's, old, new, count=None',
    (rt, s, old, fresh, count) => replace(rt, s!, old!, fresh!, count!),
    { implicit: 1 },
  ),
  safe: define('do_mark_safe', 'value', (_rt, value) => new Markup(str(value!))),
  string: define('soft_str', 's', (_rt, s) => softText(s!)),
  striptags: define('do_striptags', 'value', (_rt, value) => stripTags(str(value!))),
  title: define('do_title', 's', (_rt, s) => title(s!)),
  trim: define('do_trim', 'value, chars=None', (_rt, value, chars) => trimFilter(value!, chars!)),
  truncate: define(
    'do_truncate',
    "s, length=255, killwords=False, end='...', leeway=None",
    (_rt, s, length, kill, end, leeway) => truncate(s!, length!, kill!, end!, leeway!),
    { implicit: 1 },
  ),
  upper: define('do_upper', 's', (_rt, s) => softly(s!, (text) => text.toUpperCase())),
  wordcount: define('do_wordcount', 's', (_rt, s) => (str(s!).match(words) ?? []).length),
  wordwrap: define(
    'do_wordwrap',
    's, width=79, break_long_words=True, wrapstring=None, break_on_hyphens=True',
    (rt, s, width, long, joiner, hyphens) => wordwrap(rt, s!, width!, long!, joiner!, hyphens!),
    { implicit: 1 },
  ),
  xmlattr: define('do_xmlattr', 'd, autospace=True', (rt, d, autospace) => xmlattr(rt, d!, autospace!), {
    implicit: 1,
  }),
});
