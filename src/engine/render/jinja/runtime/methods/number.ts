// The method tables of int, float and bytes.
import { overflowError, valueError } from '../../errors.ts';
import { keywords, type Method, methodTable, type MethodTable, noArguments, parsed, positional } from '../callable.ts';
import { decodeBytes } from '../encoding.ts';
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

const find = (self: Uint8Array, part: PyValue): number =>
  part instanceof Uint8Array ? Buffer.from(self).indexOf(part) : self.indexOf(intArgument(part));

const bytesList: readonly Method[] = [
  keywords('decode', ['encoding', 'errors'], 0, (self: Uint8Array, args) =>
    decodeBytes(
      self,
      args[0] === undefined ? 'utf-8' : textArgument(args[0], "decode() argument 'encoding' must be str"),
      args[1] === undefined ? 'strict' : textArgument(args[1], "decode() argument 'errors' must be str"),
    ),
  ),
  positional('hex', 0, 0, (self: Uint8Array) => Buffer.from(self).toString('hex')),
  parsed('find', 1, 1, (self: Uint8Array, args) => find(self, args[0]!)),
  parsed('startswith', 1, 1, (self: Uint8Array, args) => find(self, args[0]!) === 0),
  parsed('endswith', 1, 1, (self: Uint8Array, args) => {
    const part = args[0] instanceof Uint8Array ? args[0] : new Uint8Array();
    return Buffer.compare(self.subarray(Math.max(0, self.length - part.length)), part) === 0;
  }),
];

export const bytesMethods: MethodTable = methodTable(bytesList);
