// Public keys in files: kind, key, comment, options and fingerprint.
import { createHash, getHashes } from 'node:crypto';
import { commandError, newDict, type PlainDict } from 'halite/sdk';
import { readFileSync } from 'halite/sdk/fs';
import { words } from 'halite/sdk/text';

const kinds: Readonly<Record<string, string>> = {
  r: 'ssh-rsa',
  rsa: 'ssh-rsa',
  d: 'ssh-dss',
  dsa: 'ssh-dss',
  dss: 'ssh-dss',
  e: 'ecdsa-sha2-nistp256',
  ecdsa: 'ecdsa-sha2-nistp256',
  ed25519: 'ssh-ed25519',
};
const full =
  /^(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp(?:256|384|521)|rsa-sha2-(?:256|512)|sk-ssh-ed25519|sk-ecdsa-sha2-nistp256)(?:-cert-v01)?(?:@openssh\.com)?$/;

/** The full name of a kind of key. */
export function kindOf(enc: string): string {
  if (Object.hasOwn(kinds, enc)) return kinds[enc] as string;
  if (full.test(enc)) return enc;
  throw commandError(`Incorrect encryption key type '${enc}'.`);
}

/** The fingerprint of a base64 key as pairs of digits; undefined when the key is invalid. */
export function fingerprint(key: string, hashType: string | null): string | undefined {
  const type = (hashType ?? 'sha256').toLowerCase();
  if (!getHashes().includes(type)) throw commandError(`The fingerprint_hash_type ${type} is not supported.`);
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(key)) return undefined;
  return createHash(type).update(Buffer.from(key, 'base64')).digest('hex').match(/../g)?.join(':');
}

/** Splits `options kind key comment` with the same expression as Salt. */
export const keyLine = /^(.*?)\s?((?:sk-)?(?:ssh-|ecds)[\w@.-]+\s.+)$/;

export interface AuthKey {
  readonly enc: string;
  readonly comment: string;
  readonly options: string[];
  readonly fingerprint: string;
}

export function authLine(key: string, enc: string, comment: string, options: readonly string[]): string {
  return `${options.length > 0 ? `${options.join(',')} ` : ''}${enc} ${key} ${comment}\n`;
}

/** Keys of a file, by their text. */
export function readKeys(path: string, hashType: string | null): Map<string, AuthKey> {
  const found = new Map<string, AuthKey>();
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw commandError(`Problem reading ssh key file ${path}`);
  }
  for (const line of text.split('\n').map((row) => row.trim())) {
    const match = line === '' || line.startsWith('#') ? null : keyLine.exec(line);
    const [enc, key, ...comment] = words(match?.[2] ?? '');
    const print = key === undefined ? undefined : fingerprint(key, hashType);
    if (enc === undefined || key === undefined || print === undefined) continue;
    found.set(key, {
      enc,
      comment: comment.join(' '),
      options: match?.[1] ? match[1].split(',') : [],
      fingerprint: print,
    });
  }
  return found;
}

export const keyDict = (key: AuthKey): PlainDict =>
  newDict([
    ['enc', key.enc],
    ['comment', key.comment],
    ['options', key.options],
    ['fingerprint', key.fingerprint],
  ]);

export interface HostKey {
  readonly hostname: string;
  readonly key: string;
  readonly enc: string;
  readonly fingerprint?: string | undefined;
}

/** Lines of ssh-keygen and ssh-keyscan. */
export function hostKeys(text: string, hashType: string | null): HostKey[] {
  return text.split('\n').flatMap((line) => {
    const parts = words(line);
    const [hostname = '', enc = '', key = ''] = parts;
    const print = parts.length === 3 && !hostname.startsWith('#') ? fingerprint(key, hashType) : undefined;
    return print ? [{ hostname, key, enc, fingerprint: print }] : [];
  });
}
