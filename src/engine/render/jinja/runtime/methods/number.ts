// The method tables of int and float.
import { overflowError, valueError } from '../../errors.ts';
import { keywords, type MethodTable, methodTable, noArguments } from '../callable.ts';
import { asInt, floatRepr, makeInt, wholeToInt } from '../number.ts';
import { PyTuple } from '../sequence.ts';
import { PyFloat, type PyValue } from '../value.ts';
import { intArgument, textArgument } from './support.ts';

type IntLike = number | bigint | boolean;
const big = (self: IntLike): bigint => BigInt(asInt(self)!);
const size = (value: bigint): bigint => (value < 0n ? -value : value);

function toBytes(self: IntLike, args: PyValue[]): Uint8Array {
  const length = args[0] === undefined ? 1 : intArgument(args[0]);
  const order = args[1] === undefined ? 'big' : textArgument(args[1], "to_bytes() argument 'byteorder' must be str");
  let value = big(self);
  if (value < 0n) throw overflowError("can't convert negative int to unsigned");
  const bytes = new Uint8Array(length);
  for (let at = length - 1; at >= 0; at -= 1) {
    bytes[at] = Number(value & 0xffn);
    value >>= 8n;
  }
  if (value > 0n) throw overflowError('int too big to convert');
  return order === 'little' ? bytes.reverse() : bytes;
}

export const intMethods: MethodTable = methodTable([
  noArguments('bit_length', (self: IntLike) => (big(self) === 0n ? 0 : size(big(self)).toString(2).length)),
  noArguments('bit_count', (self: IntLike) => size(big(self)).toString(2).replaceAll('0', '').length),
  noArguments('conjugate', (self: IntLike) => asInt(self)!),
  noArguments('as_integer_ratio', (self: IntLike) => new PyTuple([asInt(self)!, 1])),
  keywords('to_bytes', ['length', 'byteorder'], 0, toBytes),
]);

const plain = (self: number | PyFloat): number => (self instanceof PyFloat ? self.value : self);

function ratio(value: number): PyTuple {
  if (!Number.isFinite(value)) {
    if (Number.isNaN(value)) throw valueError('cannot convert NaN to integer ratio');
    throw overflowError('cannot convert Infinity to integer ratio');
  }
  let top = value;
  let bottom = 1n;
  while (!Number.isInteger(top)) {
    top *= 2;
    bottom *= 2n;
  }
  return new PyTuple([wholeToInt(top), makeInt(bottom)]);
}

/** `float.hex()`. */
function hex(value: number): string {
  if (!Number.isFinite(value)) return floatRepr(value);
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  let mantissa = Math.abs(value);
  if (mantissa === 0) return `${sign}0x0.0p+0`;
  let power = 0;
  while (mantissa >= 2) {
    mantissa /= 2;
    power += 1;
  }
  while (mantissa < 1 && power > -1022) {
    mantissa *= 2;
    power -= 1;
  }
  const whole = Math.floor(mantissa);
  const fraction = ((mantissa - whole) * 2 ** 52).toString(16).padStart(13, '0');
  return `${sign}0x${whole}.${fraction}p${power < 0 ? '' : '+'}${power}`;
}

export const floatMethods: MethodTable = methodTable([
  noArguments('is_integer', (self: number | PyFloat) => Number.isInteger(plain(self))),
  noArguments('hex', (self: number | PyFloat) => hex(plain(self))),
  noArguments('conjugate', (self: number | PyFloat) => self),
  noArguments('as_integer_ratio', (self: number | PyFloat) => ratio(plain(self))),
]);
