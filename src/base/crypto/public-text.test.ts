// Public keys that are read without asking OpenSSL what they are.
import { createPublicKey, generateKeyPairSync, type KeyObject, publicEncrypt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { plainPublicKey } from './public-text.ts';

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const textOf = (key: KeyObject): string => (key.export({ type: 'spki', format: 'pem' }) as string).trim();
const text = textOf(pair.publicKey);
const pemOf = (der: Buffer): string => {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN PUBLIC KEY-----', ...lines, '-----END PUBLIC KEY-----'].join('\n');
};
const der = pair.publicKey.export({ type: 'spki', format: 'der' });

describe('a public key in the usual form', () => {
  it.each([
    [2048, 65_537],
    [2056, 3],
    [3072, 65_537],
    [2048, 0x8000_0001],
  ])('of %i bits with exponent %i is the key that OpenSSL reads', (modulusLength, publicExponent) => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength, publicExponent });
    const key = plainPublicKey(textOf(publicKey));
    expect(key?.equals(publicKey)).toBe(true);
    expect(key?.asymmetricKeyDetails).toEqual(publicKey.asymmetricKeyDetails);
    expect(key && textOf(key)).toBe(textOf(publicKey));
    expect(key && publicEncrypt(key, Buffer.from('x'))).toHaveLength(modulusLength / 8);
  });

  it('is undefined in every other form, which OpenSSL then judges', () => {
    const pss = generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey;
    const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
    const others = [
      ...['', 'x', text.replaceAll('\n', '\r\n'), `${text}\n`, text.replace('\n', '\n\n'), `${text}\n${text}`],
      ...[textOf(pss), textOf(elliptic), pair.publicKey.export({ type: 'pkcs1', format: 'pem' }) as string],
      pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      pemOf(Buffer.concat([der, Buffer.alloc(1)])),
      pemOf(Buffer.alloc(0)),
    ];
    for (const other of others) expect(plainPublicKey(other)).toBeUndefined();
  });

  it('is never a key that OpenSSL would not read, or another one, whichever byte is wrong or missing', () => {
    const heads = [...Array(40).keys(), ...Array.from({ length: 10 }, (_, at) => der.length - 1 - at)];
    for (const at of heads) {
      for (const change of [1, 0x80, 0xff]) {
        const wrong = Buffer.from(der);
        wrong[at] = (wrong[at] as number) ^ change;
        const given = pemOf(wrong);
        const key = plainPublicKey(given);
        if (key) expect(key.equals(createPublicKey(given))).toBe(true);
      }
      expect(plainPublicKey(pemOf(der.subarray(0, at)))).toBeUndefined();
    }
  });
});
