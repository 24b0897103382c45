// Bounds on the memory that a message may use: counted over the whole message, checked before anything is allocated.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Value } from '../value.ts';
import { PackedValue, pack, unpack, unpacked, unpackShallow } from './index.ts';

const head32 = (code: number, count: number): Buffer => {
  const bytes = Buffer.alloc(5, code);
  bytes.writeUInt32BE(count, 1);
  return bytes;
};
const many = (count: number, byte: number): Buffer => Buffer.concat([head32(0xdd, count), Buffer.alloc(count, byte)]);
const extension = (type: number, content: Buffer): Buffer =>
  Buffer.concat([head32(0xc9, content.length), Buffer.from([type]), content]);
const constant = (content: Buffer): Buffer => extension(79, Buffer.concat([Buffer.from([0x92, 0xa1, 0x78]), content]));
const codeOf = (read: () => unknown): string => {
  try {
    read();
    return 'read';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('one budget for a whole message', () => {
  it('counts msgpack values nested in byte strings', () => {
    const bomb = Buffer.concat([Buffer.from([0x93]), ...[1, 2, 3].map(() => constant(many(40, 0x80)))]);
    expect(codeOf(() => unpack(bomb, { maxItems: 100 }))).toBe('codec.limit');
    expect(codeOf(() => unpack(bomb, { maxItems: 200 }))).toBe('read');
  });

  it('counts depth through msgpack values nested in byte strings', () => {
    let value: Buffer = Buffer.from([0xc0]);
    for (let i = 0; i < 40; i++) value = constant(value);
    expect(codeOf(() => unpack(value, { maxDepth: 64 }))).toBe('codec.limit');
  });

  it.each([
    ['empty maps', many(100_000, 0x80)],
    ['empty lists', many(200_000, 0x90)],
    [
      'bytes that are not text',
      Buffer.concat([head32(0xdd, 50_000), Buffer.alloc(100_000, Buffer.from([0xa1, 0xff]))]),
    ],
    ['long texts', pack('x'.repeat(9_000_000))],
    ['whole floats', Buffer.concat([head32(0xdd, 200_000), Buffer.alloc(1_000_000, Buffer.from([0xca, 0, 0, 0, 0]))])],
    ['a map of many entries', head32(0xdf, 100_000)],
  ])('refuses %s by the memory they would use', (_name, bytes) => {
    expect(codeOf(() => unpack(Buffer.concat([bytes, Buffer.alloc(300_000)]), { maxCost: 6_000_000 }))).toBe(
      'codec.limit',
    );
  });

  it('accepts a long valid text within little more memory than its length', () => {
    expect(unpack(pack({ return: 'x'.repeat(1_000_000) }), { maxCost: 1_100_000 })).toBeDefined();
  });
});

describe('a field that is left packed', () => {
  const packed = { field: 'return', from: 1000, maxCost: 1_000_000 };

  it('is the same value when it is decoded and when it is forwarded', () => {
    const { value } = fc.letrec<{ value: Value }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<Value>(null, true, 0, -1, 2n ** 63n, 1.5, '__proto__'),
        fc.string(),
        fc.uint8Array(),
        fc.array(tie('value')),
        fc.dictionary(fc.string({ minLength: 1 }), tie('value')) as fc.Arbitrary<Value>,
      ),
    }));
    fc.assert(
      fc.property(value, (given) => {
        const bytes = pack({ cmd: '_return', return: given, jid: '1' });
        const read = unpack(bytes, { packed: { ...packed, from: 1 } }) as { return: Value; jid: string };
        expect(read.return).toBeInstanceOf(PackedValue);
        expect(read.jid).toBe('1');
        const plain = (unpack(bytes) as { return: Value }).return;
        expect(unpacked(read.return)).toEqual(plain);
        expect(unpack(pack({ deep: [read.return] }))).toEqual({ deep: [plain] });
      }),
      { numRuns: 300 },
    );
  });

  it('is read when it is short, and packed only in the outermost map', () => {
    expect(unpack(pack({ return: 'short' }), { packed })).toEqual({ return: 'short' });
    const nested = { inside: { return: 'x'.repeat(5000) } };
    expect(unpack(pack(nested), { packed })).toEqual(nested);
  });

  it.each([
    ['too many small values', many(10_000, 0x80)],
    ['a hidden message', constant(many(10_000, 0x80))],
    ['too deep', Buffer.concat([Buffer.alloc(2000, 0x91), Buffer.from([0xc0])])],
  ])('is refused with %s', (_name, bytes) => {
    const message = Buffer.concat([Buffer.from([0x81]), pack('return'), bytes]);
    expect(codeOf(() => unpack(message, { packed, maxDepth: 64 }))).toBe('codec.limit');
  });

  it('is refused when it is not a value', () => {
    const start = Buffer.concat([Buffer.from([0x81]), pack('return')]);
    for (const bytes of [head32(0xdd, 0xffffffff), Buffer.concat([Buffer.from([0x92]), Buffer.alloc(2000, 0xc1)])])
      expect(codeOf(() => unpack(Buffer.concat([start, bytes, Buffer.alloc(2000, 0xc1)]), { packed }))).toBe(
        'codec.malformed',
      );
  });
});

describe('one level of a map', () => {
  const limits = { maxDepth: 8, maxItems: 100, maxCost: 100_000, maxFields: 4, longText: 16 };
  const read = (value: Value) => unpackShallow(pack(value), limits);

  it('gives numbers and short texts, and leaves the rest as bytes', () => {
    const dict = read({ enc: 'aes', version: 3, load: Buffer.alloc(5000, 0xfe), list: [1, 2] });
    expect(dict).toMatchObject({ enc: 'aes', version: 3, load: Buffer.alloc(5000, 0xfe) });
    expect(dict?.['list']).toBeInstanceOf(PackedValue);
    expect(unpacked(dict?.['list'] as Value)).toEqual([1, 2]);
    expect(read({ id: 'x'.repeat(5000) })?.['id']).toEqual(Buffer.alloc(5000, 'x'));
    expect(read([1])).toBeUndefined();
  });

  it('has no prototype that a key could reach', () => {
    const dict = unpackShallow(pack(JSON.parse('{"__proto__": {"enc": "clear"}, "constructor": 1}')), limits);
    expect(dict?.['enc']).toBeUndefined();
    expect(Object.getPrototypeOf(dict)).toBeNull();
  });

  it.each([
    ['more fields than an envelope has', pack({ a: 1, b: 2, c: 3, d: 4, e: 5 }), 'codec.limit'],
    ['a field that comes twice', Buffer.from([0x82, 0xa1, 0x61, 1, 0xa1, 0x61, 2]), 'codec.malformed'],
    ['a name that is a number', Buffer.from([0x81, 1, 1]), 'codec.malformed'],
    ['a name that is a list', Buffer.from([0x81, 0x90, 1]), 'codec.malformed'],
    ['a very long name', pack({ ['x'.repeat(100)]: 1 }), 'codec.malformed'],
    ['bytes that follow', Buffer.concat([pack({ a: 1 }), Buffer.from([0])]), 'codec.malformed'],
    ['nothing', Buffer.alloc(0), 'codec.malformed'],
    ['a truncated message', pack({ load: 'x'.repeat(50) }).subarray(0, 20), 'codec.malformed'],
    ['a bomb inside', Buffer.concat([Buffer.from([0x81, 0xa1, 0x61]), many(90, 0x80), Buffer.alloc(0)]), 'read'],
    ['a larger value inside', Buffer.concat([Buffer.from([0x81, 0xa1, 0x61]), many(1000, 0x80)]), 'codec.limit'],
    [
      'an extension that contains a larger value',
      Buffer.concat([Buffer.from([0x81, 0xa1, 0x61]), constant(many(1000, 0x80))]),
      'codec.limit',
    ],
  ])('judges %s', (_name, bytes, code) => {
    expect(codeOf(() => unpackShallow(bytes, limits))).toBe(code);
  });
});
