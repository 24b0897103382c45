// Key files as Salt writes them, and which ones are refused.
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HaliteError } from '../errors/index.ts';
import {
  Crypticle,
  cleanKey,
  generateKeyPairFiles,
  isEncAlgo,
  isSigAlgo,
  loadPrivateKey,
  loadPublicKey,
  makeToken,
  oaepEncrypt,
  publicPem,
  signPkcs1,
  verifyPkcs1,
  verifyToken,
  x931Recover,
  x931Sign,
} from './index.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'halite-keys-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe('key files', () => {
  it('are PKCS#1 and SPKI with the right modes, and are never replaced', async () => {
    const path = await generateKeyPairFiles(dir, 'minion', 2048, { user: 'no-such-user-here' });
    const text = readFileSync(path, 'utf8');
    expect(text).toMatch(/^-----BEGIN RSA PRIVATE KEY-----\n/);
    expect(readFileSync(join(dir, 'minion.pub'), 'utf8')).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
    expect([modeOf(path), modeOf(join(dir, 'minion.pub'))]).toEqual(['400', '644']);
    unlinkSync(join(dir, 'minion.pub'));
    expect(await generateKeyPairFiles(dir, 'minion')).toBe(path);
    expect(readFileSync(path, 'utf8')).toBe(text);
    expect(readFileSync(join(dir, 'minion.pub'), 'utf8')).toBe(publicPem(loadPrivateKey(path)));
  });

  it('can have a passphrase', async () => {
    const path = await generateKeyPairFiles(dir, 'locked', 2048, { passphrase: 'secret' });
    expect(readFileSync(path, 'utf8')).toContain('Proc-Type: 4,ENCRYPTED');
    const key = loadPrivateKey(path, 'secret');
    expect(loadPrivateKey(path, 'secret')).toBe(key);
    expect(() => loadPrivateKey(path, 'wrong')).toThrow(
      expect.objectContaining({ hint: expect.stringMatching(/key_pass/) }),
    );
    const publicKey = loadPublicKey(readFileSync(join(dir, 'locked.pub'), 'utf8'));
    expect(verifyPkcs1(publicKey, 'data', signPkcs1(key, 'data'))).toBe(true);
  });

  it('created at the same time by two processes is one key', async () => {
    const [a, b] = await Promise.all([generateKeyPairFiles(dir, 'race'), generateKeyPairFiles(dir, 'race')]);
    expect(a).toBe(b);
    expect(publicPem(loadPrivateKey(a))).toBe(readFileSync(join(dir, 'race.pub'), 'utf8'));
  });

  it('is read again when the file changes', () => {
    const path = join(dir, 'changing.pem');
    const pems = ['minion.pem', 'race.pem'].map((name) => readFileSync(join(dir, name), 'utf8'));
    writeFileSync(path, pems[0] as string);
    utimesSync(path, 1, 1);
    const first = loadPrivateKey(path);
    writeFileSync(path, pems[1] as string);
    expect(publicPem(loadPrivateKey(path))).not.toBe(publicPem(first));
  });
});

describe('refused keys', () => {
  it('small keys, other kinds, private keys and certificates as public ones', () => {
    const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;
    expect(() => loadPublicKey(publicPem(small))).toThrow(/1024 bits/);
    expect(loadPublicKey(publicPem(small), { minBits: 1024 }).asymmetricKeyType).toBe('rsa');
    expect(() => loadPublicKey(publicPem(small))).toThrow(/1024 bits/);
    const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
    expect(() => loadPublicKey(publicPem(curve))).toThrow(HaliteError);
    expect(() => loadPublicKey(readFileSync(join(dir, 'minion.pem'), 'utf8'))).toThrow(HaliteError);
    for (const text of ['', 'x', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----', 'a'.repeat(70_000)]) {
      expect(() => loadPublicKey(text)).toThrow(HaliteError);
    }
    expect(() => loadPrivateKey(join(dir, 'missing.pem'))).toThrow(HaliteError);
    expect(() => loadPrivateKey(dir)).toThrow(HaliteError);
    expect([isEncAlgo('OAEP-SHA224'), isEncAlgo('toString'), isSigAlgo('PKCS1v15-SHA1'), isSigAlgo('md5')]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  it('public keys in the old form are read, with any line ends', () => {
    const pem = readFileSync(join(dir, 'minion.pub'), 'utf8');
    const old = loadPublicKey(pem).export({ type: 'pkcs1', format: 'pem' }) as string;
    for (const text of [old, `\n${pem}\n`, pem.replaceAll('\n', '\r\n'), cleanKey(pem)]) {
      expect(publicPem(loadPublicKey(text))).toBe(pem);
    }
    expect(loadPublicKey(pem)).toBe(loadPublicKey(pem));
  });

  it('tokens that are random, too long or of others', () => {
    const key = loadPrivateKey(join(dir, 'minion.pem'));
    const publicKey = loadPublicKey(readFileSync(join(dir, 'minion.pub'), 'utf8'));
    const token = makeToken(key);
    expect([verifyToken(publicKey, token), verifyToken(publicKey, token)]).toEqual([true, true]);
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 250, maxLength: 260 }), (bytes) => {
        expect(verifyToken(publicKey, bytes)).toBe(false);
        expect(() => x931Recover(publicKey, bytes)).toThrow(HaliteError);
      }),
      { numRuns: 50 },
    );
    expect(verifyToken(publicKey, Buffer.alloc(256, 0xff))).toBe(false);
    expect(verifyToken(publicKey, x931Sign(key, Buffer.from('pepper')))).toBe(false);
    expect(() => x931Sign(key, Buffer.alloc(300))).toThrow(HaliteError);
    expect(() => oaepEncrypt(publicKey, Buffer.alloc(300))).toThrow(HaliteError);
    const full = Buffer.alloc(254, 7);
    expect(x931Recover(publicKey, x931Sign(key, full))).toEqual(full);
  });

  it('wrong key strings and damaged envelopes', () => {
    for (const text of ['', 'abc', Buffer.alloc(55).toString('base64')])
      expect(() => new Crypticle(text)).toThrow(HaliteError);
    const box = new Crypticle(Crypticle.generateKeyString());
    const sealed = box.seal({ a: 1 });
    fc.assert(
      fc.property(fc.nat(sealed.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const damaged = Buffer.from(sealed);
        damaged[at] = (damaged[at] as number) ^ flip;
        expect(() => box.open(damaged)).toThrow(expect.objectContaining({ code: 'crypto.verify' }));
      }),
    );
    for (let length = 0; length < sealed.length; length += 9)
      expect(() => box.open(sealed.subarray(0, length))).toThrow(HaliteError);
    expect(() => box.open(box.encrypt(Buffer.from('pickle::\xc1', 'latin1')))).toThrow(HaliteError);
    expect(() => box.open(box.encrypt(Buffer.from('pickle::short')), { nonce: 'a'.repeat(32) })).toThrow(/nonce/);
    expect(box.openPublish(box.seal('no map'))).toBeUndefined();
  });
});
