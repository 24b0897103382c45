// HMAC-SHA256. Short messages take two hashes in one call each, which costs half as much as Node's Hmac object.
import { createHmac, type Hmac, hash } from 'node:crypto';

const blockBytes = 64;
const digestBytes = 32;
const longest = 32 * 1024;
const [innerByte, outerByte] = [0x36, 0x5c];

// Computing is synchronous, so two calls never use these at the same time.
const inner = Buffer.allocUnsafeSlow(blockBytes + longest);
const outer = Buffer.allocUnsafeSlow(blockBytes + digestBytes);

/** A key of at most one block, which RFC 2104 uses as it is. */
export class HmacKey {
  /**
   * A copy: Node's pool would hold 8 kB for it. So short an array needs no memory outside the heap of V8, and it is kept
   * for every minion.
   */
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    if (key.length > blockBytes) throw new RangeError('an HMAC key of more than one block');
    this.#key = new Uint8Array(key);
  }

  digest(message: Uint8Array): Buffer {
    if (message.length > longest) return this.start().update(message).digest();
    const key = this.#key;
    for (let at = 0; at < key.length; at++) {
      const byte = key[at] as number;
      inner[at] = byte ^ innerByte;
      outer[at] = byte ^ outerByte;
    }
    inner.fill(innerByte, key.length, blockBytes);
    outer.fill(outerByte, key.length, blockBytes);
    inner.set(message, blockBytes);
    outer.set(hash('sha256', inner.subarray(0, blockBytes + message.length), 'buffer'), blockBytes);
    return hash('sha256', outer, 'buffer');
  }

  /** For messages that are read in parts. */
  start(): Hmac {
    return createHmac('sha256', this.#key);
  }
}
