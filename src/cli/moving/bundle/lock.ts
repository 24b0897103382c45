// Where the key of a sealed file comes from: a passphrase, the public key of whoever may read it, or nowhere. A file
// without either is signed and complete, but everybody who has it can read it.
import { constants, createHash, type KeyObject, privateDecrypt, publicEncrypt, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { textField } from '../../../base/codec/fields.ts';
import { type Dict, dictGet } from '../../../base/codec/value.ts';
import { fingerprint, publicPem } from '../../../base/crypto/index.ts';
import { HaliteError } from '../../../base/errors/index.ts';

/** How a new file is locked. */
export type Lock =
  | { readonly kind: 'none' }
  | { readonly kind: 'scrypt'; readonly passphrase: string }
  | { readonly kind: 'rsa'; readonly recipient: KeyObject };

/** What the header says about the lock. */
export interface ToOpen {
  readonly kind: Lock['kind'];
  /** For the derivation; of a recipient, the wrapped key. */
  readonly bytes: Buffer;
  /** Fingerprint of the recipient's key. */
  readonly to: string;
}

export interface Opener {
  readonly passphrase?: string;
  readonly identity?: KeyObject;
}

/** 128 MiB and about half a second: what a guess costs. */
const cost = { N: 1 << 17, r: 8, p: 1 };
const oaep = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' } as const;

const derive = (passphrase: string, salt: Buffer): Promise<Buffer> =>
  promisify(
    scrypt as (p: string, s: Buffer, n: number, o: object, done: (e: Error | null, key: Buffer) => void) => void,
  )(passphrase.normalize('NFC'), salt, 32, { ...cost, maxmem: 256 * 1024 * 1024 });
const open = (salt: Buffer): Buffer => createHash('sha256').update('no passphrase\0').update(salt).digest();

/** A fresh key and what the header says about it. */
export async function lockOf(lock: Lock): Promise<{ key: Buffer; fields: object }> {
  const salt = randomBytes(32);
  if (lock.kind === 'none') return { key: open(salt), fields: { kdf: 'none', salt: salt.toString('base64') } };
  if (lock.kind === 'scrypt')
    return {
      key: await derive(lock.passphrase, salt),
      fields: { kdf: 'scrypt', ...cost, salt: salt.toString('base64') },
    };
  const wrapped = publicEncrypt({ key: lock.recipient, ...oaep }, salt);
  const to = fingerprint(publicPem(lock.recipient));
  return { key: salt, fields: { kdf: 'rsa', salt: wrapped.toString('base64'), to } };
}

/** Undefined for a header of another form. */
export function readLock(header: Dict): ToOpen | undefined {
  const kind = textField(header, 'kdf');
  const bytes = Buffer.from(textField(header, 'salt') ?? '', 'base64');
  const to = textField(header, 'to') ?? '';
  if (kind === 'none') return bytes.length === 32 ? { kind, bytes, to } : undefined;
  if (kind === 'rsa') return bytes.length >= 256 && bytes.length <= 1024 ? { kind, bytes, to } : undefined;
  // Other costs would let a forged file take all memory.
  const same = Object.entries(cost).every(([name, wanted]) => dictGet(header, name) === wanted);
  return kind === 'scrypt' && same && bytes.length === 32 ? { kind, bytes, to } : undefined;
}

export async function openLock({ kind, bytes, to }: ToOpen, { passphrase, identity }: Opener): Promise<Buffer> {
  if (kind === 'none') return open(bytes);
  if (kind === 'scrypt') return derive(passphrase ?? '', bytes);
  if (!identity)
    throw new HaliteError('crypto.key', `The file is for the owner of the key ${to}`, {
      hint: 'Name the private key: identity=/root/backup.pem',
    });
  try {
    const key = privateDecrypt({ key: identity, ...oaep }, bytes);
    if (key.length === 32) return key;
  } catch {
    // Another key.
  }
  throw new HaliteError('crypto.verify', `The file is for the owner of the key ${to}, not for the one of identity=`);
}
