// Chunks of files between Halite and Halite: AES-256-GCM under a key of its own, bound to the request they answer.
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { pack } from '../codec/msgpack/index.ts';
import type { Value } from '../codec/value.ts';
import { HaliteError } from '../errors/index.ts';

/** What a chunk answers. All of it is authenticated with the bytes, so that no chunk can stand for another. */
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
/** Msgpack around the bytes: `[1, nonce, tag, ciphertext]`, all lengths but the last being known. */
const nonceAt = 4;
const tagAt = nonceAt + nonceBytes + 2;
const lengthAt = tagAt + tagBytes + 1;
/** Room that a buffer leaves in front of the bytes to be sealed. */
export const chunkHeadBytes = lengthAt + 4;
const head = Buffer.alloc(chunkHeadBytes);
head.set([0x94, formatVersion, 0xc4, nonceBytes]);
head.set([0xc4, tagBytes], tagAt - 2);
head[lengthAt - 1] = 0xc6;
const zeros = Buffer.alloc(chunkHeadBytes);

/**
 * The room for the head is sealed too, as zeros, and the head then written over its ciphertext, which the other side can
 * compute: so the output of the cipher is the message, and no byte is copied.
 */
export class ChunkCipher {
  readonly #key: KeyObject;

  /** `secret` is the session key in force; a key derived from it is used for chunks and for nothing else. */
  constructor(secret: Uint8Array) {
    this.#key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', label, 32)));
  }

  /** The reply as it goes over the wire. `buffer` holds the bytes behind room for the head, and may be used again. */
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

  /** The bytes in a reply, unpacked in raw mode; throws `crypto.verify` unless it is the master's answer to this request. */
  open(reply: Value, request: ChunkRequest): Buffer {
    const [format, nonce, tag, sealed, ...more] = Array.isArray(reply) ? reply : [];
    const hasForm =
      format === formatVersion && isBytes(nonce, nonceBytes) && isBytes(tag, tagBytes) && more.length === 0;
    if (!hasForm || !(sealed instanceof Uint8Array)) {
      throw new HaliteError('crypto.verify', 'A chunk of a file has a form that is not known here');
    }
    const decipher = createDecipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: tagBytes });
    decipher.setAAD(boundTo(request)).setAuthTag(tag);
    decipher.update(createCipheriv('aes-256-gcm', this.#key, nonce).update(zeros));
    // Nobody sees these bytes before the tag has been compared.
    const plain = decipher.update(sealed);
    try {
      decipher.final();
    } catch {
      const { path, loc } = request;
      throw new HaliteError(
        'crypto.verify',
        `The chunk of ${path} at byte ${loc} does not authenticate: it was changed on its way, or answers another request`,
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
