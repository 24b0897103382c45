// A short result is encoded by the thread that has its values, a long one by the writer: the column must be the same.
import { describe, expect, it } from 'vitest';
import { PackedValue, pack, unpack } from '../../base/codec/msgpack/index.ts';
import { type Dict, newDict, PyFloat, type Value } from '../../base/codec/value.ts';
import { json, shortJson } from './json.ts';

const load = (value: Value): Dict =>
  newDict([
    ['id', 'web1'],
    ['return', value],
  ]);
/** As the writer gets it, which is another thread. */
const received = (text: string): Value => unpack(pack(newDict([['text', text]])));

describe('the column of a result', () => {
  it.each<[string, Value]>([
    ['nothing', null],
    ['numbers', [0, -0, 1.5, -7, 2 ** 53, new PyFloat(1), Number.NaN, Number.NEGATIVE_INFINITY, 2n ** 63n]],
    ['texts', ['', 'plain', '"\\\n\t\u0000\u001f\u007f\u2028', 'ü😀', 'half \ud800 a pair', '\ufffd']],
    ['a time', new Date(1_790_000_000_123)],
    ['maps', newDict([['__proto__', newDict([['a', [[], newDict()]]])]])],
    ['many values', Array.from({ length: 200 }, (_, n) => newDict([[`k${n}`, n % 2 === 0]]))],
  ])('is the same for %s, whoever encodes it', (_name, value) => {
    const text = shortJson(load(value));
    expect(text).toBeDefined();
    expect(received(text ?? '')).toEqual({ text: json(unpack(pack(load(value)))) });
  });

  it.each<[string, Value]>([
    ['a long text', 'x'.repeat(9000)],
    ['very many values', new Array(2000).fill(1)],
    ['long keys', newDict([['k'.repeat(9000), 1]])],
    ['deep lists', Array.from({ length: 600 }).reduce<Value>((inner) => [inner], 1)],
    ['bytes', new Uint8Array(3)],
    ['a map with keys that are not text', new Map([[1, 2]])],
    ['a value that was left packed', new PackedValue(new ArrayBuffer(1))],
  ])('is left to the writer for %s', (_name, value) => {
    expect(shortJson(load(value))).toBeUndefined();
  });
});
