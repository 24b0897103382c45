// Many messages under one key: each is what one cipher object for itself would have made, whatever was before it.
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { HmacKey } from './hmac.ts';
import { Crypticle } from './index.ts';
import { longestMessage } from './running-cipher.ts';

/** The format, written a second time with nothing but what Node offers. */
class Plain {
  readonly #aes: Buffer;
  readonly #hmac: Buffer;
  constructor(text: string) {
    const bytes = Buffer.from(text, 'base64');
    this.#aes = bytes.subarray(0, 24);
    this.#hmac = bytes.subarray(24);
  }
  seal(plain: Buffer): Buffer {
    const iv = randomBytes(16);
    const cipher = createCipheriv('aes-192-cbc', this.#aes, iv);
    const body = Buffer.concat([iv, cipher.update(plain), cipher.final()]);
    return Buffer.concat([body, createHmac('sha256', this.#hmac).update(body).digest()]);
  }
  open(message: Buffer): Buffer {
    const body = message.subarray(0, -32);
    expect(createHmac('sha256', this.#hmac).update(body).digest().equals(message.subarray(-32))).toBe(true);
    const decipher = createDecipheriv('aes-192-cbc', this.#aes, body.subarray(0, 16));
    return Buffer.concat([decipher.update(body.subarray(16)), decipher.final()]);
  }
}

const edges = [
  0,
  1,
  15,
  16,
  17,
  31,
  32,
  33,
  255,
  4096,
  longestMessage - 1,
  longestMessage,
  longestMessage + 1,
  200_000,
];

describe('messages under one key', () => {
  it('are independent of those before, in both directions and of any length', () => {
    const text = Crypticle.generateKeyString();
    const [ours, plain] = [new Crypticle(text), new Plain(text)];
    for (const length of [...edges, ...edges.toReversed()]) {
      const content = randomBytes(length);
      expect(plain.open(ours.encrypt(content)).equals(content)).toBe(true);
      expect(ours.decrypt(plain.seal(content)).equals(content)).toBe(true);
      // By another object that has just begun.
      expect(new Crypticle(text).decrypt(ours.encrypt(content)).equals(content)).toBe(true);
    }
  });

  it('never share an IV or a ciphertext, also for the same content', () => {
    const key = new Crypticle(Crypticle.generateKeyString());
    const ivs = new Set<string>();
    const all = new Set<string>();
    for (let i = 0; i < 2000; i++) {
      const message = key.encrypt(Buffer.alloc(16, 1));
      ivs.add(message.toString('latin1', 0, 16));
      all.add(message.toString('latin1', 16, 32));
    }
    expect([ivs.size, all.size]).toEqual([2000, 2000]);
  });

  it('that are forged are refused, and the next one is read', () => {
    const text = Crypticle.generateKeyString();
    const [ours, plain] = [new Crypticle(text), new Plain(text)];
    const good = plain.seal(Buffer.from('pickle::\x01'));
    const refused = (message: Buffer) => expect(() => ours.decrypt(message)).toThrow(/does not authenticate|too short/);
    for (let round = 0; round < 3; round++) {
      expect(ours.open(good)).toBe(1);
      for (const at of [0, 15, 16, good.length - 33, good.length - 32, good.length - 1]) {
        const forged = Buffer.from(good);
        forged[at]! ^= 1;
        refused(forged);
      }
      refused(good.subarray(0, -1));
      refused(Buffer.alloc(0));
      refused(Buffer.alloc(48));
    }
  });

  it('with wrong padding are refused although they authenticate', () => {
    const text = Crypticle.generateKeyString();
    const key = new Crypticle(text);
    const bytes = Buffer.from(text, 'base64');
    const padded = (block: Buffer): Buffer => {
      const iv = randomBytes(16);
      const cipher = createCipheriv('aes-192-cbc', bytes.subarray(0, 24), iv).setAutoPadding(false);
      const body = Buffer.concat([iv, cipher.update(block), cipher.final()]);
      return Buffer.concat([body, createHmac('sha256', bytes.subarray(24)).update(body).digest()]);
    };
    for (const last of [0, 17, 255, 2]) {
      for (let round = 0; round < 3; round++) {
        const block = Buffer.alloc(16, 9);
        block[15] = last;
        expect(() => key.decrypt(padded(block))).toThrow(/wrong padding/);
      }
    }
    expect(key.decrypt(padded(Buffer.alloc(16, 16)))).toHaveLength(0);
  });

  it('are read when more keys are in use than have a running cipher', () => {
    const keys = Array.from({ length: 4200 }, () => Crypticle.generateKeyString());
    const ours = keys.map((key) => new Crypticle(key));
    // The second message under a key starts its cipher; the first keys then lose theirs.
    for (const key of ours) for (const content of ['a', 'b']) key.encrypt(Buffer.from(content));
    for (const at of [0, 1, 50, 4100, 4199, 0, 1]) {
      const [mine, plain] = [ours[at] as Crypticle, new Plain(keys[at] as string)];
      expect(plain.open(mine.encrypt(Buffer.from('mine'))).toString()).toBe('mine');
      expect(mine.decrypt(plain.seal(Buffer.from('theirs'))).toString()).toBe('theirs');
    }
  });
});

describe('an HMAC', () => {
  it('is that of Node for messages of any length', () => {
    for (const keyLength of [0, 1, 32, 64]) {
      const bytes = randomBytes(keyLength);
      const key = new HmacKey(bytes);
      for (const length of [0, 1, 55, 56, 63, 64, 65, 1000, 32 * 1024, 32 * 1024 + 1]) {
        const message = randomBytes(length);
        const expected = createHmac('sha256', bytes).update(message).digest();
        expect(key.digest(message).equals(expected)).toBe(true);
        expect(key.start().update(message).digest().equals(expected)).toBe(true);
      }
    }
    expect(() => new HmacKey(Buffer.alloc(65))).toThrow();
  });
});
