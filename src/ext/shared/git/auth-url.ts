// Addresses of repositories that require authentication.
import { invocationError, pyStr, type Value } from 'halite/sdk';

/** An address with user name and password in it. */
export function withAuth(url: string, user: Value, pass: Value): string {
  if (user === null && pass === null) return url;
  if (!url.toLowerCase().startsWith('https://')) throw invocationError('Basic Auth only supported for HTTPS');
  const name = encodeURIComponent(pyStr(user ?? ''));
  return url.replace(/^(https:\/\/)/i, `$1${name}${pass === null ? '' : `:${encodeURIComponent(pyStr(pass))}`}@`);
}
