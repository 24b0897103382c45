// The seal of everything that members tell each other: 20 clear bytes, then AES-256-GCM of msgpack.
//
// Clear: version, number of the bus key, slot, flags, boot (8), n (8). The key is derived from the bus key for this slot and
// boot; n is the nonce, which a boot never uses twice. What the message is for (kind, cluster, subject) is authenticated, so
// that none can stand in another's place.
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { packValue, unpack } from '../../../base/codec/msgpack/index.ts';
import type { Value } from '../../../base/codec/value.ts';
import type { HaliteError } from '../../../base/errors/index.ts';
import type { BusKeys } from '../ports.ts';

const version = 1;
const clearBytes = 20;
const tagBytes = 16;
const deflated = 1;
const deflateFrom = 1024;
/** Of a sealed message; NATS carries 1 MB. */
export const mostSealedBytes = 960 * 1024;
const mostPlainBytes = 64 * 1024 * 1024;
const rememberedKeys = 64;

/** The slot of a member that has none yet. */
const noSlot = 255;

/** Why a message is not taken. `unknown-version`: a newer member wrote it; `retired-key`: with a key that was replaced. */
export type SealProblem = 'foreign' | 'unknown-version' | 'unknown-key' | 'retired-key';

export interface Opened {
  readonly slot: number;
  readonly boot: string;
  readonly n: number;
  readonly body: Value;
}

export interface Sealed {
  readonly bytes: Buffer;
  readonly n: number;
}

export class Envelope {
  readonly boot: string;
  #slot = noSlot;
  #n = 0;
  readonly #bootBytes = randomBytes(8);
  readonly #cluster: string;
  readonly #keys: BusKeys;
  readonly #derived = new Map<string, KeyObject>();
  #lockedOut: HaliteError | undefined;

  constructor(cluster: string, keys: BusKeys) {
    this.#cluster = cluster;
    this.#keys = keys;
    this.boot = this.#bootBytes.toString('hex');
  }

  /** From now on messages are sealed as those of this slot. */
  takeSlot(slot: number): void {
    this.#slot = slot;
  }

  /** The others have a key that this member does not get: what it would seal, they would not read. */
  lockOut(why: HaliteError | undefined): void {
    this.#lockedOut = why;
  }

  get lockedOut(): HaliteError | undefined {
    return this.#lockedOut;
  }

  get keys(): BusKeys {
    return this.#keys;
  }

  /** The number of the key that a message is sealed with, as it says; undefined for what is none of this version. */
  keyNumberOf(bytes: Uint8Array): number | undefined {
    return bytes.length >= clearBytes + tagBytes && bytes[0] === version ? bytes[1] : undefined;
  }

  /** `raw`: the body is already packed. */
  seal(subject: string, body: Value, raw?: Uint8Array): Sealed {
    if (this.#lockedOut) throw this.#lockedOut;
    const { number, key } = this.#keys.current();
    const n = ++this.#n;
    const plain = raw ?? packValue(body);
    const packed = plain.length >= deflateFrom ? deflateRawSync(plain, { level: 1 }) : plain;
    const flags = packed.length < plain.length ? deflated : 0;
    const clear = Buffer.alloc(clearBytes);
    clear.set([version, number, this.#slot, flags]);
    clear.set(this.#bootBytes, 4);
    clear.writeBigUInt64BE(BigInt(n), 12);
    const cipher = createCipheriv('aes-256-gcm', this.#derive(number, key, clear), nonceOf(clear));
    cipher.setAAD(this.#bound(clear, subject));
    const text = cipher.update(flags === deflated ? packed : plain);
    cipher.final();
    return { bytes: Buffer.concat([clear, text, cipher.getAuthTag()]), n };
  }

  /** Verifies, decrypts, then unpacks: the body, or why it is not taken. Never throws. */
  open(subject: string, bytes: Uint8Array, options: { readonly raw?: boolean } = {}): Opened | SealProblem {
    if (bytes.length < clearBytes + tagBytes || bytes.length > mostSealedBytes + 4096) return 'foreign';
    const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const clear = message.subarray(0, clearBytes);
    if (clear[0] !== version) return clear[0] === 0 ? 'foreign' : 'unknown-version';
    const key = this.#keys.byNumber(clear[1] as number);
    if (!key) return (clear[1] as number) < this.#keys.oldest ? 'retired-key' : 'unknown-key';
    const end = message.length - tagBytes;
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#derive(clear[1] as number, key, clear), nonceOf(clear), {
        authTagLength: tagBytes,
      });
      decipher.setAAD(this.#bound(clear, subject)).setAuthTag(message.subarray(end));
      const text = decipher.update(message.subarray(clearBytes, end));
      decipher.final();
      const isDeflated = ((clear[3] as number) & deflated) !== 0;
      const plain = isDeflated ? inflateRawSync(text, { maxOutputLength: mostPlainBytes }) : text;
      const body = unpack(plain, { maxBytes: mostPlainBytes, raw: options.raw === true });
      const n = Number(clear.readBigUInt64BE(12));
      return { slot: clear[2] as number, boot: clear.toString('hex', 4, 12), n, body };
    } catch {
      return 'foreign';
    }
  }

  /** Whether this member sealed these bytes in this run. */
  isOwn(bytes: Uint8Array): boolean {
    return bytes.length > clearBytes && this.#bootBytes.equals(bytes.subarray(4, 12));
  }

  #derive(number: number, key: Uint8Array, clear: Buffer): KeyObject {
    // The number alone does not name a key: another one may have been made after the file was lost.
    const name = `${number} ${clear[2]} ${clear.toString('latin1', 4, 12)} ${Buffer.from(key).toString('latin1', 0, 8)}`;
    let derived = this.#derived.get(name);
    if (derived) return derived;
    const info = Buffer.concat([Buffer.from('halite bus 1'), clear.subarray(2, 3), clear.subarray(4, 12)]);
    derived = createSecretKey(Buffer.from(hkdfSync('sha256', key, '', info, 32)));
    if (this.#derived.size >= rememberedKeys) this.#derived.delete(this.#derived.keys().next().value as string);
    this.#derived.set(name, derived);
    return derived;
  }

  #bound(clear: Buffer, subject: string): Buffer {
    return Buffer.concat([clear, Buffer.from(`halite 1 ${this.#cluster} ${subject}`)]);
  }
}

function nonceOf(clear: Buffer): Buffer {
  const nonce = Buffer.alloc(12);
  clear.copy(nonce, 4, 12, 20);
  return nonce;
}
