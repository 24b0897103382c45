// What the API tells the master about a client certificate: that a client has proven over TLS that it holds the key.
// Certificates are public, so the master believes this only of the API, with which it shares a key.
import { createHmac, timingSafeEqual } from 'node:crypto';

/** The file below `cachedir` with this key. */
export const certificateKeyName = '.api_certificate_key';

/** From the API to the master at the same machine. */
const validMs = 30_000;
const mostText = 40 * 1024;
const mostCertificates = 8;

const signatureOf = (key: Uint8Array, payload: string): Buffer => createHmac('sha256', key).update(payload).digest();

/** The certificate of the client first, then those of authorities that it has sent, in DER. */
export function claimFor(key: Uint8Array, chain: readonly Uint8Array[], now = Date.now()): string {
  const payload = [String(now), ...chain.map((each) => Buffer.from(each).toString('base64url'))].join('.');
  return `${payload}.${signatureOf(key, payload).toString('base64url')}`;
}

/** Undefined for everything that the API has not made just now. */
export function claimedChain(key: Uint8Array, text: string, now = Date.now()): Buffer[] | undefined {
  if (text.length > mostText) return undefined;
  const end = text.lastIndexOf('.');
  const payload = text.slice(0, Math.max(0, end));
  const [own, given] = [signatureOf(key, payload), Buffer.from(text.slice(end + 1), 'base64url')];
  if (own.length !== given.length || !timingSafeEqual(own, given)) return undefined;
  const [at, ...chain] = payload.split('.');
  if (!(Math.abs(now - Number(at)) <= validMs) || chain.length === 0 || chain.length > mostCertificates)
    return undefined;
  return chain.map((each) => Buffer.from(each, 'base64url'));
}
