// The arithmetic operators, with Python's results, promotions and error texts.
import { memoryError, overflowError, type PyError, typeError, valueError, zeroDivision } from '../errors.ts';
import { contains, isSetLike, setItems } from './compare.ts';
import { toArray } from './iterate.ts';
import { escapeHtml, isText, Markup, textOf } from './markup.ts';
import { asDouble, asInt, floatOf, makeFloat, makeInt, type PyInt } from './number.ts';
import { percentFormat, percentMarkup } from './percent.ts';
import { floatPower } from './power.ts';
import { str } from './print.ts';
import { PyTuple } from './sequence.ts';
import { PySet } from './set.ts';
import { Undefined } from './undefined.ts';
import { type PyValue, typeName } from './value.ts';

const maxRepeat = 1 << 28;
/** Ints beyond four million bits would only consume CPU time. */
const hugeBits = 4_000_000;

function refuseHuge(value: bigint): bigint {
  if (BigInt.asIntN(hugeBits + 1, value) !== value) throw memoryError();
  return value;
}

function unsupported(op: string, a: PyValue, b: PyValue): PyError {
  return typeError(`unsupported operand type(s) for ${op}: '${typeName(a)}' and '${typeName(b)}'`);
}

type IntOp = (a: bigint, b: bigint) => bigint;
type FloatOp = (a: number, b: number) => number;

/** Applies an operator to two Python numbers; undefined when one of them is not a number. */
function numbers(a: PyValue, b: PyValue, ints: IntOp, floats: FloatOp): PyValue | undefined {
  if (a instanceof Undefined) a.fail();
  if (b instanceof Undefined) b.fail();
  const left = asInt(a);
  const right = asInt(b);
  if (left !== undefined && right !== undefined) {
    if (typeof left === 'number' && typeof right === 'number') {
      const quick = floats(left, right);
      if (Number.isSafeInteger(quick)) return quick + 0;
    }
    return makeInt(refuseHuge(ints(BigInt(left), BigInt(right))));
  }
  const x = asDouble(a);
  const y = asDouble(b);
  return x === undefined || y === undefined ? undefined : makeFloat(floats(x, y));
}

export function add(a: PyValue, b: PyValue): PyValue {
  if (typeof a === 'string' && typeof b === 'string') return a + b;
  const sum = numbers(
    a,
    b,
    (x, y) => x + y,
    (x, y) => x + y,
  );
  if (sum !== undefined) return sum;
  if (isText(a) && isText(b) && (a instanceof Markup || b instanceof Markup)) return addMarkup(a, b);
  if (Array.isArray(a)) {
    if (Array.isArray(b)) return [...a, ...b];
    throw typeError(`can only concatenate list (not "${typeName(b)}") to list`);
  }
  if (a instanceof PyTuple) {
    if (b instanceof PyTuple) return new PyTuple([...a.items, ...b.items]);
    throw typeError(`can only concatenate tuple (not "${typeName(b)}") to tuple`);
  }
  if (a instanceof Uint8Array) {
    if (b instanceof Uint8Array) return new Uint8Array(Buffer.concat([a, b]));
    throw typeError(`can't concat ${typeName(b)} to bytes`);
  }
  if (typeof a === 'string') throw typeError(`can only concatenate str (not "${typeName(b)}") to str`);
  throw unsupported('+', a, b);
}

function addMarkup(a: PyValue, b: PyValue): PyValue {
  const safe = (value: PyValue): string => (value instanceof Markup ? value.text : escapeHtml(str(value)));
  return new Markup(safe(a) + safe(b));
}

export function sub(a: PyValue, b: PyValue): PyValue {
  const difference = numbers(
    a,
    b,
    (x, y) => x - y,
    (x, y) => x - y,
  );
  if (difference !== undefined) return difference;
  if (a instanceof PySet && b instanceof PySet) return new PySet(setItems(a).filter((item) => !b.has(item)));
  if (isSetLike(a) && !(a instanceof PySet)) {
    const other = isSetLike(b) ? b : new PySet(toArray(b));
    return new PySet(setItems(a).filter((item) => !contains(other, item)));
  }
  throw unsupported('-', a, b);
}

export function mul(a: PyValue, b: PyValue): PyValue {
  if (a instanceof Markup && asInt(b) === undefined) {
    throw typeError(`'${typeName(b)}' object cannot be interpreted as an integer`);
  }
  // Markup also has its own product from the right.
  if (b instanceof Markup && !(a instanceof Undefined) && asInt(a) === undefined) {
    throw typeError(`'${typeName(a)}' object cannot be interpreted as an integer`);
  }
  const product = numbers(
    a,
    b,
    (x, y) => x * y,
    (x, y) => x * y,
  );
  if (product !== undefined) return product;
  if (isSequence(a)) return repeat(a, b);
  if (isSequence(b)) return repeat(b, a);
  throw unsupported('*', a, b);
}

function isSequence(value: PyValue): boolean {
  return isText(value) || Array.isArray(value) || value instanceof PyTuple || value instanceof Uint8Array;
}

function repeat(value: PyValue, times: PyValue): PyValue {
  const count = asInt(times);
  if (count === undefined) throw typeError(`can't multiply sequence by non-int of type '${typeName(times)}'`);
  if (count > 0x7fffffffffffffffn || count < -0x8000000000000000n) {
    throw overflowError("cannot fit 'int' into an index-sized integer");
  }
  const number = Math.max(0, Number(count));
  const text = textOf(value);
  if (text !== undefined) {
    if (text.length * number > maxRepeat) throw memoryError();
    const repeated = text.repeat(text === '' ? 0 : number);
    return value instanceof Markup ? new Markup(repeated) : repeated;
  }
  if (value instanceof Uint8Array) {
    if (value.length * number > maxRepeat) throw memoryError();
    return new Uint8Array(Buffer.concat(Array.from({ length: number }, () => value)));
  }
  const items = toArray(value);
  if (items.length * number > maxRepeat >> 3) throw memoryError();
  const out: PyValue[] = [];
  if (items.length > 0) for (let round = 0; round < number; round += 1) for (const item of items) out.push(item);
  return value instanceof PyTuple ? new PyTuple(out) : out;
}

export function div(a: PyValue, b: PyValue): PyValue {
  if (a instanceof Undefined) a.fail();
  if (b instanceof Undefined) b.fail();
  const left = asInt(a);
  const right = asInt(b);
  if (left !== undefined && right !== undefined) {
    if (Number(right) === 0) throw zeroDivision('division by zero');
    if (typeof left === 'number' && typeof right === 'number') return makeFloat(left / right);
    return makeFloat(divideBig(BigInt(left), BigInt(right)));
  }
  const x = asDouble(a);
  const y = asDouble(b);
  if (x === undefined || y === undefined) throw unsupported('/', a, b);
  if (y === 0) throw zeroDivision('float division by zero');
  return makeFloat(x / y);
}

/** Quotient of big ints rounded once: 64 extra bits and a sticky bit make Number() round correctly. */
function divideBig(a: bigint, b: bigint): number {
  const negative = a < 0n !== b < 0n;
  const top = a < 0n ? -a : a;
  const bottom = b < 0n ? -b : b;
  const shift = Math.max(0, 66 - (top.toString(2).length - bottom.toString(2).length));
  const scaled = top << BigInt(shift);
  let quotient = scaled / bottom;
  if (quotient * bottom !== scaled) quotient = (quotient << 1n) | 1n;
  else quotient <<= 1n;
  const result = Number(quotient) * 2 ** -(shift + 1);
  if (!Number.isFinite(result)) throw overflowError('integer division result too large for a float');
  return negative ? -result : result;
}

function floorInt(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient;
}

export function floordiv(a: PyValue, b: PyValue): PyValue {
  if (a instanceof Undefined) a.fail();
  if (b instanceof Undefined) b.fail();
  const left = asInt(a);
  const right = asInt(b);
  if (left !== undefined && right !== undefined) {
    if (Number(right) === 0) throw zeroDivision('integer division or modulo by zero');
    return makeInt(floorInt(BigInt(left), BigInt(right)));
  }
  const x = asDouble(a);
  const y = asDouble(b);
  if (x === undefined || y === undefined) throw unsupported('//', a, b);
  if (y === 0) throw zeroDivision('float floor division by zero');
  return makeFloat(floatDivmod(x, y)[0]);
}

/** Floor quotient and remainder of doubles, sign of zero included. */
function floatDivmod(x: number, y: number): [number, number] {
  let mod = x % y;
  let quotient = (x - mod) / y;
  if (mod !== 0) {
    if (y < 0 !== mod < 0) {
      mod += y;
      quotient -= 1;
    }
  } else mod = y < 0 ? -0 : 0;
  let floor = Math.floor(quotient);
  if (quotient !== 0 && quotient - floor > 0.5) floor += 1;
  if (quotient === 0) floor = x / y < 0 || Object.is(x / y, -0) ? -0 : 0;
  return [floor, mod];
}

export function mod(a: PyValue, b: PyValue): PyValue {
  if (typeof a === 'string') return percentFormat(a, b);
  if (a instanceof Markup) return new Markup(percentMarkup(a.text, b));
  if (a instanceof Undefined) a.fail();
  if (b instanceof Undefined) b.fail();
  const left = asInt(a);
  const right = asInt(b);
  if (left !== undefined && right !== undefined) {
    if (Number(right) === 0) throw zeroDivision('integer modulo by zero');
    return modInt(left, right);
  }
  const x = asDouble(a);
  const y = asDouble(b);
  if (x === undefined || y === undefined) throw unsupported('%', a, b);
  if (y === 0) throw zeroDivision('float modulo');
  return makeFloat(floatDivmod(x, y)[1]);
}

function modInt(a: PyInt, b: PyInt): PyInt {
  if (typeof a === 'number' && typeof b === 'number') {
    const rest = a % b;
    return (rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest) + 0;
  }
  const divisor = BigInt(b);
  const rest = BigInt(a) % divisor;
  return makeInt(rest !== 0n && rest < 0n !== divisor < 0n ? rest + divisor : rest);
}

export function pow(a: PyValue, b: PyValue): PyValue {
  if (a instanceof Undefined) a.fail();
  if (b instanceof Undefined) b.fail();
  const base = asInt(a);
  const power = asInt(b);
  if (base !== undefined && power !== undefined && power >= 0) return powInt(base, power);
  const x = asDouble(a);
  const y = asDouble(b);
  if (x === undefined || y === undefined) throw unsupported('** or pow()', a, b);
  if (x === 0 && y < 0) throw zeroDivision('0.0 cannot be raised to a negative power');
  if (x < 0 && !Number.isInteger(y) && Number.isFinite(y))
    throw valueError('a power with a complex result is not supported');
  const result = x === 1 || y === 0 ? 1 : floatPower(x, y);
  if (!Number.isFinite(result) && Number.isFinite(x) && Number.isFinite(y)) {
    throw overflowError("(34, 'Numerical result out of range')");
  }
  return makeFloat(result);
}

function powInt(base: PyInt, power: PyInt): PyValue {
  const quick = Number(base) ** Number(power);
  if (Number.isSafeInteger(quick)) return quick + 0;
  const big = BigInt(base);
  const bits = (big < 0n ? -big : big).toString(2).length;
  if (bits * Number(power) > 4_000_000) throw memoryError();
  return makeInt(big ** BigInt(power));
}

export function negate(value: PyValue): PyValue {
  if (value instanceof Undefined) value.fail();
  const int = asInt(value);
  if (int !== undefined) return typeof int === 'number' ? -int + 0 : makeInt(-int);
  const double = floatOf(value);
  if (double === undefined) throw typeError(`bad operand type for unary -: '${typeName(value)}'`);
  return makeFloat(-double);
}

export function positive(value: PyValue): PyValue {
  if (value instanceof Undefined) value.fail();
  const int = asInt(value);
  if (int !== undefined) return int;
  if (floatOf(value) === undefined) throw typeError(`bad operand type for unary +: '${typeName(value)}'`);
  return value;
}

/** `abs(x)`. */
export function absolute(value: PyValue): PyValue {
  if (value instanceof Undefined) throw typeError(`bad operand type for abs(): '${typeName(value)}'`);
  const int = asInt(value);
  if (int !== undefined) return int < 0 ? negate(int) : int;
  const double = floatOf(value);
  if (double === undefined) throw typeError(`bad operand type for abs(): '${typeName(value)}'`);
  return makeFloat(Math.abs(double));
}
