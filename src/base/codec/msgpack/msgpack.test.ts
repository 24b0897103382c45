// Msgpack against recorded Salt bytes, round trips, hostile input and streaming.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HaliteError } from '../../errors/index.ts';
import { type Dict, dictGet, dictOf, newDict, PyFloat, type Value } from '../value.ts';
import { formatDateTime, microsOf, pack, unpack } from './index.ts';

interface Sample {
  name: string;
  use_bin_type: boolean;
  bytes_hex: string;
}
const vectors = JSON.parse(
  readFileSync(new URL('../../../../test/fixtures/vectors/msgpack.json', import.meta.url), 'utf8'),
) as { samples: Sample[] };

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const at = (value: Value, key: Value): Value | undefined => dictGet(value as Dict, key);
const codeOf = (run: () => unknown): string => {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof HaliteError) return thrown.code;
    throw thrown;
  }
  return 'none';
};

/** Any value that a round trip preserves: no bytes that are valid UTF-8 text, no whole numbers as JS floats. */
const anyValue: fc.Arbitrary<Value> = fc.letrec<{ value: Value; dict: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.bigInt({ min: 9007199254740992n, max: (1n << 64n) - 1n }),
    fc.bigInt({ min: -(1n << 63n), max: -9007199254740992n }),
    fc.double({ noNaN: true }).map((n) => (Number.isInteger(n) ? new PyFloat(n) : n)),
    fc.string({ unit: 'grapheme', maxLength: 80 }),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from([0xff, ...bytes])),
    fc.array(tie('value'), { maxLength: 20 }),
    tie('dict'),
  ),
  dict: fc
    .uniqueArray(fc.tuple(fc.string({ maxLength: 40 }), tie('value')), { selector: ([key]) => key, maxLength: 20 })
    .map((pairs) => dictOf(pairs)),
})).value;

describe('vectors of real Salt', () => {
  for (const sample of vectors.samples) {
    it(sample.name, () => {
      const bytes = hex(sample.bytes_hex);
      const raw = unpack(bytes, { raw: true });
      const special = sample.name.includes('32 char str');
      if (!special) expect(pack(raw, { bin: sample.use_bin_type }).toString('hex')).toBe(sample.bytes_hex);
      expect(pack(unpack(bytes), { bin: sample.use_bin_type }).toString('hex')).toBe(sample.bytes_hex);
    });
  }

  it('decodes what Salt decodes', () => {
    const read = (name: string): Value => unpack(hex(vectors.samples.find((s) => s.name === name)?.bytes_hex ?? ''));
    expect(read('bytes invalid utf8')).toEqual({ a: Buffer.from([0xff, 0]) });
    expect(read('bytes valid utf8 become text')).toEqual({ a: 'abc' });
    expect(read('uint64 max')).toEqual({ i: 18446744073709551615n });
    expect(read('negative')).toEqual({ i: -9223372036854775808n });
    expect(read('int and nil keys')).toEqual(
      new Map<Value, Value>([
        [1, 'c'],
        [null, 'b'],
      ]),
    );
    expect(read('nested')).toEqual({ a: [{ b: [Buffer.from([0xfe]), null, false] }] });
    const date = at(read('datetime'), 'd') as Date;
    expect(formatDateTime(date)).toBe('20240102T03:04:05.678901');
    expect(microsOf(date)).toBe(678901);
  });
});

describe('round trip', () => {
  it('returns what was packed, in both families', () => {
    fc.assert(
      fc.property(anyValue, fc.boolean(), (value, bin) => {
        expect(unpack(pack(value, { bin }))).toEqual(value);
      }),
      { numRuns: 300 },
    );
  });

  it('keeps the order of keys that look like numbers', () => {
    const map = new Map<Value, Value>([
      ['b', 1],
      ['10', 2],
      ['a', 3],
      [7, 4],
    ]);
    const back = unpack(pack(map));
    expect(back).toBeInstanceOf(Map);
    expect([...(back as Map<Value, Value>)]).toEqual([...map]);
  });

  it('has no prototype that input could modify', () => {
    const back = unpack(
      pack(
        newDict([
          ['__proto__', newDict([['polluted', true]])],
          ['constructor', 1],
        ]),
      ),
    );
    expect(Object.keys(back as object)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(at(back, 'hasOwnProperty')).toBeUndefined();
  });

  it('distinguishes floats from integers unless disabled', () => {
    expect(unpack(pack([1, new PyFloat(1), 1.5]))).toEqual([1, new PyFloat(1), 1.5]);
    expect(unpack(pack(new PyFloat(3)), { keepFloats: false })).toBe(3);
    expect(pack(new PyFloat(-0)).toString('hex')).toBe('cb8000000000000000');
    expect(unpack(hex('ca3fc00000'))).toBe(1.5);
  });

  it('writes every integer in the shortest form', () => {
    const forms: [number | bigint, string][] = [
      [127, '7f'],
      [128, 'cc80'],
      [256, 'cd0100'],
      [65536, 'ce00010000'],
      [4294967296, 'cf0000000100000000'],
      [-32, 'e0'],
      [-33, 'd0df'],
      [-129, 'd1ff7f'],
      [-32769, 'd2ffff7fff'],
      [-2147483649, 'd3ffffffff7fffffff'],
      [200n, 'ccc8'],
      [-3000000000n, 'd3ffffffff4d2fa200'],
    ];
    for (const [value, bytes] of forms) expect([value, pack(value).toString('hex')]).toEqual([value, bytes]);
  });

  it('leaves large results untouched by later calls', () => {
    const long = 'x'.repeat(100_000);
    const first = pack(long);
    const second = pack('y'.repeat(100_000));
    expect(unpack(first)).toBe(long);
    expect(second[5]).toBe(0x79);
  });
});

describe('raw mode, dates and extensions', () => {
  it('keeps text as bytes but decodes keys', () => {
    const back = unpack(
      pack(
        newDict([
          ['data', 'abc'],
          ['n', 1],
        ]),
      ),
      { raw: true },
    );
    expect(back).toEqual({ data: Buffer.from('abc'), n: 1 });
    expect(Buffer.isBuffer(at(back, 'data'))).toBe(true);
  });

  it('leaves keys that are not text as bytes', () => {
    const back = unpack(hex('81a2ff0001')) as Map<Value, Value>;
    expect([...back.keys()]).toEqual([Buffer.from([0xff, 0])]);
  });

  it('reads a U+FFFD that the sender wrote as text', () => {
    expect(unpack(pack('a\ufffdb'))).toBe('a\ufffdb');
    expect(unpack(hex('a3eda080'))).toEqual(hex('eda080'));
  });

  it('returns a date that does not exist as its text', () => {
    const body = Buffer.from('20240231T00:00:00.000000');
    expect(unpack(Buffer.concat([hex('c7184e'), body]))).toBe('20240231T00:00:00.000000');
  });

  it('writes dates as text for peers that do not support extension types', () => {
    expect(unpack(pack(new Date(0), { dates: 'text' }))).toBe('1970-01-01T00:00:00.000Z');
    expect(unpack(pack(new Date(1500)))).toEqual(new Date(1500));
  });

  it('tolerates constants and unknown extensions', () => {
    const constant = pack(['NOT_SET', 5], { bin: true });
    expect(unpack(Buffer.concat([hex('c7'), Buffer.from([constant.length, 79]), constant]))).toBe(5);
    expect(unpack(hex('d44fc1'))).toBeNull();
    expect(unpack(hex('d50541ff'))).toEqual(hex('41ff'));
  });
});

describe('hostile input', () => {
  it('never throws anything but HaliteError, and never hangs', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(['none', 'codec.malformed', 'codec.limit']).toContain(codeOf(() => unpack(bytes)));
      }),
      { numRuns: 1000 },
    );
  });

  it('refuses depth, size, count, truncation and trailing bytes', () => {
    const deep = Buffer.alloc(2000, 0x91);
    expect(codeOf(() => unpack(deep))).toBe('codec.limit');
    expect(codeOf(() => unpack(pack('x'.repeat(50)), { maxBytes: 20 }))).toBe('codec.limit');
    expect(codeOf(() => unpack(pack([1, 2, 3]), { maxItems: 2 }))).toBe('codec.limit');
    expect(codeOf(() => unpack(hex('ddffffffff')))).toBe('codec.malformed');
    expect(codeOf(() => unpack(hex('dfffffffff0000')))).toBe('codec.malformed');
    expect(codeOf(() => unpack(hex('a2ff')))).toBe('codec.malformed');
    expect(codeOf(() => unpack(hex('c1')))).toBe('codec.malformed');
    expect(codeOf(() => unpack(hex('0101')))).toBe('codec.malformed');
    expect(codeOf(() => unpack(Buffer.alloc(0)))).toBe('codec.malformed');
  });

  it('refuses to write cycles and functions', () => {
    const cycle: Value[] = [];
    cycle.push(cycle);
    expect(codeOf(() => pack(cycle))).toBe('codec.limit');
    expect(codeOf(() => pack((() => 1) as unknown as Value))).toBe('codec.malformed');
    expect(pack(1).toString('hex')).toBe('01');
  });
});
