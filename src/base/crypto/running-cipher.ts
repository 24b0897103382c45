// AES-192-CBC for many short messages with one cipher object each way: making one for every message would cost more than
// the encryption itself.
//
// In CBC a block is combined with the block of ciphertext before it, so a cipher can go on from one message to the next:
// - Encryption begins each message with a fresh random block that is sent to nobody. What the cipher makes of it is as
//   random and as unpredictable as that block, and is the IV of the message.
// - Decryption is given the IV as the first block. What comes out of it depends on the message before and is thrown away;
//   every later block depends only on this message.
import { type Cipher, createCipheriv, createDecipheriv, type Decipher, randomFillSync } from 'node:crypto';

const blockBytes = 16;
/** Longer messages are worth a cipher of their own. */
export const longestMessage = 32 * 1024;
const cipherName = 'aes-192-cbc';

// Used by one synchronous call at a time.
const scratch = Buffer.allocUnsafeSlow(longestMessage + 3 * blockBytes);
const random = Buffer.allocUnsafeSlow(256 * blockBytes);
let randomAt = random.length;

/** Random bytes are taken from the system in portions; each is used once. */
function freshBlock(into: Buffer): void {
  if (randomAt === random.length) {
    randomFillSync(random);
    randomAt = 0;
  }
  random.copy(into, 0, randomAt, randomAt + blockBytes);
  random.fill(0, randomAt, randomAt + blockBytes);
  randomAt += blockBytes;
}

export class RunningCipher {
  readonly #key: Uint8Array;
  #cipher: Cipher | undefined;
  #decipher: Decipher | undefined;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** IV and ciphertext of the parts together, which have at most `longestMessage` bytes. */
  encrypt(parts: readonly Uint8Array[]): Buffer {
    freshBlock(scratch);
    let end = blockBytes;
    for (const part of parts) {
      scratch.set(part, end);
      end += part.length;
    }
    // PKCS #7.
    const padding = blockBytes - (end % blockBytes);
    scratch.fill(padding, end, end + padding);
    // The first IV only replaces the ciphertext of a message before.
    this.#cipher ??= createCipheriv(cipherName, this.#key, Buffer.alloc(blockBytes)).setAutoPadding(false);
    return this.#cipher.update(scratch.subarray(0, end + padding));
  }

  /** The padded plaintext of IV and ciphertext, which are authentic and a multiple of the block size. */
  decrypt(message: Uint8Array): Buffer {
    this.#decipher ??= createDecipheriv(cipherName, this.#key, Buffer.alloc(blockBytes)).setAutoPadding(false);
    return this.#decipher.update(message).subarray(blockBytes);
  }
}
