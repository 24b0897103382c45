// The secret of a master without others, from which it computes session keys: kept across restarts, so that minions go
// on with the sessions they have.
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFileNow } from '../../base/util/replace-file.ts';

const secretBytes = 32;
const fileOf = (cachedir: string): string => join(cachedir, '.session_secret');

export function ownSecret(cachedir: string): Uint8Array {
  const stored = storedSecret(cachedir);
  if (stored) return stored;
  const secret = randomBytes(secretBytes);
  replaceFileNow(fileOf(cachedir), `${secret.toString('base64')}\n`);
  return secret;
}

/** Undefined before the first start, and for a file that cannot be read: minions then sign in again. */
export function storedSecret(cachedir: string): Uint8Array | undefined {
  try {
    const secret = Buffer.from(readFileSync(fileOf(cachedir), 'utf8').trim(), 'base64');
    return secret.length === secretBytes ? secret : undefined;
  } catch {
    return undefined;
  }
}

/** Names minions in tables of their master. */
export const indexOf = (secret: Uint8Array): Uint8Array =>
  createHash('sha256').update('index\0').update(secret).digest();
