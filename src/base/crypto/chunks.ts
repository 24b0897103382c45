// Chunks of files between Halite master and minion: AES-256-GCM with a separate key, bound to the request they answer.
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { pack } from '../codec/msgpack/index.ts';
import { asList, type Value } from '../codec/value.ts';
import { HaliteError } from '../errors/index.ts';

/**
 * The request that a chunk answers. All fields are authenticated together with the bytes, so that no chunk can replace
 * another.
 */
export interface ChunkRequest {
  readonly nonce: string;
  readonly id: string;
  readonly saltenv: string;
  readonly path: string;
  readonly loc: number;
}

const formatVersion = 1;
const label = 'halite file chunk 1';
const nonceBytes = 12;
const tagBytes = 16;
/** Msgpack around the bytes: `[1, nonce, tag, ciphertext]`; all lengths except the last are fixed. */
const nonceAt = 4;
const tagAt = nonceAt + nonceBytes + 2;
const lengthAt = tagAt + tagBytes + 1;
/** Number of bytes that a buffer must leave free before the bytes to be sealed. */
export const chunkHeadBytes = lengthAt + 4;
const head = Buffer.alloc(chunkHeadBytes);
head.set([0x94, formatVersion, 0xc4, nonceBytes]);
head.set([0xc4, tagBytes], tagAt - 2);
head[lengthAt - 1] = 0xc6;
const zeros = Buffer.alloc(chunkHeadBytes);

/**
 * The space for the head is encrypted too, as zeros, and then overwritten by the head; the other side can compute that
 * part of the ciphertext. So the output of the cipher is the message itself, and no byte is copied.
 */
export class ChunkCipher {
  readonly #key: KeyObject;

  /** `secret` is the current session key; chunks use a key derived from it, which has no other use. */
  constructor(secret: Uint8Array) {
    this.#key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', label, 32)));
  }

  /**
   * The reply as sent over the network. `buffer` holds the bytes after the space for the head, and may be reused
   * afterwards.
   */
  seal(buffer: Buffer, request: ChunkRequest): Buffer {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: tagBytes }).setAAD(
      boundTo(request),
    );
    buffer.fill(0, 0, chunkHeadBytes);
    const reply = cipher.update(buffer);
    cipher.final();
    head.copy(reply);
    nonce.copy(reply, nonceAt);
    cipher.getAuthTag().copy(reply, tagAt);
    reply.writeUInt32BE(buffer.length - chunkHeadBytes, lengthAt);
    return reply;
  }

  /**
   * The bytes of a reply, unpacked in raw mode; throws `crypto.verify` unless it is the master's answer to this
   * request.
   */
  open(reply: Value, request: ChunkRequest): Buffer {
    const [format, nonce, tag, sealed, ...more] = asList(reply) ?? [];
    const hasForm =
      format === formatVersion && isBytes(nonce, nonceBytes) && isBytes(tag, tagBytes) && more.length === 0;
    if (!hasForm || !(sealed instanceof Uint8Array)) {
      throw new HaliteError('crypto.verify', 'A chunk of a file has an unknown format');
    }
    const decipher = createDecipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: tagBytes });
    decipher.setAAD(boundTo(request)).setAuthTag(tag);
    decipher.update(createCipheriv('aes-256-gcm', this.#key, nonce).update(zeros));
    // These bytes are not used before the tag has been verified.
    const plain = decipher.update(sealed);
    try {
      decipher.final();
    } catch {
      const { path, loc } = request;
      throw new HaliteError(
        'crypto.verify',
        `The chunk of ${path} at byte ${loc} does not authenticate: it was changed in transit, or answers another request`,
      );
    }
    return plain;
  }
}

function isBytes(value: Value | undefined, length: number): value is Uint8Array {
  return value instanceof Uint8Array && value.length === length;
}

function boundTo({ nonce, id, saltenv, path, loc }: ChunkRequest): Buffer {
  return pack([label, nonce, id, saltenv, path, loc]);
}
