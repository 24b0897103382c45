// How results of runners are split into data and outputter.
import { describe, expect, it } from 'vitest';
import { JsonText } from '../../base/codec/json/index.ts';
import type { Value } from '../../base/codec/value.ts';
import { dumpYaml } from '../../base/codec/yaml/dump.ts';
import { keepOrder } from '../keep-order.ts';
import { exitCodeOf, resultParts } from './command.ts';

const result = (ret: Value | JsonText, extra: object = {}) => ({
  type: 'result' as const,
  ret,
  success: true,
  retcode: 0,
  ...extra,
});

describe('the printed part', () => {
  it('is the data when the runner names its outputter next to it', () => {
    expect(resultParts(result({ data: { a: 1 }, outputter: 'highstate' }))).toEqual({
      data: { a: 1 },
      out: 'highstate',
    });
  });
  it('keeps the order of files below the top, when the runner declares that it comes from files', () => {
    const data = { users: { zoe: { uid: 2, gid: 1 }, adam: [{ y: 1, x: 2 }] }, flags: 1 };
    keepOrder(data);
    expect(dumpYaml(data, { flow: false })).toBe(
      'flags: 1\nusers:\n  zoe:\n    uid: 2\n    gid: 1\n  adam:\n  - y: 1\n    x: 2\n',
    );
  });
  it('is everything when there are more keys', () => {
    const ret = { data: { a: 1 }, outputter: 'highstate', retcode: 1 };
    expect(resultParts(result(ret))).toEqual({ data: ret, out: 'highstate' });
  });
  it('is the JSON text, with its outputter', () => {
    const text = new JsonText([Buffer.from('{}')], { outputter: 'highstate' });
    expect(resultParts(result(text, { out: 'txt' }))).toEqual({ data: text, out: 'highstate' });
    expect(exitCodeOf(result(text))).toBe(0);
    expect(exitCodeOf(result(text, { success: false }))).toBe(1);
  });
  it('is the value itself otherwise', () => {
    expect(resultParts(result(['a'], { out: 'txt' }))).toEqual({ data: ['a'], out: 'txt' });
    expect(resultParts(result(null))).toEqual({ data: null, out: undefined });
  });
});

describe('the exit code', () => {
  it.each([
    [result(true), 0],
    [result(true, { retcode: 3 }), 3],
    [result({ retcode: 2 }), 2],
    [result({ data: { retcode: 5 } }), 5],
    [result('boom', { success: false }), 1],
  ])('of %o is %i', (item, code) => {
    expect(exitCodeOf(item)).toBe(code);
  });
});
