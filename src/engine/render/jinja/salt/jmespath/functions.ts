// The functions of JMESPath.
import { PyError } from '../../errors.ts';
import { sum } from '../../filters/sequences.ts';
import { absolute, div } from '../../runtime/arith.ts';
import { contains, less } from '../../runtime/compare.ts';
import { PyDict } from '../../runtime/dict.ts';
import { len } from '../../runtime/iterate.ts';
import { textOf } from '../../runtime/markup.ts';
import { asDouble, asInt, floatOf, makeFloat, parseFloatText, parseInteger, wholeToInt } from '../../runtime/number.ts';
import { str } from '../../runtime/print.ts';
import { sorted } from '../../runtime/sort.ts';
import { codePoints } from '../../runtime/text.ts';
import { type PyValue, typeName } from '../../runtime/value.ts';
import { dumpsJson } from '../json.ts';
import { type Jmes, listOf } from './evaluate.ts';

/** An argument: a value, or an expression behind `&`. */
export type Argument = { readonly value: PyValue } | { readonly expression: Jmes };

type Kind =
  | 'number'
  | 'string'
  | 'boolean'
  | 'array'
  | 'object'
  | 'null'
  | 'unknown'
  | 'expref'
  | 'array-number'
  | 'array-string';

function kindOf(argument: Argument): Kind {
  if ('expression' in argument) return 'expref';
  const { value } = argument;
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'boolean';
  if (textOf(value) !== undefined) return 'string';
  if (asDouble(value) !== undefined) return 'number';
  return value instanceof PyDict ? 'object' : Array.isArray(value) ? 'array' : 'unknown';
}

function accepts(kind: Kind, argument: Argument): boolean {
  if (!kind.startsWith('array-')) return kindOf(argument) === kind;
  if (kindOf(argument) !== 'array') return false;
  const wanted = kind.slice(6);
  return listOf((argument as { value: PyValue }).value)!.every((item) => kindOf({ value: item }) === wanted);
}

interface Entry {
  readonly kinds: readonly (readonly Kind[])[];
  readonly variadic?: boolean;
  readonly run: (args: readonly Argument[]) => PyValue;
}

const value = (argument: Argument | undefined): PyValue => (argument as { value: PyValue }).value;
const list = (argument: Argument | undefined): PyValue[] => listOf(value(argument))!;
const text = (argument: Argument | undefined): string => textOf(value(argument))!;
const expression = (argument: Argument | undefined): Jmes => (argument as { expression: Jmes }).expression;

function best(items: readonly PyValue[], key: Jmes, wantMax: boolean): PyValue {
  let found: PyValue = null;
  let foundKey: PyValue = null;
  items.forEach((item, at) => {
    const own = key(item);
    if (at === 0 || (wantMax ? less(foundKey, own) : less(own, foundKey))) {
      found = item;
      foundKey = own;
    }
  });
  return found;
}

/** Keys must all be numbers or all be texts. */
function checkedKey(name: string, key: Jmes, items: readonly PyValue[]): Jmes {
  const kinds = new Set(items.map((item) => kindOf({ value: key(item) })));
  if (kinds.size > 1 || [...kinds].some((kind) => kind !== 'number' && kind !== 'string')) {
    throw new PyError(
      'JMESPathTypeError',
      `In function ${name}(), invalid type for value: ${str(items[0] ?? null)}, expected one of: ['number', 'string'], received: "${[...kinds][0]}"`,
    );
  }
  return key;
}

function toNumber(input: PyValue): PyValue {
  if (typeof input === 'boolean') return null;
  const string = textOf(input);
  if (string === undefined) return asDouble(input) === undefined ? null : input;
  const int = parseInteger(string);
  if (int !== undefined) return int;
  const double = parseFloatText(string);
  return double === undefined ? null : makeFloat(double);
}

function whole(input: PyValue, round: (number: number) => number): PyValue {
  const double = floatOf(input);
  return double === undefined ? (asInt(input) ?? null) : wholeToInt(round(double));
}

const compactJson = { indent: undefined, sortKeys: false, ensureAscii: true, itemSeparator: ',', keySeparator: ':' };
const one = (...kinds: Kind[]): readonly (readonly Kind[])[] => [kinds];
const any: readonly Kind[] = ['number', 'string', 'boolean', 'array', 'object', 'null', 'unknown'];

const table: Readonly<Record<string, Entry>> = {
  abs: { kinds: one('number'), run: ([a]) => absolute(value(a)) },
  avg: {
    kinds: one('array-number'),
    run: ([a]) => (list(a).length === 0 ? null : div(sum(list(a), 0), list(a).length)),
  },
  ceil: { kinds: one('number'), run: ([a]) => whole(value(a), Math.ceil) },
  floor: { kinds: one('number'), run: ([a]) => whole(value(a), Math.floor) },
  contains: {
    kinds: [['array', 'string'], any],
    run: ([a, b]) => contains(value(a), value(b)),
  },
  ends_with: { kinds: [['string'], ['string']], run: ([a, b]) => text(a).endsWith(text(b)) },
  starts_with: { kinds: [['string'], ['string']], run: ([a, b]) => text(a).startsWith(text(b)) },
  join: { kinds: [['string'], ['array-string']], run: ([a, b]) => list(b).map(str).join(text(a)) },
  keys: { kinds: one('object'), run: ([a]) => [...(value(a) as PyDict).keys()] },
  values: { kinds: one('object'), run: ([a]) => [...(value(a) as PyDict).values()] },
  length: { kinds: one('string', 'array', 'object'), run: ([a]) => len(value(a)) },
  map: { kinds: [['expref'], ['array']], run: ([a, b]) => list(b).map(expression(a)) },
  max: { kinds: one('array-number', 'array-string'), run: ([a]) => best(list(a), (item) => item, true) },
  min: { kinds: one('array-number', 'array-string'), run: ([a]) => best(list(a), (item) => item, false) },
  max_by: {
    kinds: [['array'], ['expref']],
    run: ([a, b]) => best(list(a), checkedKey('max_by', expression(b), list(a)), true),
  },
  min_by: {
    kinds: [['array'], ['expref']],
    run: ([a, b]) => best(list(a), checkedKey('min_by', expression(b), list(a)), false),
  },
  merge: {
    kinds: one('object'),
    variadic: true,
    run: (args) => PyDict.from(args.flatMap((arg) => [...(value(arg) as PyDict).entries()])),
  },
  not_null: { kinds: [any], variadic: true, run: (args) => args.map(value).find((item) => item !== null) ?? null },
  reverse: {
    kinds: one('array', 'string'),
    run: ([a]) => (kindOf(a!) === 'string' ? codePoints(text(a)).reverse().join('') : [...list(a)].reverse()),
  },
  sort: { kinds: one('array-string', 'array-number'), run: ([a]) => sorted(list(a)) },
  sort_by: {
    kinds: [['array'], ['expref']],
    run: ([a, b]) => (list(a).length === 0 ? [] : sorted(list(a), checkedKey('sort_by', expression(b), list(a)))),
  },
  sum: { kinds: one('array-number'), run: ([a]) => sum(list(a), 0) },
  to_array: { kinds: [any], run: ([a]) => (kindOf(a!) === 'array' ? value(a) : [value(a)]) },
  to_number: { kinds: [any], run: ([a]) => toNumber(value(a)) },
  to_string: {
    kinds: [any],
    run: ([a]) => textOf(value(a)) ?? dumpsJson(kindOf(a!) === 'unknown' ? str(value(a)) : value(a), compactJson),
  },
  type: { kinds: [any], run: ([a]) => (kindOf(a!) === 'unknown' ? null : kindOf(a!)) },
};

/** The member of a list that keeps it from being a list of numbers or texts. */
function oddMember(kinds: readonly Kind[], argument: Argument): PyValue | undefined {
  const typed = kinds.filter((kind) => kind.startsWith('array-')).map((kind) => kind.slice(6));
  if (typed.length === 0 || kindOf(argument) !== 'array') return undefined;
  const items = list(argument);
  const wanted = typed.find((kind) => items[0] !== undefined && kindOf({ value: items[0] }) === kind) ?? typed[0]!;
  return items.find((item) => kindOf({ value: item }) !== wanted);
}

function wrongType(name: string, shown: string, kinds: readonly Kind[], received: string): PyError {
  const list = kinds.map((kind) => `'${kind}'`).join(', ');
  const problem = `In function ${name}(), invalid type for value: ${shown}, expected one of: [${list}], received: "${received}"`;
  return new PyError('JMESPathTypeError', problem);
}

/** Calls a function after checking the number and types of its arguments. */
export function callFunction(name: string, args: readonly Argument[]): PyValue {
  const entry = Object.hasOwn(table, name) ? table[name] : undefined;
  if (entry === undefined) throw new PyError('UnknownFunctionError', `Unknown function: ${name}()`);
  const expected = entry.kinds.length;
  if (entry.variadic ? args.length < expected : args.length !== expected) {
    const least = entry.variadic ? 'at least ' : '';
    throw new PyError(
      entry.variadic ? 'VariadictArityError' : 'ArityError',
      `Expected ${least}${expected} argument${expected === 1 ? '' : 's'} for function ${name}(), received ${args.length}`,
    );
  }
  args.forEach((arg, at) => {
    const kinds = entry.kinds[Math.min(at, expected - 1)]!;
    if (kinds.some((kind) => accepts(kind, arg))) return;
    const odd = oddMember(kinds, arg);
    if (odd !== undefined) throw wrongType(name, str(odd), kinds, typeName(odd));
    const shown = 'value' in arg ? str(arg.value) : '&';
    throw wrongType(name, shown, kinds, kindOf(arg));
  });
  return entry.run(args);
}
