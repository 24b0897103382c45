// Password hashes of /etc/shadow: the SHA and MD5 schemes of crypt(3).
import { createHash, randomInt } from 'node:crypto';

const alphabet = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A random salt of that many characters. */
export function randomSalt(length: number): string {
  return Array.from({ length }, () => alphabet.charAt(randomInt(64))).join('');
}

const hash = (name: string, ...parts: Uint8Array[]): Buffer => {
  const made = createHash(name);
  for (const part of parts) made.update(part);
  return made.digest();
};

function encode24(b2: number, b1: number, b0: number, count: number): string {
  let word = (b2 << 16) | (b1 << 8) | b0;
  let text = '';
  for (let i = 0; i < count; i++) {
    text += alphabet.charAt(word & 63);
    word >>>= 6;
  }
  return text;
}

/** `data` repeated to a length. */
function stretched(data: Buffer, length: number): Buffer {
  const made = Buffer.alloc(length);
  for (let i = 0; i < length; i++) made[i] = data[i % data.length] as number;
  return made;
}

interface Scheme {
  readonly hash: 'sha256' | 'sha512';
  readonly prefix: string;
  readonly order: readonly (readonly [number, number, number])[];
}
const sha512Order: [number, number, number][] = Array.from({ length: 21 }, (_, i) => {
  const triple = [i, i + 21, i + 42];
  const turn = i % 3;
  return [triple[turn], triple[(turn + 1) % 3], triple[(turn + 2) % 3]] as [number, number, number];
});
const sha256Order: [number, number, number][] = Array.from({ length: 10 }, (_, i) => {
  const triple = [i, i + 10, i + 20];
  const turn = (3 - (i % 3)) % 3;
  return [triple[turn], triple[(turn + 1) % 3], triple[(turn + 2) % 3]] as [number, number, number];
});
const schemes: Readonly<Record<string, Scheme>> = {
  '5': { hash: 'sha256', prefix: '$5$', order: sha256Order },
  '6': { hash: 'sha512', prefix: '$6$', order: sha512Order },
};

function shaDigest(scheme: Scheme, key: Buffer, salt: Buffer, rounds: number): Buffer {
  const name = scheme.hash;
  const b = hash(name, key, salt, key);
  const parts: Buffer[] = [key, salt, stretched(b, key.length)];
  for (let bits = key.length; bits > 0; bits >>= 1) parts.push(bits & 1 ? b : key);
  let digest = hash(name, ...parts);
  const p = stretched(hash(name, ...new Array<Buffer>(key.length).fill(key)), key.length);
  const s = stretched(hash(name, ...new Array<Buffer>(16 + (digest[0] as number)).fill(salt)), salt.length);
  for (let i = 0; i < rounds; i++) {
    const mix: Buffer[] = [i & 1 ? p : digest];
    if (i % 3) mix.push(s);
    if (i % 7) mix.push(p);
    mix.push(i & 1 ? digest : p);
    digest = hash(name, ...mix);
  }
  return digest;
}

function shaCrypt(scheme: Scheme, password: string, setting: string): string {
  const given = /^rounds=(\d+)\$/.exec(setting);
  const rounds = given ? Math.min(999_999_999, Math.max(1000, Number(given[1]))) : 5000;
  const salt = (setting.slice(given?.[0].length ?? 0).split('$')[0] ?? '').slice(0, 16);
  const digest = shaDigest(scheme, Buffer.from(password), Buffer.from(salt), rounds);
  let text = scheme.order
    .map(([a, b, c]) => encode24(digest[a] as number, digest[b] as number, digest[c] as number, 4))
    .join('');
  text +=
    scheme.hash === 'sha512'
      ? encode24(0, 0, digest[63] as number, 2)
      : encode24(0, digest[31] as number, digest[30] as number, 3);
  return `${scheme.prefix}${given ? `rounds=${rounds}$` : ''}${salt}$${text}`;
}

function md5Crypt(password: string, setting: string): string {
  const key = Buffer.from(password);
  const saltText = (setting.split('$')[0] ?? '').slice(0, 8);
  const salt = Buffer.from(saltText);
  const inner = hash('md5', key, salt, key);
  const parts: Buffer[] = [key, Buffer.from('$1$'), salt, stretched(inner, key.length)];
  for (let bits = key.length; bits > 0; bits >>= 1) parts.push(bits & 1 ? Buffer.alloc(1) : key.subarray(0, 1));
  let digest = hash('md5', ...parts);
  for (let i = 0; i < 1000; i++) {
    const mix: Buffer[] = [i & 1 ? key : digest];
    if (i % 3) mix.push(salt);
    if (i % 7) mix.push(key);
    mix.push(i & 1 ? digest : key);
    digest = hash('md5', ...mix);
  }
  const at = (index: number): number => digest[index] as number;
  const text = [0, 1, 2, 3, 4].map((i) => encode24(at(i), at(i + 6), at(i === 4 ? 5 : i + 12), 4)).join('');
  return `$1$${saltText}$${text}${encode24(0, 0, at(11), 2)}`;
}

/** crypt(password, setting) for `$6$`, `$5$` and `$1$`; undefined for other schemes. */
export function cryptPassword(password: string, setting: string): string | undefined {
  const match = /^\$([156])\$(.*)$/s.exec(setting);
  if (!match) return undefined;
  if (match[1] === '1') return md5Crypt(password, match[2] as string);
  return shaCrypt(schemes[match[1] as string] as Scheme, password, match[2] as string);
}
