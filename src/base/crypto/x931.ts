// X9.31 "private encryption" based on the raw RSA operation, because OpenSSL 3 no longer provides it.
import {
  constants,
  createPublicKey,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
  timingSafeEqual,
} from 'node:crypto';
import { HaliteError } from '../errors/index.ts';

interface Modulus {
  readonly size: number;
  readonly value: bigint;
}

const moduli = new WeakMap<KeyObject, Modulus>();
const provenTokens = new WeakMap<KeyObject, Uint8Array>();
const tokenText = Buffer.from('salt');

const toBig = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
const fromBig = (value: bigint, size: number): Buffer => Buffer.from(value.toString(16).padStart(size * 2, '0'), 'hex');

function modulusOf(key: KeyObject): Modulus {
  const known = moduli.get(key);
  if (known) return known;
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const bytes = Buffer.from(publicKey.export({ format: 'jwk' }).n ?? '', 'base64url');
  if (bytes.length === 0) throw new HaliteError('crypto.key', 'Not an RSA key');
  const modulus = { size: bytes.length, value: toBig(bytes) };
  moduli.set(key, modulus);
  return modulus;
}

export function x931Sign(key: KeyObject, message: Uint8Array): Buffer {
  const { size, value } = modulusOf(key);
  const padding = size - message.length - 2;
  if (padding < 0) throw new HaliteError('crypto.key', 'A message is too long for this key');
  const block = Buffer.alloc(size, 0xbb);
  block[0] = padding === 0 ? 0x6a : 0x6b;
  if (padding > 0) block[padding] = 0xba;
  block.set(message, size - message.length - 1);
  block[size - 1] = 0xcc;
  const signed = toBig(privateDecrypt({ key, padding: constants.RSA_NO_PADDING }, block));
  return fromBig(signed * 2n > value ? value - signed : signed, size);
}

/** The recovered message; throws 'crypto.verify' when the block was not made with this key. */
export function x931Recover(key: KeyObject, signature: Uint8Array): Buffer {
  const { size, value } = modulusOf(key);
  if (signature.length !== size) throw refused('has the wrong length');
  let block: Buffer;
  try {
    block = publicEncrypt({ key, padding: constants.RSA_NO_PADDING }, signature);
  } catch {
    throw refused('is not below the modulus');
  }
  // The signer sent min(r, n - r): the true block is the one that ends in 12.
  if (((block[size - 1] as number) & 15) !== 12) block = fromBig(value - toBig(block), size);
  if (block[size - 1] !== 0xcc) throw refused('has a wrong trailer');
  if (block[0] === 0x6a) return block.subarray(1, size - 1);
  let at = 1;
  while (block[at] === 0xbb) at++;
  if (block[0] !== 0x6b || block[at] !== 0xba) throw refused('has wrong padding');
  return block.subarray(at + 1, size - 1);
}

const refused = (why: string): HaliteError => new HaliteError('crypto.verify', `A token or key signature ${why}`);

/** A minion's `tok`: the word `salt`, encrypted with its private key. Constant per key. */
export function makeToken(key: KeyObject): Buffer {
  return x931Sign(key, tokenText);
}

/** Whether `tok` was made with this key. The token is constant, so one that was verified before is only compared. */
export function verifyToken(key: KeyObject, token: Uint8Array): boolean {
  const proven = provenTokens.get(key);
  if (proven && proven.length === token.length && timingSafeEqual(proven, token)) return true;
  try {
    if (!x931Recover(key, token).equals(tokenText)) return false;
  } catch {
    return false;
  }
  provenTokens.set(key, new Uint8Array(token));
  return true;
}
