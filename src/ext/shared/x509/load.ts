// Loads keys, certificates and requests from a path, PEM text, or DER.
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { commandError, invocationError, pyStr, type Value } from 'halite/sdk';
import { readFileSync, statSync } from 'halite/sdk/fs';
import { elements, inside } from './der.ts';

export type Encoding = 'pem' | 'der';

export function isPath(value: Value): boolean {
  if (typeof value !== 'string' || value.includes('-----BEGIN') || value.includes('\0') || value.length > 4096)
    return false;
  return statSync(value, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** The bytes of a file, PEM text (also with `\n` for line breaks), base64 or bytes. */
export function bytesOf(value: Value): Buffer {
  if (value instanceof Uint8Array) return Buffer.from(value);
  const text = pyStr(value);
  if (isPath(value)) return readFileSync(text);
  if (text.includes('-----BEGIN')) return Buffer.from(text.replaceAll('\\n', '\n'));
  if (/^[A-Za-z0-9+/=\s]+$/.test(text) && text.length > 40) return Buffer.from(text, 'base64');
  throw invocationError(`Could not load "${text.slice(0, 100)}" as a file or as PEM or DER data`);
}

export const encodingOf = (bytes: Buffer): Encoding => (bytes.includes('-----BEGIN') ? 'pem' : 'der');

/** The cause of a problem with a key: the passphrase, or the key itself. */
export type KeyProblem = 'missing' | 'wrong' | 'superfluous' | 'unreadable';
const sentences: Readonly<Record<KeyProblem, string>> = {
  missing: 'Private key is encrypted. Please provide a password.',
  wrong: 'Bad decrypt - is the password correct?',
  superfluous: 'Private key is unencrypted. Please remove the password.',
  unreadable: 'Could not load PEM-encoded private key',
};

const isEncrypted = (bytes: Buffer): boolean =>
  encodingOf(bytes) === 'pem'
    ? /ENCRYPTED/.test(bytes.toString('latin1'))
    : // An encrypted key begins with its algorithm, an unencrypted one with a version.
      (() => {
        try {
          return inside(elements(bytes)[0])[0]?.tag === 0x30;
        } catch {
          return false;
        }
      })();

/** A private key, or an error. */
export function tryPrivateKey(bytes: Buffer, passphrase: Value): KeyObject | KeyProblem {
  const encrypted = isEncrypted(bytes);
  if (encrypted && passphrase === null) return 'missing';
  if (!encrypted && passphrase !== null) return parsePrivate(bytes, null) ? 'superfluous' : 'unreadable';
  return parsePrivate(bytes, passphrase) ?? (encrypted ? 'wrong' : 'unreadable');
}

function parsePrivate(bytes: Buffer, passphrase: Value): KeyObject | undefined {
  const secret = passphrase === null ? {} : { passphrase: pyStr(passphrase) };
  const ways =
    encodingOf(bytes) === 'pem'
      ? [{ key: bytes, format: 'pem' as const }]
      : (['pkcs8', 'pkcs1', 'sec1'] as const).map((type) => ({ key: bytes, format: 'der' as const, type }));
  for (const way of ways) {
    try {
      return createPrivateKey({ ...way, ...secret });
    } catch {
      // Try the next form.
    }
  }
  return undefined;
}

export function loadPrivateKey(value: Value, passphrase: Value = null): KeyObject {
  const got = tryPrivateKey(bytesOf(value), passphrase);
  if (typeof got === 'string') throw invocationError(sentences[got]);
  return got;
}

/** The first certificate; undefined when there is none. */
export function tryCertificate(bytes: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(bytes);
  } catch {
    return undefined;
  }
}

export function loadCertificate(value: Value): X509Certificate {
  const found = tryCertificate(bytesOf(value));
  if (!found) throw invocationError('Could not load PEM-encoded certificate.');
  return found;
}

/** All certificates of a text. */
export function certificatesIn(bytes: Buffer): X509Certificate[] {
  if (encodingOf(bytes) === 'der') return [new X509Certificate(bytes)];
  const blocks = bytes.toString('latin1').match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

/** DER of the first block of a kind. */
export function pemBody(bytes: Buffer, kind: string): Buffer {
  if (encodingOf(bytes) === 'der') return bytes;
  const block = new RegExp(`-----BEGIN ${kind}-----([\\s\\S]*?)-----END ${kind}-----`).exec(bytes.toString('latin1'));
  if (!block) throw invocationError(`PEM does not contain a single entry of type ${kind}`);
  return Buffer.from(block[1] ?? '', 'base64');
}

export function toPem(der: Buffer, kind: string): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${kind}-----\n${lines.join('\n')}\n-----END ${kind}-----\n`;
}

export const publicDer = (key: KeyObject): Buffer =>
  (key.type === 'private' ? createPublicKey(key) : key).export({ type: 'spki', format: 'der' });

/** The public key of a key, a certificate or a request. */
export function loadPublicKey(value: Value, passphrase: Value = null): KeyObject {
  const bytes = bytesOf(value);
  const certificate = tryCertificate(bytes);
  if (certificate) return certificate.publicKey;
  try {
    return createPublicKey(encodingOf(bytes) === 'pem' ? bytes : { key: bytes, format: 'der', type: 'spki' });
  } catch {
    // It may be a private key with a passphrase, or a request.
  }
  const key = tryPrivateKey(bytes, passphrase);
  if (typeof key !== 'string') return createPublicKey(key);
  if (key !== 'unreadable') throw commandError(sentences[key]);
  try {
    const [info] = inside(elements(pemBody(bytes, '(?:NEW )?CERTIFICATE REQUEST'))[0]);
    const spki = inside(info)[2]?.whole;
    if (spki) return createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
  } catch {
    // Reported below.
  }
  throw commandError('Could not load key as certificate, public key, private key or CSR');
}

/** `rsa`, `ec`, `ed25519` or `ed448`. */
export const keyType = (key: KeyObject): string => (key.asymmetricKeyType ?? '').replace(/^rsa-pss$/, 'rsa');

const curves: Readonly<Record<string, number>> = { prime256v1: 256, secp384r1: 384, secp521r1: 521, secp256k1: 256 };
export function keySize(key: KeyObject): number | null {
  const details = (key.type === 'private' ? createPublicKey(key) : key).asymmetricKeyDetails;
  return details?.modulusLength ?? (details?.namedCurve === undefined ? null : (curves[details.namedCurve] ?? null));
}
