// How each kind of parameter converts the values of operators, and its message when it cannot.
import { describe, expect, it } from 'vitest';
import { newDict, PyFloat, type Value } from '../../base/codec/value.ts';
import { type Param, p } from '../../extend/sdk/index.ts';
import { bindArguments } from './bind.ts';
import { ArgumentError } from './errors.ts';

const kw = (entries: Record<string, Value> = {}) => newDict(Object.entries(entries));
/** What the function receives for the value, or without one. */
const received = (param: Param, ...given: Value[]): unknown => bindArguments('f', { x: param }, given, kw())['x'];
const refused = (param: Param, value: Value): string => {
  try {
    received(param, value);
  } catch (error) {
    expect(error).toBeInstanceOf(ArgumentError);
    return (error as Error).message;
  }
  return 'not refused';
};
const nested = (depth: number): Value => {
  let value: Value = 'end';
  for (let at = 0; at < depth; at++) value = at % 2 === 0 ? [value] : kw({ inside: value });
  return value;
};

describe('None and what is falsy', () => {
  const falsy: Value[] = [null, '', 0, false, [], kw(), new Map(), new PyFloat(0), new Uint8Array()];

  it('treats None as not given, unless the parameter keeps it', () => {
    expect(received(p.string({ default: 'usual' }), null)).toBe('usual');
    expect(received(p.string({ default: 'usual', nullable: true }), null)).toBeNull();
    expect(received(p.string({ default: 'usual', nullable: true }))).toBe('usual');
    expect(received(p.string({ nullable: true }), null)).toBeNull();
    expect(received(p.string(), null)).toBe('None');
    expect(received(p.any({ default: 'usual' }), null)).toBeNull();
  });

  it.each(falsy)('with falsy: null reads %o as null', (value) => {
    for (const param of [
      p.string({ default: null, falsy: null }),
      p.strings({ default: ['usual'], falsy: null }),
      p.dict({ falsy: null }),
      p.oneOf(['bool', 'dict'], { default: true, falsy: null }),
      p.scalar({ default: 'usual', falsy: null }),
    ])
      expect(received(param, value)).toBeNull();
  });

  it('reads a falsy default the same way', () => {
    expect(received(p.string({ default: '', falsy: null }))).toBeNull();
    expect(received(p.string({ default: 'usual', falsy: null }))).toBe('usual');
  });
});

describe('truth', () => {
  it("is Python's for truthy: text is true unless it is empty", () => {
    for (const value of ['false', 'no', 'x', 1, -1, new PyFloat(0.5), [null], kw({ a: null })])
      expect(received(p.truthy(), value)).toBe(true);
    for (const value of [null, '', 0, 0n, false, [], kw(), new PyFloat(0)])
      expect(received(p.truthy({ default: true }), value)).toBe(false);
  });

  it("is Salt's for isTrue: of texts only true and numbers above zero", () => {
    for (const value of ['True', ' 5 ', '0.1', 1, true, ['x']]) expect(received(p.isTrue(), value)).toBe(true);
    for (const value of ['yes', 'x', '-1', '0', 0, -1, null, false, []])
      expect(received(p.isTrue({ default: true }), value)).toBe(false);
  });

  it('reads defaults of any kind, and keeps None only where declared', () => {
    expect(received(p.truthy({ default: null }))).toBe(false);
    expect(received(p.truthy({ default: 'x' }))).toBe(true);
    expect(received(p.truthy({ default: null, nullable: true }))).toBeNull();
    expect(received(p.isTrue({ nullable: true }), null)).toBeNull();
  });
});

describe('strings', () => {
  it('makes texts of a list or of one value', () => {
    expect(received(p.strings(), ['a', 1, true, null, new PyFloat(2), [3]])).toEqual([
      'a',
      '1',
      'True',
      'None',
      '2.0',
      '[3]',
    ]);
    expect(received(p.strings(), 'a, b')).toEqual(['a, b']);
    expect(received(p.strings(), '')).toEqual(['']);
    expect(received(p.strings(), 5)).toEqual(['5']);
    expect(received(p.strings(), Buffer.from('é'))).toEqual(['é']);
  });

  it('splits one text where declared, and the default too', () => {
    expect(received(p.strings({ split: ',' }), 'a, b,,c')).toEqual(['a', 'b', '', 'c']);
    expect(received(p.strings({ split: ',' }), '')).toEqual([]);
    expect(received(p.strings({ split: ',' }), ['a,b'])).toEqual(['a,b']);
    expect(received(p.strings({ split: ',', default: 'x,y' }))).toEqual(['x', 'y']);
    expect(received(p.strings({ split: ':', default: null }))).toBeNull();
  });

  it('refuses dictionaries and, where it must be given, None', () => {
    expect(refused(p.strings(), kw({ a: 1 }))).toBe("f() argument 'x' must be text or a list, not {'a': 1}");
    expect(refused(p.strings(), null)).toBe("f() argument 'x' must be text or a list, not None");
  });
});

describe('int', () => {
  it('refuses a fraction, or cuts it off as int() does where told', () => {
    expect(refused(p.int(), 5.7)).toBe("f() argument 'x' must be an integer, not 5.7");
    const cut = p.int({ fractions: 'cut' });
    expect([5.7, -5.7, new PyFloat(5), true, '5'].map((value) => received(cut, value))).toEqual([5, -5, 5, 1, 5]);
    for (const value of ['5.7', 'x', Number.POSITIVE_INFINITY, 1e300])
      expect(refused(cut, value)).toContain("argument 'x' must be an integer");
    expect(received(p.int({ default: null, fractions: 'cut' }), null)).toBeNull();
  });
});

describe('oneOf', () => {
  it('keeps a value in the form it has', () => {
    const param = p.oneOf(['bool', 'int', 'string', 'list']);
    for (const value of [true, false, 0, 7, '', 'x', [], [1]]) expect(received(param, value)).toEqual(value);
    const dict = new Map<Value, Value>([[1, 2]]);
    expect(received(p.oneOf(['string', 'dict']), dict)).toBe(dict);
  });

  it('makes text of single values that have no other accepted form', () => {
    expect(received(p.oneOf(['string', 'list']), 5)).toBe('5');
    expect(received(p.oneOf(['string', 'list']), true)).toBe('True');
    expect(received(p.oneOf(['string', 'int']), new PyFloat(5))).toBe('5.0');
    expect(received(p.oneOf(['string', 'float']), new PyFloat(5))).toBe(5);
    expect(received(p.oneOf(['string', 'int']), 2n ** 70n)).toBe('1180591620717411303424');
  });

  it('refuses the rest, naming every form', () => {
    expect(refused(p.oneOf(['bool', 'list']), 'x')).toBe("f() argument 'x' must be True or False or a list, not 'x'");
    expect(refused(p.oneOf(['string', 'list']), kw())).toBe("f() argument 'x' must be text or a list, not {}");
    expect(refused(p.oneOf(['int', 'dict']), null)).toBe(
      "f() argument 'x' must be an integer or a dictionary, not None",
    );
    expect(refused(p.oneOf(['int']), 1.5)).toBe("f() argument 'x' must be an integer, not 1.5");
  });
});

describe('scalar, string and ignored', () => {
  it('keeps single values as they came and refuses the others', () => {
    for (const value of ['x', 5, 2n ** 70n, false, new PyFloat(1), new Date(0), new Uint8Array([1])])
      expect(received(p.scalar(), value)).toBe(value);
    for (const value of [null, [], kw()]) expect(refused(p.scalar(), value)).toContain("'x' must be text or a number");
  });

  it('converts a default that is not text to text, and documents it unchanged', () => {
    const param = p.string({ default: 10 });
    expect(received(param)).toBe('10');
    expect(param.default).toBe(10);
  });

  it('does not check ignored parameters', () => {
    for (const value of [null, [], nested(50)]) expect(received(p.ignored({ default: 60 }), value)).toBe(value);
  });
});

describe('huge and nested values', () => {
  it('are passed on where their form is accepted', () => {
    const long = Array.from({ length: 200_000 }, (_, at) => at);
    expect(received(p.oneOf(['string', 'list']), long)).toBe(long);
    expect(received(p.strings(), long)).toHaveLength(200_000);
    expect(received(p.truthy(), nested(5000))).toBe(true);
  });

  it('are truncated in the message where they are refused', () => {
    const wide = newDict(Array.from({ length: 50_000 }, (_, at) => [`key${at}`, at] as const));
    for (const value of [wide, [wide], nested(90)]) {
      const said = refused(p.oneOf(['bool', 'int']), value);
      expect(said).toMatch(/^f\(\) argument 'x' must be True or False or an integer, not [[{]/);
      expect(said.length).toBeLessThan(300);
    }
  });

  it('does not crash on values nested too deeply to be printed', () => {
    expect(refused(p.bool(), nested(200_000))).toContain("argument 'x' must be True or False");
  });
});
