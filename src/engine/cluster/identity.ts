// The identity of a member: an X25519 key pair in its own pki_dir. What others seal for its public half only it can open.
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { HaliteError, messageOf } from '../../base/errors/index.ts';

export const identityFile = 'cluster_identity.pem';
export const publicBytes = 32;
const tagBytes = 16;
/** What X.509 puts before the 32 bytes of such a key. */
const prefix = Buffer.from('302a300506032b656e032100', 'hex');
/** Every seal has a key of its own, made for it. */
const nonce = Buffer.alloc(12);

export interface Identity {
  readonly publicKey: Uint8Array;
  /** Undefined for bytes that were not sealed for this identity and this purpose. */
  open(purpose: string, sealed: Uint8Array): Buffer | undefined;
}

export function newIdentityPem(): string {
  return generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

export function identityOf(pem: string): Identity {
  const privateKey = createPrivateKey(pem);
  if (privateKey.asymmetricKeyType !== 'x25519') throw new Error('it is no X25519 key');
  const publicKey = rawOf(createPublicKey(privateKey));
  return { publicKey, open: (purpose, sealed) => openSealed(privateKey, publicKey, purpose, sealed) };
}

/** Throws `crypto.key` for a file that others can read, or that is no such key. */
export function readIdentity(file: string): Identity {
  try {
    if ((statSync(file).mode & 0o077) !== 0) throw new Error(`others may read it; run: chmod 400 ${file}`);
    return identityOf(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new HaliteError('crypto.key', `The identity of this master in ${file} cannot be used: ${messageOf(error)}`);
  }
}

export function sealFor(publicKey: Uint8Array, purpose: string, bytes: Uint8Array): Buffer {
  const own = generateKeyPairSync('x25519');
  const from = rawOf(own.publicKey);
  const key = keyOf(own.privateKey, publicOf(publicKey), from, publicKey, purpose);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  return Buffer.concat([from, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

function openSealed(privateKey: KeyObject, own: Uint8Array, purpose: string, sealed: Uint8Array): Buffer | undefined {
  if (sealed.length < publicBytes + tagBytes) return undefined;
  const message = Buffer.from(sealed);
  const from = message.subarray(0, publicBytes);
  try {
    const key = keyOf(privateKey, publicOf(from), from, own, purpose);
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
    decipher.setAuthTag(message.subarray(-tagBytes));
    const text = decipher.update(message.subarray(publicBytes, -tagBytes));
    return Buffer.concat([text, decipher.final()]);
  } catch {
    return undefined;
  }
}

function keyOf(
  privateKey: KeyObject,
  publicKey: KeyObject,
  from: Uint8Array,
  to: Uint8Array,
  purpose: string,
): Uint8Array {
  const secret = diffieHellman({ privateKey, publicKey });
  const info = Buffer.concat([Buffer.from(`halite seal 1 ${purpose} `), from, to]);
  return Buffer.from(hkdfSync('sha256', secret, '', info, 32));
}

const rawOf = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' }).subarray(-publicBytes);
const publicOf = (raw: Uint8Array): KeyObject =>
  createPublicKey({ key: Buffer.concat([prefix, raw]), format: 'der', type: 'spki' });
