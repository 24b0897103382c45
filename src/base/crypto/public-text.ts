// RSA public keys in the one form in which OpenSSL, Salt and we write them. OpenSSL 3 takes 0.1 ms to find out what a text
// is, which is half of what the signature of a sign-in takes; here nothing has to be found out.
import { createPublicKey, type KeyObject } from 'node:crypto';

const whole =
  /^-----BEGIN PUBLIC KEY-----\n((?:[A-Za-z0-9+/]{64}\n)*[A-Za-z0-9+/]{1,64}={0,2})\n-----END PUBLIC KEY-----$/;
/** The algorithm: rsaEncryption, without parameters. */
const algorithm = Buffer.from('300d06092a864886f70d0101010500', 'hex');
const [sequence, bitString, integer] = [0x30, 0x03, 0x02];

/** The key in a PEM text of this form; undefined for every other text, also for keys that are written differently. */
export function plainPublicKey(text: string): KeyObject | undefined {
  const encoded = whole.exec(text)?.[1]?.replaceAll('\n', '');
  if (encoded === undefined) return undefined;
  const der = Buffer.from(encoded, 'base64');
  if (der.toString('base64') !== encoded) return undefined;
  const numbers = numbersIn(der);
  if (!numbers) return undefined;
  const [n, e] = numbers.map((number) => number.toString('base64url')) as [string, string];
  return createPublicKey({ key: { kty: 'RSA', n, e }, format: 'jwk' });
}

/** Modulus and exponent. */
function numbersIn(der: Buffer): readonly [Buffer, Buffer] | undefined {
  const outer = only(der, sequence);
  if (!outer?.subarray(0, algorithm.length).equals(algorithm)) return undefined;
  const bits = only(outer.subarray(algorithm.length), bitString);
  // No unused bits.
  const inner = bits?.[0] === 0 ? only(bits.subarray(1), sequence) : undefined;
  const first = inner && next(inner, integer);
  if (!first) return undefined;
  const second = only(first.rest, integer);
  return isPositive(first.content) && second && isPositive(second) ? [first.content, second] : undefined;
}

/** In its shortest form. */
const isPositive = (number: Buffer): boolean => {
  const [first = 0x80, second = 0] = number;
  return first < 0x80 && (first > 0 || second >= 0x80);
};

/** The content of the element that is all of these bytes. */
function only(bytes: Buffer, tag: number): Buffer | undefined {
  const found = next(bytes, tag);
  return found?.rest.length === 0 ? found.content : undefined;
}

/** The content of the first element, whose length is in its shortest form, and what follows it. */
function next(bytes: Buffer, tag: number): { readonly content: Buffer; readonly rest: Buffer } | undefined {
  const [found, first = 0x80] = bytes;
  if (found !== tag) return undefined;
  const width = first < 0x80 ? 0 : first & 0x7f;
  if (first === 0x80 || width > 2 || bytes.length < 2 + width) return undefined;
  const length = width === 0 ? first : bytes.readUIntBE(2, width);
  const isShortest = width === 0 || length >= (width === 1 ? 0x80 : 0x100);
  const start = 2 + width;
  if (!isShortest || start + length > bytes.length) return undefined;
  return { content: bytes.subarray(start, start + length), rest: bytes.subarray(start + length) };
}
