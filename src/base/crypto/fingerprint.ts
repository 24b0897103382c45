// Key text in comparable form, and fingerprints as salt-key prints them.
import { createHash } from 'node:crypto';
import { HaliteError } from '../errors/index.ts';

// What Python's str.splitlines() breaks at, as far as a PEM could hold it.
const lineBreaks = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;

/** The key without surrounding white space and with `\n` line endings: the form that is sent and compared. */
export function cleanKey(text: string): string {
  return text.trim().split(lineBreaks).join('\n');
}

function colonHex(data: string, hash: string): string {
  let digest: string;
  try {
    digest = createHash(hash).update(data).digest('hex');
  } catch (cause) {
    throw new HaliteError('config.value', `No such hash: ${hash}`, { cause, hint: 'Set hash_type to sha256.' });
  }
  return digest.replace(/..(?!$)/g, '$&:');
}

/** The classic fingerprint: hash of the lines between BEGIN and END, with their line ends. */
export function fingerprint(pem: string, hash = 'sha256'): string {
  const lines = pem
    .replaceAll('\r\n', '\n')
    .split(/(?<=\n)/)
    .filter((line) => line.trim() !== '');
  return colonHex(lines.slice(1, -1).join(''), hash);
}

/** What `salt-key -f` of Salt 3008 prints: the hash of the whole text, BEGIN and END lines included. */
export function fingerprintWhole(text: string, hash = 'sha256'): string {
  return colonHex(text, hash);
}

/** Whether a `master_finger` matches this key, in the classic form or in that of Salt 3008. */
export function matchesFingerprint(pem: string, finger: string, hash = 'sha256'): boolean {
  const wanted = finger.trim().toLowerCase();
  if (wanted === '') return false;
  const clean = cleanKey(pem);
  return [
    fingerprint(pem, hash),
    fingerprintWhole(pem, hash),
    fingerprintWhole(clean, hash),
    fingerprintWhole(`${clean}\n`, hash),
  ].includes(wanted);
}
