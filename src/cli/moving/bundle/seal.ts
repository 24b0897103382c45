// The form of an exported master and of a backup: a header, encrypted chunks, and a signature over everything before it.
// A chunk is AES-256-GCM; its nonce is its number, and the digest of the header, its number and whether it is the last
// one are authenticated with it, so that nothing can be cut, moved or added. lock.ts says where the key comes from.
import { createCipheriv, createDecipheriv, createHash, createSign, createVerify, type KeyObject } from 'node:crypto';
import { textField } from '../../../base/codec/fields.ts';
import { isDict, type Value } from '../../../base/codec/value.ts';
import { cleanKey, fingerprint, loadPublicKey } from '../../../base/crypto/index.ts';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import { ByteReader } from './bytes.ts';
import type { Compression } from './compression.ts';
import { type Lock, lockOf, type Opener, openLock, readLock, type ToOpen } from './lock.ts';

export const sealMagic = Buffer.from('HALITE MASTER 1\n');
const chunkBytes = 1 << 20;
const tagBytes = 16;
const lastFlag = 0x8000_0000;
const mostHeader = 64 * 1024;
export interface SealHeader {
  readonly compression: Compression;
  /** Clean public key of the master that was exported. */
  readonly pem: string;
  /** What is needed to read it. */
  readonly needs: ToOpen;
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

function bound(digest: Buffer, counter: number, last: boolean): { nonce: Buffer; extra: Buffer } {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(counter, 8);
  return { nonce, extra: Buffer.concat([digest, number(counter), Buffer.from([last ? 1 : 0])]) };
}

/** The sealed form of a stream. */
export async function* seal(
  content: AsyncIterable<Uint8Array>,
  header: Omit<SealHeader, 'needs'>,
  lock: Lock,
  privateKey: KeyObject,
): AsyncGenerator<Buffer> {
  const { key, fields } = await lockOf(lock);
  const said = Buffer.from(JSON.stringify({ ...fields, compression: header.compression, key: header.pem }));
  const digest = createHash('sha256').update(said).digest();
  const signer = createSign('sha256');
  const out = (...parts: Buffer[]): Buffer => {
    const bytes = Buffer.concat(parts);
    signer.update(bytes);
    return bytes;
  };
  yield out(sealMagic, number(said.length), said);
  let counter = 0;
  const chunk = (plain: Buffer, last: boolean): Buffer => {
    const { nonce, extra } = bound(digest, counter++, last);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(extra);
    const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    return out(number(last ? (sealed.length | lastFlag) >>> 0 : sealed.length), sealed);
  };
  let held: Buffer = Buffer.alloc(0);
  for await (const part of content) {
    held = Buffer.concat([held, part]);
    for (; held.length > chunkBytes; held = held.subarray(chunkBytes)) yield chunk(held.subarray(0, chunkBytes), false);
  }
  yield chunk(held, true);
  const signature = signer.sign(privateKey);
  yield Buffer.concat([number(signature.length), signature]);
}

const bad = (what: string): HaliteError =>
  new HaliteError('crypto.verify', `The master in this file cannot be used: ${what}. Nothing was changed`);

function readHeader(bytes: Buffer): SealHeader {
  let value: Value;
  try {
    value = JSON.parse(bytes.toString('utf8')) as Value;
  } catch {
    throw bad('its header is not readable');
  }
  if (!isDict(value)) throw bad('its header is not readable');
  const needs = readLock(value);
  const compression = textField(value, 'compression');
  if (needs === undefined || (compression !== 'gzip' && compression !== 'zstd'))
    throw bad('its header has values that this version does not know');
  const pem = cleanKey(textField(value, 'key') ?? '');
  try {
    loadPublicKey(pem);
  } catch (error) {
    throw bad(`its key is not usable: ${messageOf(error)}`);
  }
  return { compression, pem, needs };
}

/** The header, and the content while it is verified: it may be used only when the generator has ended. */
export async function unseal(
  input: AsyncIterable<Uint8Array>,
  opener: (header: SealHeader) => Promise<Opener>,
): Promise<{ header: SealHeader; content: AsyncGenerator<Buffer> }> {
  const bytes = new ByteReader(input);
  const magic = await bytes.take(sealMagic.length);
  if (!magic?.equals(sealMagic)) throw bad('it is not a file of master.export or master.backup');
  const size = await bytes.need(4);
  if (size.readUInt32BE() > mostHeader) throw bad('its header is too long');
  const said = await bytes.need(size.readUInt32BE());
  const header = readHeader(said);
  const key = await openLock(header.needs, await opener(header));
  const digest = createHash('sha256').update(said).digest();
  const verifier = createVerify('sha256').update(magic).update(size).update(said);
  const open = async function* (): AsyncGenerator<Buffer> {
    for (let counter = 0; ; counter++) {
      const word = await bytes.need(4);
      const last = word.readUInt32BE() >= lastFlag;
      const length = word.readUInt32BE() % lastFlag;
      if (length < tagBytes || length > chunkBytes + tagBytes) throw bad('a piece of it has an impossible size');
      const sealed = await bytes.need(length);
      verifier.update(word).update(sealed);
      const { nonce, extra } = bound(digest, counter, last);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(extra).setAuthTag(sealed.subarray(-tagBytes));
      const plain = decipher.update(sealed.subarray(0, -tagBytes));
      try {
        decipher.final();
      } catch {
        throw bad(
          counter === 0 ? 'the passphrase or key is wrong, or the file was changed' : 'it was changed or damaged',
        );
      }
      yield plain;
      if (!last) continue;
      const signature = await bytes.need((await bytes.need(4)).readUInt32BE() % 4096);
      if (!verifier.verify(loadPublicKey(header.pem), signature))
        throw bad(`its signature is not of the key ${fingerprint(header.pem)}`);
      if ((await bytes.take(1)) !== undefined) throw bad('something follows its end');
      return;
    }
  };
  return { header, content: open() };
}
