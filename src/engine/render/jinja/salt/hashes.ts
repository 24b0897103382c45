// Salt's filters for digests, Base64, HMAC and identifiers.
import { createHash, createHmac, getHashes, type Hmac, randomInt } from 'node:crypto';
import { PyError, typeError, valueError } from '../errors.ts';
import { intOf } from '../filters/support.ts';
import { define, type FunctionTable, tableOf } from '../runtime/define.ts';
import { truth } from '../runtime/iterate.ts';
import { textOf } from '../runtime/markup.ts';
import { str } from '../runtime/print.ts';
import { classText, type PyValue } from '../runtime/value.ts';

function bytesOf(value: PyValue): Buffer {
  if (value instanceof Uint8Array) return Buffer.from(value);
  const text = textOf(value);
  if (text === undefined) throw typeError(`expected str, bytes, or bytearray not ${classText(value)}`);
  return Buffer.from(text, 'utf8');
}

const digest = (algorithm: string, value: PyValue): string =>
  createHash(algorithm).update(bytesOf(value)).digest('hex');

function decodeBase64(value: PyValue): PyValue {
  const clean = bytesOf(value)
    .toString('latin1')
    .replace(/[^A-Za-z0-9+/=]/g, '');
  const body = clean.replace(/=.*$/, '');
  if (body.length % 4 === 1) {
    throw new PyError(
      'Error',
      `Invalid base64-encoded string: number of data characters (${body.length}) cannot be 1 more than a multiple of 4`,
    );
  }
  if (body.length % 4 !== 0 && !clean.slice(body.length).startsWith('='.repeat(4 - (body.length % 4)))) {
    throw new PyError('Error', 'Incorrect padding');
  }
  const bytes = Buffer.from(body, 'base64');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new Uint8Array(bytes);
  }
}

const namespace = Buffer.from('91633EBF1C865E33935A28061F4B480E', 'hex');

/** UUID version 5 in Salt's namespace. */
function uuid(value: PyValue): string {
  const hash = createHash('sha1').update(namespace).update(bytesOf(value)).digest().subarray(0, 16);
  hash[6] = (hash[6]! & 0x0f) | 0x50;
  hash[8] = (hash[8]! & 0x3f) | 0x80;
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Node's name of an algorithm that Python's hashlib offers as an attribute. */
export function algorithmOf(name: string): string | undefined {
  const wanted = name
    .replace(/^sha3_/, 'sha3-')
    .replace(/^blake2b$/, 'blake2b512')
    .replace(/^blake2s$/, 'blake2s256');
  return getHashes().includes(wanted) ? wanted : undefined;
}

function randomHash(size: PyValue, type: PyValue): string {
  const name = truth(type) ? str(type) : 'md5';
  const algorithm = algorithmOf(name);
  if (algorithm === undefined) throw new PyError('AttributeError', `module 'hashlib' has no attribute '${name}'`);
  const limit = intOf(size);
  if (limit < 0) throw valueError(`empty range for randrange() (0, ${limit + 1}, ${limit + 1})`);
  return createHash(algorithm)
    .update(String(randomInt(0, Math.min(limit + 1, 2 ** 47))))
    .digest('hex');
}

function signed(value: PyValue, secret: PyValue): Hmac {
  const message = bytesOf(value);
  return createHmac('sha256', bytesOf(secret)).update(message);
}

export const hashFilters: FunctionTable = tableOf({
  md5: define('md5_digest', 'instr', (_rt, value) => digest('md5', value!)),
  sha1: define('sha1_digest', 'instr', (_rt, value) => digest('sha1', value!)),
  sha256: define('sha256_digest', 'instr', (_rt, value) => digest('sha256', value!)),
  sha512: define('sha512_digest', 'instr', (_rt, value) => digest('sha512', value!)),
  base64_encode: define('base64_b64encode', 'instr', (_rt, value) => bytesOf(value!).toString('base64')),
  base64_decode: define('base64_b64decode', 'instr', (_rt, value) => decodeBase64(value!)),
  hmac: define(
    'hmac_signature',
    'string, shared_secret, challenge_hmac',
    (_rt, value, secret, challenge) =>
      signed(value!, secret!).digest('base64') === bytesOf(challenge!).toString('latin1'),
  ),
  hmac_compute: define('hmac_compute', 'string, shared_secret', (_rt, value, secret) =>
    signed(value!, secret!).digest('hex'),
  ),
  uuid: define('uuid_', 'val', (_rt, value) => uuid(value!)),
  rand_str: define('random_hash', 'size=9999999999, hash_type=None', (_rt, size, type) => randomHash(size!, type!)),
  random_hash: define('random_hash', 'size=9999999999, hash_type=None', (_rt, size, type) => randomHash(size!, type!)),
});
