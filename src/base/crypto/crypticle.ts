// Crypticle, Salt's symmetric envelope: AES-192-CBC, then HMAC-SHA256 over IV and ciphertext.
import { createCipheriv, createDecipheriv, type Decipher, randomBytes, timingSafeEqual } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pack, type UnpackOptions, unpack } from '../codec/msgpack/index.ts';
import { type Dict, dictGet, isDict, newDict, type Value } from '../codec/value.ts';
import { HaliteError } from '../errors/index.ts';
import { ChunkCipher } from './chunks.ts';
import { HmacKey } from './hmac.ts';
import { longestMessage, RunningCipher } from './running-cipher.ts';

const ivBytes = 16;
const block = 16;
const macBytes = 32;
const prefix = Buffer.from('pickle::');
const nonceBytes = 32;
/** A multiple of the block size that takes a few milliseconds to process. */
const slice = 1024 * 1024;

/** PKCS #7: as many bytes as are missing to a full block, each with that value. */
function withoutPadding(plain: Buffer): Buffer {
  const count = plain[plain.length - 1] ?? 0;
  const end = plain.length - count;
  let isRight = count >= 1 && count <= block && end >= 0;
  for (let at = end; isRight && at < plain.length; at++) isRight = plain[at] === count;
  if (!isRight) throw new HaliteError('crypto.verify', 'An encrypted message has wrong padding');
  return plain.subarray(0, end);
}

/** The offset of the authentication code; refuses input that is too short to be a message. */
function sealedEnd(message: Uint8Array): number {
  const end = message.length - macBytes;
  if (end < 2 * ivBytes) throw new HaliteError('crypto.verify', 'An encrypted message is too short');
  return end;
}

/** Only authenticated messages are processed further. */
function checkMac(mac: Buffer, message: Uint8Array): void {
  const end = message.length - macBytes;
  if (!timingSafeEqual(mac, message.subarray(end))) {
    throw new HaliteError('crypto.verify', 'An encrypted message does not authenticate: it was made with another key');
  }
  if ((end - ivBytes) % block !== 0)
    throw new HaliteError(
      'crypto.verify',
      'An encrypted message has a length that is not a multiple of the block size',
    );
}

/**
 * Keys with which short messages were exchanged lately, the oldest first: so many have a running cipher. Keys that are
 * used once, as those of pillars, have none.
 */
const running = new Set<{ stop(): void }>();
const mostRunning = 4096;

export interface OpenOptions extends UnpackOptions {
  /** The nonce that the message must contain; known only from the context. */
  readonly nonce?: string | undefined;
}

/** One key string and the operations with it. */
export class Crypticle {
  readonly keyString: string;
  readonly #aes: Uint8Array;
  readonly #hmac: HmacKey;
  #lastSerial = 0;
  #isUsed = false;
  #running: RunningCipher | undefined;
  #chunks: ChunkCipher | undefined;

  constructor(keyString: string | Uint8Array) {
    this.keyString = typeof keyString === 'string' ? keyString : Buffer.from(keyString).toString('latin1');
    const bytes = Buffer.from(this.keyString, 'base64');
    if (bytes.length !== 56) throw new HaliteError('crypto.key', 'A key string must hold 56 bytes in base64');
    // A copy: it is kept for long, and `bytes` belongs to Node's pool.
    this.#aes = new Uint8Array(bytes.subarray(0, 24));
    this.#hmac = new HmacKey(bytes.subarray(24));
  }

  static generateKeyString(): string {
    return randomBytes(56).toString('base64');
  }

  /** The cipher for file chunks with this key, for Halite peers. */
  get chunks(): ChunkCipher {
    this.#chunks ??= new ChunkCipher(Buffer.from(this.keyString, 'base64'));
    return this.#chunks;
  }

  /** For a short message with a key that was used before. */
  #runningFor(bytes: number): RunningCipher | undefined {
    if (bytes > longestMessage) return undefined;
    if (this.#running) return this.#running;
    if (!this.#isUsed) {
      this.#isUsed = true;
      return undefined;
    }
    this.#running = new RunningCipher(this.#aes);
    running.add(this);
    const [oldest] = running;
    if (running.size > mostRunning) oldest?.stop();
    return this.#running;
  }

  /** The key will hardly be used any more. */
  stop(): void {
    this.#running = undefined;
    running.delete(this);
  }

  /** `iv` is set only by tests with recorded bytes. */
  encrypt(plain: Uint8Array, iv?: Uint8Array): Buffer {
    return this.#encryptParts([plain], iv);
  }

  #encryptParts(parts: readonly Uint8Array[], iv?: Uint8Array): Buffer {
    let bytes = 0;
    for (const part of parts) bytes += part.length;
    const cipher = iv ? undefined : this.#runningFor(bytes);
    if (!cipher) return this.#encryptOnce(parts, iv ?? randomBytes(ivBytes));
    const sealed = cipher.encrypt(parts);
    return Buffer.concat([sealed, this.#hmac.digest(sealed)], sealed.length + macBytes);
  }

  #encryptOnce(parts: readonly Uint8Array[], iv: Uint8Array): Buffer {
    const cipher = createCipheriv('aes-192-cbc', this.#aes, iv);
    const chunks: Uint8Array[] = [iv];
    for (const part of parts) chunks.push(cipher.update(part));
    chunks.push(cipher.final());
    const mac = this.#hmac.start();
    for (const chunk of chunks) mac.update(chunk);
    chunks.push(mac.digest());
    return Buffer.concat(chunks);
  }

  decrypt(message: Uint8Array): Buffer {
    const end = sealedEnd(message);
    checkMac(this.#hmac.digest(message.subarray(0, end)), message);
    const running = this.#runningFor(end);
    if (running) return withoutPadding(running.decrypt(message.subarray(0, end)));
    const decipher = this.#decipher(message);
    const plain = decipher.update(message.subarray(ivBytes, end));
    decipher.final();
    return withoutPadding(plain);
  }

  /** The same, but yields to the event loop in between, for messages that would block it for long. */
  async decryptLong(message: Uint8Array): Promise<Buffer> {
    const end = sealedEnd(message);
    const hmac = this.#hmac.start();
    for (let at = 0; at < end; at += slice) {
      hmac.update(message.subarray(at, Math.min(end, at + slice)));
      await nextTurn();
    }
    checkMac(hmac.digest(), message);
    const decipher = this.#decipher(message);
    const plain = Buffer.allocUnsafeSlow(end - ivBytes);
    for (let at = ivBytes; at < end; at += slice) {
      plain.set(decipher.update(message.subarray(at, Math.min(end, at + slice))), at - ivBytes);
      await nextTurn();
    }
    decipher.final();
    return withoutPadding(plain);
  }

  /**
   * Removes the padding here: when Node does it, the last block is a separate buffer and everything must be copied to
   * join it.
   */
  #decipher(message: Uint8Array): Decipher {
    return createDecipheriv('aes-192-cbc', this.#aes, message.subarray(0, ivBytes)).setAutoPadding(false);
  }

  /** Serializes and encrypts: replies contain the request's nonce, other messages contain none. */
  seal(value: Value, nonce?: string, iv?: Uint8Array): Buffer {
    const parts = nonce ? [prefix, Buffer.from(nonce), pack(value)] : [prefix, pack(value)];
    return this.#encryptParts(parts, iv);
  }

  /** Decrypts and deserializes; as in Salt, a plaintext without the prefix counts as an empty map. */
  open(message: Uint8Array, options: OpenOptions = {}): Value {
    return this.#read(this.decrypt(message), options);
  }

  /** The same for long messages, see `decryptLong`. */
  async openLong(message: Uint8Array, options: OpenOptions = {}): Promise<Value> {
    return this.#read(await this.decryptLong(message), options);
  }

  #read(plain: Buffer, options: OpenOptions): Value {
    if (!plain.subarray(0, prefix.length).equals(prefix)) return newDict();
    let start = prefix.length;
    if (options.nonce) {
      const expected = Buffer.from(options.nonce);
      start += nonceBytes;
      const found = plain.subarray(prefix.length, start);
      if (found.length !== expected.length || !timingSafeEqual(found, expected)) {
        throw new HaliteError('crypto.verify', 'A reply carries another nonce than the request', {
          details: { what: 'nonce' },
        });
      }
    }
    return unpack(plain.subarray(start), options);
  }

  /** The serial of the newest publish decrypted with this key. */
  get serial(): number {
    return this.#lastSerial;
  }

  /** Called when an earlier process has decrypted publishes with this key up to that serial. */
  resumePublishes(serial: number): void {
    this.#lastSerial = Math.max(this.#lastSerial, serial);
  }

  /**
   * Decrypts a publish and removes `serial` from it; undefined for a publish that is not newer than the last one with
   * this key.
   */
  openPublish(message: Uint8Array, options: UnpackOptions = {}): Dict | undefined {
    const job = this.open(message, options);
    if (!isDict(job)) return undefined;
    const serial = dictGet(job, 'serial');
    if (serial === undefined) return job;
    if (typeof serial !== 'number' || serial <= this.#lastSerial) return undefined;
    this.#lastSerial = serial;
    if (job instanceof Map) job.delete('serial');
    else delete job['serial'];
    return job;
  }
}
