// SHA-256 and SHA-512 of crypt(3) (`$5$`, `$6$`), as published by their author.
import { createHash } from 'node:crypto';
import { setImmediate as others } from 'node:timers/promises';
import { cryptText } from './crypt-text.ts';

const fewestRounds = 1000;
const usualRounds = 5000;
/** The format allows a thousand million; this is already some seconds. */
const mostRounds = 1_000_000;

/** The order in which the bytes of the digest are written, three at a time. */
const orders = {
  sha256: '0.10.20 21.1.11 12.22.2 3.13.23 24.4.14 15.25.5 6.16.26 27.7.17 18.28.8 9.19.29 -.31.30',
  sha512:
    '0.21.42 22.43.1 44.2.23 3.24.45 25.46.4 47.5.26 6.27.48 28.49.7 50.8.29 9.30.51 31.52.10 53.11.32 12.33.54 34.55.13 ' +
    '56.14.35 15.36.57 37.58.16 59.17.38 18.39.60 40.61.19 62.20.41 -.-.63',
} as const;

/** The hash of a password with the settings of a known hash; undefined when that is malformed. */
export async function shaCrypt(password: string, known: string): Promise<string | undefined> {
  const [, id, , given, salt = ''] = /^\$([56])\$(rounds=(\d{1,9})\$)?([^$]{0,64})\$/.exec(known) ?? [];
  if (id === undefined) return undefined;
  const rounds = given === undefined ? usualRounds : Math.max(fewestRounds, Number(given));
  if (rounds > mostRounds) return undefined;
  const algorithm = id === '5' ? 'sha256' : 'sha512';
  const hash = (...parts: readonly Buffer[]): Buffer => {
    const made = createHash(algorithm);
    for (const part of parts) made.update(part);
    return made.digest();
  };
  const secret = Buffer.from(password, 'utf8');
  const grain = Buffer.from(salt.slice(0, 16), 'utf8');
  const other = hash(secret, grain, secret);
  const parts = [secret, grain, filled(other, secret.length)];
  for (let bits = secret.length; bits > 0; bits >>= 1) parts.push(bits & 1 ? other : secret);
  let sum = hash(...parts);
  const secrets = filled(hash(...Array.from({ length: secret.length }, () => secret)), secret.length);
  const grains = filled(hash(...Array.from({ length: 16 + (sum[0] ?? 0) }, () => grain)), grain.length);
  for (let round = 0; round < rounds; round++) {
    const step = [round & 1 ? secrets : sum];
    if (round % 3) step.push(grains);
    if (round % 7) step.push(secrets);
    step.push(round & 1 ? sum : secrets);
    sum = hash(...step);
    // The daemon does its other work meanwhile.
    if (round % 1000 === 999) await others();
  }
  const byte = (index: string): number => (index === '-' ? 0 : (sum[Number(index)] ?? 0));
  const text = orders[algorithm].split(' ').map((three) => {
    const indexes = three.split('.');
    const [a = '-', b = '-', c = '-'] = indexes;
    const length = 4 - indexes.filter((index) => index === '-').length;
    return cryptText((byte(a) << 16) | (byte(b) << 8) | byte(c), length);
  });
  const mark = given === undefined ? '' : `rounds=${rounds}$`;
  return `$${id}$${mark}${grain.toString('utf8')}$${text.join('')}`;
}

/** A digest repeated to a length. */
function filled(digest: Buffer, length: number): Buffer {
  return Buffer.concat(Array.from({ length: Math.ceil(length / digest.length) }, () => digest)).subarray(0, length);
}
