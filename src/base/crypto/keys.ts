// RSA keys: generated, written and read in the formats of real Salt.
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { HaliteError } from '../errors/index.ts';
import { exists, giveTo, placeNew, replaceFile } from './key-files.ts';
import { plainPublicKey } from './public-text.ts';

export interface GenerateOptions {
  readonly passphrase?: string | undefined;
  /** The owner of the files; unchanged when the user does not exist or the process may not change it. */
  readonly user?: string | undefined;
}

export interface LoadOptions {
  /** Smallest modulus accepted; 1024-bit keys need an explicit option. */
  readonly minBits?: number;
}

const maxBits = 16384;
const maxPem = 65536;
const cachedPublicKeys = 12_000;
const publicKeys = new Map<string, KeyObject>();
const privateKeys = new Map<string, { stamp: string; passphrase: string | undefined; key: KeyObject }>();

/** Creates `<dir>/<name>.pem` (0400) and `.pub` (0644) unless they exist; returns the path of the private key. */
export async function generateKeyPairFiles(
  dir: string,
  name: string,
  bits = 2048,
  options: GenerateOptions = {},
): Promise<string> {
  const base = join(dir, name);
  const privatePath = `${base}.pem`;
  const publicPath = `${base}.pub`;
  if (!(await exists(privatePath))) {
    if (bits < 2048)
      throw new HaliteError('config.value', `keysize ${bits} is too small`, { hint: 'Use 2048 or more.' });
    const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: bits, publicExponent: 65537 });
    const placed = await placeNew(privatePath, privatePem(privateKey, options.passphrase), 0o400);
    if (placed) {
      await replaceFile(publicPath, publicPem(privateKey), 0o644);
      if (options.user) await giveTo(options.user, [privatePath, publicPath]);
      return privatePath;
    }
  }
  // Another process was faster, or the public key file is lost: the private key determines the public one.
  if (!(await exists(publicPath))) {
    await replaceFile(publicPath, publicPem(loadPrivateKey(privatePath, options.passphrase)), 0o644);
    if (options.user) await giveTo(options.user, [publicPath]);
  }
  return privatePath;
}

/** PKCS#1 PEM, encrypted the traditional way when there is a passphrase. */
function privatePem(key: KeyObject, passphrase?: string): string {
  return passphrase
    ? (key.export({ type: 'pkcs1', format: 'pem', cipher: 'aes-256-cbc', passphrase }) as string)
    : (key.export({ type: 'pkcs1', format: 'pem' }) as string);
}

/** SubjectPublicKeyInfo PEM of a public key, or of the public half of a private one. */
export function publicPem(key: KeyObject): string {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return publicKey.export({ type: 'spki', format: 'pem' }) as string;
}

/** The private key in a file; read again only when the file changes. */
export function loadPrivateKey(path: string, passphrase?: string, options: LoadOptions = {}): KeyObject {
  let pem: string;
  let stamp: string;
  try {
    const stat = statSync(path);
    stamp = `${stat.ino}:${stat.mtimeMs}:${stat.size}`;
    const cached = privateKeys.get(path);
    if (cached && cached.stamp === stamp && cached.passphrase === passphrase) return checkSize(cached.key, options);
    if (!stat.isFile() || stat.size > maxPem) throw new HaliteError('crypto.key', `${path} is not a key file`);
    pem = readFileSync(path, 'utf8');
  } catch (cause) {
    if (cause instanceof HaliteError) throw cause;
    throw new HaliteError('crypto.key', `The key ${path} cannot be read`, { cause });
  }
  const key = parsePrivateKey(pem, passphrase, options, path);
  privateKeys.set(path, { stamp, passphrase, key });
  return key;
}

/** The private key in a PEM text (PKCS#1 or PKCS#8). */
export function parsePrivateKey(pem: string, passphrase?: string, options: LoadOptions = {}, name = 'text'): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(passphrase === undefined ? { key: pem } : { key: pem, passphrase });
  } catch (cause) {
    const locked = /ENCRYPTED/.test(pem);
    throw new HaliteError('crypto.key', `The private key in ${name} is unusable`, {
      cause,
      hint: locked ? 'It is encrypted: check key_pass.' : 'It must be an RSA key in PEM form.',
    });
  }
  return checkSize(key, options);
}

/** The public key in a PEM text (SubjectPublicKeyInfo or PKCS#1). The same text gives the same object. */
export function loadPublicKey(pemText: string, options: LoadOptions = {}): KeyObject {
  const cached = publicKeys.get(pemText);
  if (cached) return checkSize(cached, options);
  // createPublicKey would also accept certificates and private keys, which are not minion keys.
  if (pemText.length > maxPem || !/-----BEGIN (?:RSA )?PUBLIC KEY-----/.test(pemText)) {
    throw new HaliteError('crypto.key', 'Not a public key in PEM form');
  }
  let key: KeyObject;
  try {
    const text = pemText.trim();
    key = plainPublicKey(text) ?? createPublicKey(text);
  } catch (cause) {
    throw new HaliteError('crypto.key', 'The public key is damaged', { cause });
  }
  checkSize(key, options);
  const modulus = Buffer.from(key.export({ format: 'jwk' }).n ?? '', 'base64url');
  if (((modulus.at(-1) ?? 0) & 1) === 0)
    throw new HaliteError('crypto.key', 'The public key is damaged: an even modulus');
  if (publicKeys.size >= cachedPublicKeys) publicKeys.delete(publicKeys.keys().next().value as string);
  publicKeys.set(pemText, key);
  return key;
}

function checkSize(key: KeyObject, options: LoadOptions): KeyObject {
  const details = key.asymmetricKeyDetails;
  const bits = details?.modulusLength;
  if (key.asymmetricKeyType !== 'rsa' || bits === undefined) throw new HaliteError('crypto.key', 'Not an RSA key');
  const minimum = options.minBits ?? 2048;
  if (bits < minimum || bits > maxBits) {
    throw new HaliteError('crypto.key', `An RSA key of ${bits} bits is refused`, { details: { bits, minimum } });
  }
  // A huge exponent makes every verification slow: an attacker could use up the master's CPU time.
  const exponent = details?.publicExponent ?? 0n;
  if (exponent < 3n || exponent > 0xffffffffffffn)
    throw new HaliteError('crypto.key', 'An RSA key with an unusual exponent is refused');
  return key;
}
