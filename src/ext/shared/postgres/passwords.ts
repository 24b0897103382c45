// Passwords as PostgreSQL stores them: MD5 with the name of the role, or SCRAM.
import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto';
import { pyStr, pythonError, type Value } from 'halite/sdk';

/** The default form of stored passwords. */
export const defaultEncryption = 'md5';

const md5 = (role: string, password: string): string =>
  `md5${createHash('md5').update(`${password}${role}`).digest('hex')}`;

function scram(password: string, salt: Buffer = randomBytes(16), iterations = 4096): string {
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, iterations, 32, 'sha256');
  const key = (label: string): Buffer => createHmac('sha256', salted).update(label).digest();
  const stored = createHash('sha256').update(key('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${key('Server Key').toString('base64')}`;
}

/** The stored form of a password; unchanged if it already has that form. */
export function storedPassword(role: string, password: Value, encrypted: Value): string | null {
  if (password === null) return null;
  const text = pyStr(password);
  const method = encrypted === true ? 'md5' : encrypted;
  if (method === 'scram-sha-256') return text.startsWith('SCRAM-SHA-256') ? text : scram(text);
  if (method === 'md5') return text.startsWith('md5') ? text : md5(role, text);
  if (method === false) return text;
  throw pythonError('ValueError', `Unknown password algorithm: ${pyStr(encrypted)}`);
}

function same(a: string, b: string): boolean {
  const [first, second] = [Buffer.from(a), Buffer.from(b)];
  return first.length === second.length && timingSafeEqual(first, second);
}

/** Whether a stored form belongs to a password. */
export function verifyPassword(role: string, password: string, stored: string, method: Value): boolean {
  if (method === 'md5' || method === true)
    return same(stored, password.startsWith('md5') ? password : md5(role, password));
  if (method === false) return same(stored, password);
  if (method !== 'scram-sha-256') return false;
  if (password.startsWith('SCRAM-SHA-256')) return same(stored, password);
  const [, iterations, salt] = /^SCRAM-SHA-256\$(\d{1,7}):([^$]+?)\$/.exec(stored) ?? [];
  if (iterations === undefined || salt === undefined) return false;
  return same(stored, scram(password, Buffer.from(salt, 'base64'), Number(iterations)));
}
