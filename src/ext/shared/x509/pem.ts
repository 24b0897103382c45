// Finds, normalizes and writes PEM blocks.

import { invocationError, pyStr, type Value } from 'halite/sdk';
import { readText, replaceSecretNow, writeFileSync } from 'halite/sdk/fs';

/** The first block of one or any kind, in lines of 64 characters. */
export function pemEntry(given: string, type: Value): string {
  const text = given.replaceAll('\\n', '\n');
  const kind = type ? pyStr(type) : '[0-9A-Z ]+';
  const match = new RegExp(`-----BEGIN (${kind})-----([\\s\\S]+?)-----END (?:${kind})-----`).exec(text);
  if (!match)
    throw invocationError(
      type ? `PEM does not contain a single entry of type ${kind}:\n${text}` : `PEM text not valid:\n${text}`,
    );
  const [whole, , inner = ''] = match;
  const header = /^-----BEGIN ([^-]+)-----/.exec(whole)?.[1] ?? '';
  const about = [...inner.matchAll(/^\s*(Proc-Type: .+|DEK-Info: .+?)\s*$/gm)].map((found) => found[1] as string);
  const body = inner.replace(/^\s*(?:Proc-Type|DEK-Info): .+$/gm, '').replace(/\s+/g, '');
  return [
    `-----BEGIN ${header}-----`,
    ...about,
    ...(about.length > 0 ? [''] : []),
    ...(body.match(/.{1,64}/g) ?? []),
    `-----END ${header}-----`,
    '',
  ].join('\n');
}

function entryOr(text: string, type: string): string {
  try {
    return pemEntry(text, type);
  } catch {
    return '';
  }
}

/** Writes a block. With `overwrite` off, a key and parameters in the file are kept beside a certificate. */
export function writePem(text: string, path: string, type: string | null, overwrite: boolean): string {
  const entry = pemEntry(text, type);
  const before = type === 'CERTIFICATE' && !overwrite ? (readText(path) ?? '') : '';
  const key = entryOr(before, '(?:RSA )?PRIVATE KEY');
  const parameters = entryOr(before, 'DH PARAMETERS');
  const whole = `${key}${entry}${parameters}`;
  if (/PRIVATE KEY-----/.test(whole)) replaceSecretNow(path, whole);
  else writeFileSync(path, whole, { mode: 0o600 });
  return `PEM written to ${path}`;
}
