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
  /** The key combined with the inner and the outer constant. Not from Node's pool, of which it would hold 8 kB. */
  readonly #blocks = new Uint8Array(2 * blockBytes);
  readonly #length: number;

  constructor(key: Uint8Array) {
    if (key.length > blockBytes) throw new RangeError('an HMAC key of more than one block');
    this.#length = key.length;
    for (let at = 0; at < blockBytes; at++) {
      const byte = key[at] ?? 0;
      this.#blocks[at] = byte ^ innerByte;
      this.#blocks[blockBytes + at] = byte ^ outerByte;
    }
  }

  digest(message: Uint8Array): Buffer {
    if (message.length > longest) return this.start().update(message).digest();
    const blocks = this.#blocks;
    for (let at = 0; at < blockBytes; at++) {
      inner[at] = blocks[at] as number;
      outer[at] = blocks[blockBytes + at] as number;
    }
    inner.set(message, blockBytes);
    outer.set(hash('sha256', inner.subarray(0, blockBytes + message.length), 'buffer'), blockBytes);
    return hash('sha256', outer, 'buffer');
  }

  /** For messages that are read in parts. */
  start(): Hmac {
    const key = this.#blocks.slice(0, this.#length);
    return createHmac(
      'sha256',
      key.map((byte) => byte ^ innerByte),
    );
  }
}
