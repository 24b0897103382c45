import { describe, expect, it } from 'vitest';
import { newDict, PyFloat, type Value } from '../../base/codec/value.ts';
import { type Params, p } from '../../extend/sdk/index.ts';
import { bindArguments } from './bind.ts';
import { ArgumentError } from './errors.ts';
import { splitArguments } from './job-arguments.ts';

const kw = (entries: Record<string, Value> = {}) => newDict(Object.entries(entries));
const bind = (params: Params, args: Value[], kwargs: Record<string, Value> = {}) => ({
  ...bindArguments('f', params, args, kw(kwargs)),
});
const message = (params: Params, args: Value[], kwargs: Record<string, Value> = {}): string => {
  try {
    bindArguments('f', params, args, kw(kwargs));
  } catch (error) {
    expect(error).toBeInstanceOf(ArgumentError);
    return (error as Error).message;
  }
  return 'no error';
};

const none: Params = {};
const abc: Params = { a: p.any(), b: p.any(), c: p.any() };
const ab: Params = { a: p.any(), b: p.any({ default: 1 }) };
const keywordOnly: Params = { a: p.any(), b: p.any({ default: 1 }), rest: p.rest(), k: p.any({ default: 2 }) };

describe('Python call semantics', () => {
  // Every text was printed by CPython 3.11 for the same signature and call.
  it.each([
    [none, [1], {}, 'f() takes 0 positional arguments but 1 was given'],
    [none, [1, 2, 3], {}, 'f() takes 0 positional arguments but 3 were given'],
    [abc, [], {}, "f() missing 3 required positional arguments: 'a', 'b', and 'c'"],
    [abc, [1], {}, "f() missing 2 required positional arguments: 'b' and 'c'"],
    [abc, [1, 2], {}, "f() missing 1 required positional argument: 'c'"],
    [ab, [1, 2, 3], {}, 'f() takes from 1 to 2 positional arguments but 3 were given'],
    [ab, [1], { a: 2 }, "f() got multiple values for argument 'a'"],
    [ab, [1, 2, 3], { z: 1 }, "f() got an unexpected keyword argument 'z'"],
    [ab, [], { b: 1 }, "f() missing 1 required positional argument: 'a'"],
    [{ rest: p.rest(), k: p.any() }, [1], {}, "f() missing 1 required keyword-only argument: 'k'"],
    [{ text: p.any() }, ['x', 'y'], {}, 'f() takes 1 positional argument but 2 were given'],
  ] as [Params, Value[], Record<string, Value>, string][])('%o %o %o', (params, args, kwargs, text) => {
    expect(message(params, args, kwargs)).toBe(text);
  });

  it('fills positions, names, rest, kwargs and defaults', () => {
    expect(bind(ab, [1])).toEqual({ a: 1, b: 1 });
    expect(bind(ab, [], { b: 5, a: 4 })).toEqual({ a: 4, b: 5 });
    expect(bind(keywordOnly, [1, 2, 3, 4], { k: 9 })).toEqual({ a: 1, b: 2, rest: [3, 4], k: 9 });
    expect(bind({ a: p.any(), kwargs: p.kwargs() }, [1], { x: 1, __proto__x: 2 })).toEqual({
      a: 1,
      kwargs: kw({ x: 1, __proto__x: 2 }),
    });
    expect(bind({ name: p.any({ aliases: ['pkg'] }) }, [], { pkg: 'x' })).toEqual({ name: 'x' });
  });

  it('gives each call its own copy of a mutable default', () => {
    const params: Params = { list: p.list({ default: [] }) };
    (bind(params, [])['list'] as Value[]).push(1);
    expect(bind(params, [])).toEqual({ list: [] });
  });

  it('omits defaults that the function computes itself', () => {
    const params: Params = { when: { ...p.any({ default: null }), computed: true } };
    expect(Object.keys(bind(params, []))).toEqual([]);
    expect(bind(params, [5])).toEqual({ when: 5 });
  });
});

describe('declared types', () => {
  it('keeps text as it was typed', () => {
    const params: Params = { cmd: p.text(), cwd: p.text({ default: null }) };
    expect(bind(params, [false])).toEqual({ cmd: 'false', cwd: null });
    expect(bind(params, [12, null])).toEqual({ cmd: '12', cwd: null });
    expect(bind(params, [new PyFloat(1)])['cmd']).toBe('1.0');
    expect(bind(params, [null])['cmd']).toBe('null');
    expect(bind(params, [[1, 'a', kw({ b: true })]])['cmd']).toBe('[1, a, {b: true}]');
  });

  it("turns values into strings as Python's str() does", () => {
    const params: Params = { name: p.string() };
    expect(bind(params, [true])['name']).toBe('True');
    expect(bind(params, [12])['name']).toBe('12');
    expect(bind(params, [new PyFloat(1)])['name']).toBe('1.0');
  });

  it('refuses lists and dictionaries where one text is meant', () => {
    for (const param of [p.string(), p.path(), p.string({ default: 'usual' }), p.path({ default: null })]) {
      expect(() => bind({ name: param }, [[1, 'a']])).toThrow("f() argument 'name' must be text, not [1, 'a']");
      expect(() => bind({ name: param }, [kw({ a: 1 })])).toThrow("f() argument 'name' must be text, not {'a': 1}");
      expect(() => bind({ name: param }, [new Map([[1, 2]])])).toThrow("f() argument 'name' must be text, not {1: 2}");
    }
  });

  it('reads numbers, booleans, lists and dicts in their usual text forms', () => {
    const params: Params = {
      i: p.int({ default: 0 }),
      f: p.float({ default: 0 }),
      b: p.bool({ default: false }),
      l: p.list({ default: null }),
      d: p.dict({ default: null }),
    };
    expect(bind(params, ['5', '1.5', 'Yes', 'a, b', [kw({ x: 1 }), kw({ y: 2 })]])).toEqual({
      i: 5,
      f: 1.5,
      b: true,
      l: ['a', 'b'],
      d: kw({ x: 1, y: 2 }),
    });
    expect(bind(params, [new PyFloat(3), 2, 0, 7, null])).toEqual({ i: 3, f: 2, b: false, l: [7], d: null });
  });

  it('names the parameter that does not fit', () => {
    expect(message({ timeout: p.int() }, ['soon'])).toBe("f() argument 'timeout' must be an integer, not 'soon'");
    expect(message({ on: p.bool() }, ['maybe'])).toBe("f() argument 'on' must be True or False, not 'maybe'");
    expect(message({ d: p.dict() }, ['x'])).toBe("f() argument 'd' must be a dictionary, not 'x'");
  });
});

describe('the arg list of a job', () => {
  const any: Params = { rest: p.rest(), kwargs: p.kwargs() };
  const publish = () => kw({ jid: '20200101000000000000', fun: 'test.arg' });

  it('reads marked maps as keywords and adds the job for functions that accept any keyword', async () => {
    const split = await splitArguments(any, [1, kw({ __kwarg__: true, a: 1 }), kw({ plain: true })], publish);
    expect(split.args).toEqual([1, kw({ plain: true })]);
    expect({ ...split.kwargs }).toEqual({ a: 1, __pub_jid: '20200101000000000000', __pub_fun: 'test.arg' });
    expect((await splitArguments(ab, [1, kw({ __kwarg__: true, b: 2 })], publish)).kwargs).toEqual(kw({ b: 2 }));
  });

  it('refuses unknown keywords, all at once', async () => {
    await expect(splitArguments(ab, [kw({ __kwarg__: true, x: true, y: [1, 'a'] })], publish)).rejects.toThrow(
      "The following keyword arguments are not valid: x=True, y=[1, 'a']",
    );
  });

  it('reads name=value texts as Salt does', async () => {
    const read = async (text: string) => {
      const { args, kwargs } = await splitArguments(any, [text], undefined);
      return args.length > 0 ? args[0] : { ...kwargs };
    };
    expect(await read('a=b=c')).toEqual({ a: 'b=c' });
    expect(await read('n=[1, x]')).toEqual({ n: [1, 'x'] });
    expect(await read('ключ.x-1=v\n')).toEqual({ 'ключ.x-1': 'v' });
    for (const text of ['a==b', '1=2', 'a b=2', 'a=b\nc', '=x', 'plain']) expect(await read(text)).toBe(text);
  });
});
