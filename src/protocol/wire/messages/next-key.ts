// The next key of a master, said by the one before: a text that is stored as it is, and verified each time it is read.
import type { KeyObject } from 'node:crypto';
import { cleanKey, fingerprint, loadPublicKey, signStatement, verifyStatement } from '../../../base/crypto/index.ts';

export interface NextKey {
  /** Fingerprint of the key that says it. */
  readonly from: string;
  /** The next public key, clean. */
  readonly pem: string;
  /** In milliseconds since the epoch: when a master may begin to present it, and until when this text proves it. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Grows: an earlier statement never replaces a later one. */
  readonly number: number;
}

export interface SignedNextKey extends NextKey {
  /** Everything, as it is sent and stored. */
  readonly text: string;
}

const title = 'Halite: the next key of this master, version 1';
const longestText = 20_000;
const latest = 8.64e15;

export function signNextKey(signer: KeyObject, next: NextKey): SignedNextKey {
  const said = statement(next);
  return { ...next, text: `${said}signature: ${signStatement(signer, said)}\n` };
}

const statement = ({ from, pem, notBefore, notAfter, number }: NextKey): string =>
  `${title}\nfrom: ${from}\nnumber: ${number}\nnot before: ${notBefore}\nnot after: ${notAfter}\n${pem}\n`;

const shape =
  /^from: ([0-9a-f:]{95})\nnumber: (\d{1,16})\nnot before: (\d{1,16})\nnot after: (\d{1,16})\n(-----BEGIN PUBLIC KEY-----\n[A-Za-z0-9+/=\n]{1,16000}\n-----END PUBLIC KEY-----)\nsignature: ([A-Za-z0-9+/=]{1,3000})\n$/;

/** A statement that the owner of the trusted key signed; undefined for any other text. Its dates are not judged here. */
export function readNextKey(text: string, trustedPem: string): SignedNextKey | undefined {
  if (text.length > longestText || !text.startsWith(`${title}\n`)) return undefined;
  const found = shape.exec(text.slice(title.length + 1));
  if (!found) return undefined;
  const [, from = '', number, notBefore, notAfter, pem = '', signature = ''] = found;
  const next = { from, pem, number: Number(number), notBefore: Number(notBefore), notAfter: Number(notAfter) };
  if (next.notAfter > latest || next.notBefore >= next.notAfter) return undefined;
  if (from !== fingerprint(trustedPem, 'sha256') || cleanKey(pem) !== pem) return undefined;
  try {
    loadPublicKey(pem);
    return verifyStatement(loadPublicKey(trustedPem), statement(next), signature) ? { ...next, text } : undefined;
  } catch {
    return undefined;
  }
}
