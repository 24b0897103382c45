// Signed statements of a master about its keys. RSA-PSS with SHA-256: no signature that the protocol makes for anything
// else can be taken for one.
import { constants, type KeyObject, sign, verify } from 'node:crypto';

const form = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };

export const signStatement = (key: KeyObject, text: string): string =>
  sign('sha256', Buffer.from(text), { key, ...form }).toString('base64');

export function verifyStatement(key: KeyObject, text: string, signature: string): boolean {
  try {
    return verify('sha256', Buffer.from(text), { key, ...form }, Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
}
