// Chunks of files: a sealed chunk can be opened, anything else is refused.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pack, unpack } from '../codec/msgpack/index.ts';
import type { Value } from '../codec/value.ts';
import { type ChunkRequest, Crypticle, chunkHeadBytes } from './index.ts';

const session = new Crypticle(Crypticle.generateKeyString());
const request: ChunkRequest = { nonce: 'n'.repeat(32), id: 'web1', saltenv: 'base', path: 'a/b ü.bin', loc: 1 << 20 };
const behindRoom = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.alloc(chunkHeadBytes, 7), bytes]);
const seal = (bytes: Uint8Array, to = request): Buffer => session.chunks.seal(behindRoom(bytes), to);
const open = (reply: Uint8Array, to = request): Buffer => session.chunks.open(unpack(reply, { raw: true }), to);
const refused = expect.objectContaining({ code: 'crypto.verify' });

describe('a chunk of a file', () => {
  it('opens as it was sealed, of any size', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5000 }), fc.nat(), fc.string(), (bytes, loc, path) => {
        const to = { ...request, loc, path };
        expect(open(seal(bytes, to), to).equals(bytes)).toBe(true);
      }),
    );
  });

  it('is an array of format, nonce, tag and ciphertext, and is different each time', () => {
    const bytes = Buffer.alloc(70_000, 1);
    const [format, nonce, tag, sealed] = unpack(seal(bytes), { raw: true }) as [number, Buffer, Buffer, Buffer];
    expect([format, nonce.length, tag.length, sealed.length]).toEqual([1, 12, 16, 70_000]);
    expect(seal(bytes).equals(seal(bytes))).toBe(false);
  });

  it('allows its buffer to be reused', () => {
    const buffer = behindRoom(Buffer.from('first'));
    const reply = session.chunks.seal(buffer, request);
    buffer.fill(0);
    expect(open(reply).toString()).toBe('first');
  });

  it('is refused when any single bit of it is changed', () => {
    const reply = seal(Buffer.from('some bytes of a file'));
    fc.assert(
      fc.property(fc.nat(reply.length * 8 - 1), (bit) => {
        const changed = Buffer.from(reply);
        changed[bit >> 3]! ^= 1 << (bit & 7);
        // A changed bit in the enclosing msgpack may already make it unreadable.
        expect(() => open(changed)).toThrow();
      }),
      { numRuns: 300 },
    );
  });

  it.each<[string, Partial<ChunkRequest>]>([
    ['request', { nonce: 'm'.repeat(32) }],
    ['minion', { id: 'web2' }],
    ['environment', { saltenv: 'dev' }],
    ['file', { path: 'a/b ü.bin2' }],
    ['position', { loc: 0 }],
  ])('is refused as the answer to another %s', (_, other) => {
    const reply = seal(Buffer.from('x'));
    expect(() => open(reply, { ...request, ...other })).toThrow(refused);
    expect(() => open(reply, { ...request, ...other })).toThrow(/does not authenticate/);
  });

  it('is refused under another session key, and when truncated or extended', () => {
    const reply = seal(Buffer.from('x'.repeat(100)));
    const other = new Crypticle(Crypticle.generateKeyString());
    expect(() => other.chunks.open(unpack(reply, { raw: true }), request)).toThrow(refused);
    const [format, nonce, tag, sealed] = unpack(reply, { raw: true }) as [number, Buffer, Buffer, Buffer];
    const variants: Value[] = [
      [format, nonce, tag, sealed.subarray(1)],
      [format, nonce, tag, sealed.subarray(0, 99)],
      [format, nonce, tag, Buffer.concat([sealed, Buffer.alloc(1)])],
      [format, nonce, tag.subarray(0, 12), sealed],
      [format, nonce.subarray(0, 8), tag, sealed],
      [format, Buffer.concat([nonce, nonce]), tag, sealed],
      [2, nonce, tag, sealed],
      [format, nonce, tag, sealed, 1],
      [format, nonce, tag],
      [],
      Buffer.from('x'),
      null,
    ];
    for (const variant of variants) expect(() => session.chunks.open(variant, request)).toThrow(refused);
    expect(session.chunks.open(unpack(pack([format, nonce, tag, sealed]), { raw: true }), request)).toHaveLength(100);
  });
});
