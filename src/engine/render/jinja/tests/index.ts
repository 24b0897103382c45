// All tests of Jinja itself.
import { isPyError } from '../errors.ts';
import { mod } from '../runtime/arith.ts';
import type { PyFunction } from '../runtime/callable.ts';
import { isCallable } from '../runtime/callable.ts';
import { contains, eq, identical, type Order, ordered } from '../runtime/compare.ts';
import { define, type FunctionTable, tableOf } from '../runtime/define.ts';
import { DictView, PyDict } from '../runtime/dict.ts';
import { hashKey } from '../runtime/hash.ts';
import { lengthOf, tryIterate } from '../runtime/iterate.ts';
import { isText, Markup, textOf } from '../runtime/markup.ts';
import { isLower, isUpper } from '../runtime/methods/str-case.ts';
import { asDouble, isFloat, isInt } from '../runtime/number.ts';
import { TemplateModule } from '../runtime/objects.ts';
import { str } from '../runtime/print.ts';
import { PySet } from '../runtime/set.ts';
import { Undefined } from '../runtime/undefined.ts';
import { PyObject, type PyValue } from '../runtime/value.ts';

/** True when `len()` and subscripts work; a set has no subscripts. */
function isSequence(value: PyValue): boolean {
  if (value instanceof Undefined) return !value.strict;
  if (lengthOf(value) === undefined) return false;
  return !(
    value instanceof PySet ||
    value instanceof DictView ||
    (value instanceof PyObject && !value.subscriptable())
  );
}

function isIterable(value: PyValue): boolean {
  try {
    return tryIterate(value) !== undefined;
  } catch (error) {
    // A strict undefined raises its own error, which is no TypeError and so goes through.
    if (isPyError(error, 'TypeError')) return false;
    throw error;
  }
}

const ordering = (op: Order): PyFunction => define(op, 'a, b', (_rt, a, b) => ordered(op, a!, b!));
const equal = define('eq', 'a, b', (_rt, a, b) => eq(a!, b!));
const unequal = define('ne', 'a, b', (_rt, a, b) => !eq(a!, b!));
const less = ordering('<');
const lessEqual = ordering('<=');
const greater = ordering('>');
const greaterEqual = ordering('>=');

function knows(table: ReadonlyMap<string, unknown>, name: PyValue): boolean {
  hashKey(name);
  const text = textOf(name);
  return text !== undefined && table.has(text);
}

export const jinjaTests: FunctionTable = tableOf({
  odd: define('test_odd', 'value', (_rt, value) => eq(mod(value!, 2), 1)),
  even: define('test_even', 'value', (_rt, value) => eq(mod(value!, 2), 0)),
  divisibleby: define('test_divisibleby', 'value, num', (_rt, value, num) => eq(mod(value!, num!), 0)),
  defined: define('test_defined', 'value', (_rt, value) => !(value instanceof Undefined)),
  undefined: define('test_undefined', 'value', (_rt, value) => value instanceof Undefined),
  filter: define('test_filter', 'value', (rt, value) => knows(rt.settings.filters, value!), { implicit: 1 }),
  test: define('test_test', 'value', (rt, value) => knows(rt.settings.tests, value!), { implicit: 1 }),
  none: define('test_none', 'value', (_rt, value) => value === null),
  boolean: define('test_boolean', 'value', (_rt, value) => typeof value === 'boolean'),
  false: define('test_false', 'value', (_rt, value) => value === false),
  true: define('test_true', 'value', (_rt, value) => value === true),
  integer: define('test_integer', 'value', (_rt, value) => isInt(value!)),
  float: define('test_float', 'value', (_rt, value) => isFloat(value!)),
  lower: define('test_lower', 'value', (_rt, value) => isLower(str(value!))),
  upper: define('test_upper', 'value', (_rt, value) => isUpper(str(value!))),
  string: define('test_string', 'value', (_rt, value) => isText(value!)),
  mapping: define('test_mapping', 'value', (_rt, value) => value instanceof PyDict),
  number: define('test_number', 'value', (_rt, value) => asDoubleQuietly(value!)),
  sequence: define('test_sequence', 'value', (_rt, value) => isSequence(value!)),
  iterable: define('test_iterable', 'value', (_rt, value) => isIterable(value!)),
  callable: define('callable', 'obj', (_rt, value) => isCallable(value!)),
  sameas: define('test_sameas', 'value, other', (_rt, value, other) => identical(value!, other!)),
  escaped: define('test_escaped', 'value', (_rt, value) => value instanceof Markup || value instanceof TemplateModule),
  in: define('test_in', 'value, seq', (_rt, value, seq) => contains(seq!, value!)),
  '==': equal,
  eq: equal,
  equalto: equal,
  '!=': unequal,
  ne: unequal,
  '>': greater,
  gt: greater,
  greaterthan: greater,
  '>=': greaterEqual,
  ge: greaterEqual,
  '<': less,
  lt: less,
  lessthan: less,
  '<=': lessEqual,
  le: lessEqual,
});

function asDoubleQuietly(value: PyValue): boolean {
  return typeof value === 'bigint' || asDouble(value) !== undefined;
}
