// RSA as Salt uses it: OAEP encryption and PKCS#1 v1.5 signatures, each with SHA-1 or SHA-224.
import { constants, type KeyObject, privateDecrypt, publicEncrypt, sign, verify } from 'node:crypto';
import { HaliteError } from '../errors/index.ts';

const encHashes = { 'OAEP-SHA1': 'sha1', 'OAEP-SHA224': 'sha224' } as const;
const sigHashes = { 'PKCS1v15-SHA1': 'sha1', 'PKCS1v15-SHA224': 'sha224' } as const;

export type EncAlgo = keyof typeof encHashes;
export type SigAlgo = keyof typeof sigHashes;

/** Used with peers that name no algorithm. */
export const defaultEncAlgo: EncAlgo = 'OAEP-SHA1';
export const defaultSigAlgo: SigAlgo = 'PKCS1v15-SHA1';

export function isEncAlgo(name: unknown): name is EncAlgo {
  return typeof name === 'string' && Object.hasOwn(encHashes, name);
}

export function isSigAlgo(name: unknown): name is SigAlgo {
  return typeof name === 'string' && Object.hasOwn(sigHashes, name);
}

const bytesOf = (data: Uint8Array | string): Uint8Array => (typeof data === 'string' ? Buffer.from(data) : data);

export function oaepEncrypt(key: KeyObject, data: Uint8Array | string, algo: EncAlgo = defaultEncAlgo): Buffer {
  const options = { key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: encHashes[algo] };
  try {
    return publicEncrypt(options, bytesOf(data));
  } catch (cause) {
    throw new HaliteError('crypto.key', 'Data cannot be encrypted with this key', { cause });
  }
}

export function oaepDecrypt(key: KeyObject, data: Uint8Array | string, algo: EncAlgo = defaultEncAlgo): Buffer {
  const options = { key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: encHashes[algo] };
  try {
    return privateDecrypt(options, bytesOf(data));
  } catch (cause) {
    throw new HaliteError('crypto.verify', 'Data was not encrypted for this key', { cause });
  }
}

export function signPkcs1(key: KeyObject, data: Uint8Array | string, algo: SigAlgo = defaultSigAlgo): Buffer {
  return sign(sigHashes[algo], bytesOf(data), { key, padding: constants.RSA_PKCS1_PADDING });
}

/** Whether the signature belongs to the key; false for malformed input. */
export function verifyPkcs1(
  key: KeyObject,
  data: Uint8Array | string,
  signature: Uint8Array | string,
  algo: SigAlgo = defaultSigAlgo,
): boolean {
  try {
    const options = { key, padding: constants.RSA_PKCS1_PADDING };
    return verify(sigHashes[algo], bytesOf(data), options, bytesOf(signature));
  } catch {
    return false;
  }
}

/** The content of `pub_sig` and of the signature file: base64 on one line, with newline. */
export function signKeyText(signingKey: KeyObject, keyText: string, algo: SigAlgo = defaultSigAlgo): string {
  return `${signPkcs1(signingKey, keyText, algo).toString('base64')}\n`;
}

export function verifyKeyText(
  signingKey: KeyObject,
  keyText: string,
  pubSig: Uint8Array | string,
  algo: SigAlgo = defaultSigAlgo,
): boolean {
  const text = typeof pubSig === 'string' ? pubSig : Buffer.from(pubSig).toString('latin1');
  return verifyPkcs1(signingKey, keyText, Buffer.from(text.trim(), 'base64'), algo);
}
