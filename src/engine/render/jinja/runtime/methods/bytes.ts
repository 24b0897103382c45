// The method table of bytes: the methods of str on text in which every character is one byte.
import { typeError } from '../../errors.ts';
import { keywords, type Method, type MethodTable, methodTable, positional } from '../callable.ts';
import { decodeBytes } from '../encoding.ts';
import { toArray } from '../iterate.ts';
import { isText } from '../markup.ts';
import { PyTuple } from '../sequence.ts';
import type { PyValue } from '../value.ts';
import { strMethods } from './str.ts';
import { textArgument } from './support.ts';

const shared =
  'upper lower title capitalize swapcase islower isupper istitle isalpha isdigit isalnum isspace isascii center ljust rjust zfill expandtabs find rfind index rindex count startswith endswith split rsplit splitlines partition rpartition join replace strip lstrip rstrip removeprefix removesuffix';

const toText = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const toBytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));

function argument(value: PyValue): PyValue {
  if (value instanceof Uint8Array) return toText(value);
  if (isText(value)) throw typeError("a bytes-like object is required, not 'str'");
  if (value instanceof PyTuple) return new PyTuple(value.items.map(argument));
  return value;
}

function result(value: PyValue): PyValue {
  if (typeof value === 'string') return toBytes(value);
  if (Array.isArray(value)) return value.map(result);
  return value instanceof PyTuple ? new PyTuple(value.items.map(result)) : value;
}

function bytesMethod(name: string): Method {
  const entry = strMethods.get(name)!;
  return {
    ...entry,
    run: (self, args, rt, kwargs) => {
      const given = name === 'join' ? [toArray(args[0]!)] : args;
      const text = name === 'join' ? [(given[0] as PyValue[]).map(argument)] : given.map(argument);
      return result(entry.run(toText(self as Uint8Array), text, rt, kwargs) as PyValue);
    },
  };
}

export const bytesMethods: MethodTable = methodTable([
  ...shared.split(' ').map(bytesMethod),
  keywords('decode', ['encoding', 'errors'], 0, (self: Uint8Array, args) =>
    decodeBytes(
      self,
      args[0] === undefined ? 'utf-8' : textArgument(args[0], "decode() argument 'encoding' must be str"),
      args[1] === undefined ? 'strict' : textArgument(args[1], "decode() argument 'errors' must be str"),
    ),
  ),
  positional('hex', 0, 0, (self: Uint8Array) => Buffer.from(self).toString('hex')),
]);
