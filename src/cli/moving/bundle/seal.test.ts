import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { cleanKey, publicPem } from '../../../base/crypto/index.ts';
import { seal, sealMagic, unseal } from './seal.ts';

const newKey = () =>
  createPrivateKey(
    generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }),
  );
const key = newKey();
const pem = cleanKey(publicPem(key));
const phrase = 'correct horse battery';
const lock = { kind: 'scrypt', passphrase: phrase } as const;
const content = Buffer.alloc(2_500_000, 'content ');

async function* pieces(bytes: Buffer, size = 70_000): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function opened(bytes: Buffer, passphrase = phrase): Promise<Buffer> {
  const { content: parts } = await unseal(pieces(bytes), async () => ({ passphrase }));
  const found: Buffer[] = [];
  for await (const part of parts) found.push(part);
  return Buffer.concat(found);
}

describe('a sealed file', () => {
  let sealed: Buffer;
  let headerEnd: number;
  /** The beginnings of its three chunks. */
  let chunks: number[];

  beforeAll(async () => {
    const parts: Buffer[] = [];
    for await (const part of seal(pieces(content), { compression: 'gzip', pem }, lock, key)) parts.push(part);
    sealed = Buffer.concat(parts);
    headerEnd = sealMagic.length + 4 + sealed.readUInt32BE(sealMagic.length);
    chunks = [0, 1, 2].map((number) => headerEnd + number * (4 + (1 << 20) + 16));
  });

  it('gives back its content', async () => {
    expect((await opened(sealed)).equals(content)).toBe(true);
  });

  it('says nothing about its content to somebody without the passphrase', async () => {
    expect(sealed.includes('content')).toBe(false);
    await expect(opened(sealed, 'correct horse batterz')).rejects.toThrow('the passphrase or key is wrong');
  });

  it('is refused when any part of it is changed', async () => {
    const places = {
      length: sealMagic.length,
      size: chunks[1] ?? 0,
      last: (chunks[2] ?? 0) + 5,
      signature: sealed.length - 40,
    };
    for (const [name, at] of Object.entries(places)) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] as number) ^ 1;
      await expect(opened(changed), name).rejects.toThrow();
    }
  });

  it('is refused when it is cut, longer, or in another order', async () => {
    const [first = 0, second = 0, third = 0] = chunks;
    for (const end of [10, third, sealed.length - 1])
      await expect(opened(sealed.subarray(0, end)), String(end)).rejects.toThrow();
    await expect(opened(Buffer.concat([sealed, Buffer.from('x')]))).rejects.toThrow('something follows its end');
    const swapped = Buffer.concat([
      sealed.subarray(0, first),
      sealed.subarray(second, third),
      sealed.subarray(first, second),
      sealed.subarray(third),
    ]);
    await expect(opened(swapped)).rejects.toThrow('changed');
  });

  it('is refused when another key signed it', async () => {
    const parts: Buffer[] = [];
    for await (const part of seal(pieces(Buffer.from('x')), { compression: 'gzip', pem }, lock, newKey()))
      parts.push(part);
    await expect(opened(Buffer.concat(parts))).rejects.toThrow('its signature is not of the key');
  });

  it('does not spend the memory that a forged header asks for', async () => {
    const forged = JSON.stringify({
      kdf: 'scrypt',
      N: 2 ** 30,
      r: 8,
      p: 1,
      salt: Buffer.alloc(32).toString('base64'),
      compression: 'gzip',
      key: pem,
    });
    const length = Buffer.alloc(4);
    length.writeUInt32BE(forged.length);
    await expect(opened(Buffer.concat([sealMagic, length, Buffer.from(forged)]))).rejects.toThrow('does not know');
  });
});
