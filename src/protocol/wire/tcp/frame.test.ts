// Frames: any split of the stream gives the same frames, and bytes are passed through unchanged.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pack, unpack } from '../../../base/codec/msgpack/index.ts';
import { dictOf, type Value } from '../../../base/codec/value.ts';
import { headText, joinFrame, publishBody, publishFrame, splitFrame } from './frame.ts';
import { FrameReader } from './frame-reader.ts';
import { skipValue } from './skip.ts';

const { value } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
    fc.double(),
    fc.string({ maxLength: 80 }),
    fc.uint8Array({ maxLength: 300 }),
    fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }),
    fc.array(tie('value'), { maxLength: 20 }),
    fc.array(fc.tuple(fc.string(), tie('value')), { maxLength: 20 }).map((entries) => dictOf(entries)),
  ),
}));

describe('skipValue', () => {
  it('finds the end of every value, in both families', () => {
    fc.assert(
      fc.property(value, fc.boolean(), fc.uint8Array({ maxLength: 5 }), (item, bin, tail) => {
        const bytes = pack(item, { bin });
        expect(skipValue(Buffer.concat([bytes, tail]), 0)).toBe(bytes.length);
        expect(skipValue(bytes.subarray(0, -1), 0)).toBe(-1);
      }),
    );
  });

  it('skips nesting of any depth without recursion', () => {
    expect(skipValue(Buffer.concat([Buffer.alloc(1_000_000, 0x91), Buffer.from([1])]), 0)).toBe(1_000_001);
  });
});

describe('FrameReader', () => {
  it('gives the same frames however the stream is split', () => {
    const anyBodies = fc.array(value, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(anyBodies, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (bodies, cuts) => {
        const frames = bodies.map((body, i) => joinFrame(pack({ mid: `m${i}` }), pack(body)));
        const stream = Buffer.concat(frames);
        const reader = new FrameReader(1_000_000);
        const seen: Buffer[] = [];
        for (let at = 0, i = 0; at < stream.length; i++) {
          const size = cuts[i % cuts.length] as number;
          seen.push(...reader.feed(stream.subarray(at, at + size)));
          at += size;
        }
        expect(seen.map((frame) => frame.toString('hex'))).toEqual(frames.map((frame) => frame.toString('hex')));
        expect(reader.pending).toBe(0);
      }),
    );
  });

  it('never hangs or fails otherwise on random bytes: it waits or throws', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 10 }), (chunks) => {
        const reader = new FrameReader(500);
        try {
          for (const chunk of chunks) for (const frame of reader.feed(Buffer.from(chunk))) splitFrame(frame);
        } catch (thrown) {
          expect(['codec.malformed', 'codec.limit']).toContain((thrown as { code: string }).code);
        }
        expect(reader.pending).toBeLessThanOrEqual(700);
      }),
    );
  });

  it('refuses an announced size before the bytes come', () => {
    const announce =
      (...bytes: number[]) =>
      () =>
        new FrameReader(1000).feed(Buffer.from(bytes));
    expect(announce(0x82, 0xdb, 0x06, 0x40, 0, 0)).toThrow(/larger than 1000/);
    expect(announce(0xdf, 0xff, 0xff, 0xff, 0xff)).toThrow(/larger than 1000/);
    expect(announce(0x47, 0x45, 0x54)).toThrow(/message frames/);
    expect(announce(0x82, 0xc1)).toThrow(/0xc1/);
  });
});

describe('frames', () => {
  it('splits heads and bodies in any order, with other keys between', () => {
    const frame = pack({ body: [1, 2], other: 'x', head: { mid: 'abc' } });
    const parts = splitFrame(frame);
    expect(parts && unpack(parts.body)).toEqual([1, 2]);
    expect(parts && headText(parts.head, 'mid')).toBe('abc');
    expect(splitFrame(pack({ head: {} }))).toBeUndefined();
    expect(splitFrame(pack({ head: 'x'.repeat(5000), body: 1 }))).toBeUndefined();
    expect(headText(pack([1]), 'mid')).toBeUndefined();
    expect(headText(Buffer.from([0xc1]), 'mid')).toBeUndefined();
  });

  it('reads publishes as byte string of every width and as map', () => {
    for (const size of [3, 40, 300, 70_000]) {
      const envelope = pack({ load: Buffer.alloc(size, 0xff) });
      const parts = splitFrame(publishFrame(envelope));
      expect(parts && publishBody(parts.body).equals(envelope)).toBe(true);
      const bin = splitFrame(pack({ head: {}, body: envelope }, { bin: true }));
      expect(bin && publishBody(bin.body).equals(envelope)).toBe(true);
      const map = splitFrame(joinFrame(pack({}), envelope));
      expect(map && publishBody(map.body).equals(envelope)).toBe(true);
    }
  });
});
