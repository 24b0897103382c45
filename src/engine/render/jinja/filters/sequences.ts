// Built-in filters on sequences and mappings.
import { filterArgumentError, PyError, typeError } from '../errors.ts';
import { getAttribute, plainAttribute } from '../runtime/access.ts';
import { add } from '../runtime/arith.ts';
import { eq } from '../runtime/compare.ts';
import { define, type FunctionTable, tableOf } from '../runtime/define.ts';
import { DictView, PyDict } from '../runtime/dict.ts';
import { hasInternal } from '../runtime/internals.ts';
import { each, iterate, len, reversed, toArray, truth, tryIterate } from '../runtime/iterate.ts';
import { escapeHtml, Markup, textOf } from '../runtime/markup.ts';
import { str } from '../runtime/print.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { GroupTuple, generator, PyTuple } from '../runtime/sequence.ts';
import { sorted } from '../runtime/sort.ts';
import { codePoints } from '../runtime/text.ts';
import { noAttribute, Undefined } from '../runtime/undefined.ts';
import { type PyValue, typeName } from '../runtime/value.ts';
import { attributeGetter, caseOption, intOf, multiGetter } from './support.ts';

function* batch(value: PyValue, count: PyValue, fill: PyValue): Generator<PyValue> {
  let row: PyValue[] = [];
  for (const item of each(value)) {
    if (eq(row.length, count)) {
      yield row;
      row = [];
    }
    row.push(item);
  }
  if (row.length === 0) return;
  if (fill !== null) for (let missing = intOf(count) - row.length; missing > 0; missing -= 1) row.push(fill);
  yield row;
}

function* slices(value: PyValue, count: PyValue, fill: PyValue): Generator<PyValue> {
  const items = toArray(value);
  const total = intOf(count);
  if (total === 0) throw new PyError('ZeroDivisionError', 'integer division or modulo by zero');
  const size = Math.floor(items.length / total);
  const extra = ((items.length % total) + total) % total;
  let offset = 0;
  for (let at = 0; at < total; at += 1) {
    const start = offset + at * size;
    if (at < extra) offset += 1;
    const part = items.slice(start, offset + (at + 1) * size);
    if (fill !== null && at >= extra) part.push(fill);
    yield part;
  }
}

function first(rt: Runtime, value: PyValue): PyValue {
  const step = iterate(value).next();
  return step.done ? rt.undefined({ hint: 'No first item, sequence was empty.' }) : step.value;
}

function last(rt: Runtime, value: PyValue): PyValue {
  if (value instanceof Undefined && value.strict) value.fail();
  const source = reversed(value);
  if (source === undefined) throw typeError(`'${typeName(value)}' object is not reversible`);
  const step = source.next();
  return step.done ? rt.undefined({ hint: 'No last item, sequence was empty.' }) : step.value;
}

function random(rt: Runtime, value: PyValue): PyValue {
  if (len(value) === 0) return rt.undefined({ hint: 'No random item, sequence was empty.' });
  if (typeName(value) === 'set') throw typeError("'set' object is not subscriptable");
  const at = Math.floor(Math.random() * len(value));
  if (!(value instanceof PyDict)) return toArray(value)[at]!;
  const found = value.get(at);
  if (found === undefined) throw new PyError('KeyError', String(at));
  return found;
}

function join(rt: Runtime, value: PyValue, delimiter: PyValue, attribute: PyValue): PyValue {
  const get = attribute === null ? undefined : attributeGetter(rt, attribute);
  const items =
    Array.isArray(value) && get === undefined
      ? value
      : toArray(value).map((item) => (get === undefined ? item : get(item)));
  const escaping =
    rt.frame?.context.autoescape === true &&
    (delimiter instanceof Markup || items.some((item) => item instanceof Markup));
  if (escaping) {
    const safe = (item: PyValue): string => (item instanceof Markup ? item.text : escapeHtml(str(item)));
    return new Markup(items.map(safe).join(safe(delimiter)));
  }
  const separator = str(delimiter);
  let out = '';
  for (let at = 0; at < items.length; at += 1) out += at === 0 ? str(items[at]!) : separator + str(items[at]!);
  return out;
}

function reverse(value: PyValue): PyValue {
  const text = textOf(value);
  if (text !== undefined) {
    const turned = codePoints(text).reverse().join('');
    return value instanceof Markup ? new Markup(turned) : turned;
  }
  if (value instanceof Undefined && value.strict) value.fail();
  const source = reversed(value);
  if (source !== undefined) return source;
  if (tryIterate(value) === undefined) throw filterArgumentError('argument must be iterable');
  return toArray(value).reverse();
}

function dictsort(rt: Runtime, value: PyValue, caseSensitive: PyValue, by: PyValue, backwards: PyValue): PyValue {
  const which = textOf(by);
  if (which !== 'key' && which !== 'value') throw filterArgumentError('You can only sort by either "key" or "value"');
  if (!(value instanceof PyDict)) {
    if (value instanceof Undefined) value.fail();
    if (plainAttribute(rt, value, 'items') === undefined) {
      throw noAttribute(value, 'items');
    }
  }
  const items = [...(value as PyDict).entries()].map((entry) => new PyTuple(entry));
  const at = which === 'key' ? 0 : 1;
  const finish = caseOption(truth(caseSensitive));
  return sorted(items, (item) => finish((item as PyTuple).items[at]!), truth(backwards));
}

function sort(rt: Runtime, value: PyValue, backwards: PyValue, caseSensitive: PyValue, attribute: PyValue): PyValue {
  const key = multiGetter(rt, attribute, caseOption(truth(caseSensitive)));
  return sorted(toArray(value), key, truth(backwards));
}

function groupby(rt: Runtime, value: PyValue, attribute: PyValue, fallback: PyValue, caseSensitive: PyValue): PyValue {
  const exact = truth(caseSensitive);
  const key = attributeGetter(rt, attribute, caseOption(exact), fallback);
  const shown = exact ? key : attributeGetter(rt, attribute, undefined, fallback);
  const groups: { key: PyValue; items: PyValue[] }[] = [];
  for (const item of sorted(toArray(value), key)) {
    const own = key(item);
    const open = groups.at(-1);
    if (open !== undefined && eq(open.key, own)) open.items.push(item);
    else groups.push({ key: own, items: [item] });
  }
  return groups.map(({ items }) => new GroupTuple(shown(items[0]!), items));
}

/** `sum(items, start)`. */
export function sum(items: Iterable<PyValue>, start: PyValue): PyValue {
  if (textOf(start) !== undefined) throw typeError("sum() can't sum strings [use ''.join(seq) instead]");
  let total = start;
  for (const item of items) total = add(total, item);
  return total;
}

function sumFilter(rt: Runtime, value: PyValue, attribute: PyValue, start: PyValue): PyValue {
  const get = attribute === null ? undefined : attributeGetter(rt, attribute);
  const items = toArray(value);
  return sum(get === undefined ? items : items.map(get), start);
}

function* items(value: PyValue): Generator<PyValue> {
  if (value instanceof Undefined) return;
  if (!(value instanceof PyDict)) throw typeError('Can only get item pairs from a mapping.');
  yield* each(new DictView(value, 'items'));
}

function attr(rt: Runtime, value: PyValue, name: PyValue): PyValue {
  const text = str(name);
  if (textOf(name) === undefined) throw typeError(`attribute name must be string, not '${typeName(name)}'`);
  if (value instanceof Undefined || hasInternal(value, text) || plainAttribute(rt, value, text) !== undefined) {
    return getAttribute(rt, value, text);
  }
  return rt.undefined({ owner: value, name });
}

function fallback(value: PyValue, other: PyValue, boolean: PyValue): PyValue {
  if (value instanceof Undefined) return other;
  return truth(boolean) && !truth(value) ? other : value;
}

const length = define('len', 'obj', (_rt, value) => len(value!));
const useDefault = define('do_default', "value, default_value='', boolean=False", (_rt, value, other, boolean) =>
  fallback(value!, other!, boolean!),
);

export const sequenceFilters: FunctionTable = tableOf({
  attr: define('do_attr', 'obj, name', (rt, obj, name) => attr(rt, obj!, name!), { implicit: 1 }),
  batch: define('do_batch', 'value, linecount, fill_with=None', (_rt, value, count, fill) =>
    generator('do_batch', batch(value!, count!, fill!)),
  ),
  count: length,
  d: useDefault,
  default: useDefault,
  dictsort: define(
    'do_dictsort',
    "value, case_sensitive=False, by='key', reverse=False",
    (rt, value, cased, by, back) => dictsort(rt, value!, cased!, by!, back!),
  ),
  first: define('sync_do_first', 'seq', (rt, seq) => first(rt, seq!), { implicit: 1 }),
  groupby: define(
    'sync_do_groupby',
    'value, attribute, default=None, case_sensitive=False',
    (rt, value, by, other, cased) => groupby(rt, value!, by!, other!, cased!),
    { implicit: 1 },
  ),
  items: define('do_items', 'value', (_rt, value) => generator('do_items', items(value!))),
  join: define(
    'sync_do_join',
    "value, d='', attribute=None",
    (rt, value, d, attribute) => join(rt, value!, d!, attribute!),
    { implicit: 1 },
  ),
  last: define('do_last', 'seq', (rt, seq) => last(rt, seq!), { implicit: 1 }),
  length,
  list: define('sync_do_list', 'value', (_rt, value) => toArray(value!)),
  random: define('do_random', 'seq', (rt, seq) => random(rt, seq!), { implicit: 1 }),
  reverse: define('do_reverse', 'value', (_rt, value) => reverse(value!)),
  slice: define('sync_do_slice', 'value, slices, fill_with=None', (_rt, value, count, fill) =>
    generator('sync_do_slice', slices(value!, count!, fill!)),
  ),
  sort: define(
    'do_sort',
    'value, reverse=False, case_sensitive=False, attribute=None',
    (rt, value, back, cased, by) => sort(rt, value!, back!, cased!, by!),
    { implicit: 1 },
  ),
  sum: define(
    'sync_do_sum',
    'iterable, attribute=None, start=0',
    (rt, value, by, start) => sumFilter(rt, value!, by!, start!),
    { implicit: 1 },
  ),
});
