// Loading: options, positions, errors and limits.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HaliteError } from '../../errors/index.ts';
import { PyFloat, type Value } from '../value.ts';
import { isOrdered, PySet, PyTuple } from './collections.ts';
import { YamlError } from './error.ts';
import { loadYaml, loadYamlWithPositions } from './load.ts';

function errorOf(text: string, options = {}): YamlError {
  try {
    loadYaml(text, options);
  } catch (error) {
    if (error instanceof YamlError) return error;
    throw error;
  }
  throw new Error('was accepted');
}

describe('values', () => {
  it('keeps whole floats unless disabled', () => {
    expect(loadYaml('[1.0, 1.5, 1, .inf]')).toEqual([new PyFloat(1), 1.5, 1, Infinity]);
    expect(loadYaml('[1.0, -0.0]', { floats: 'plain' })).toEqual([1, -0]);
  });

  it('gives dicts without prototype, and Maps where an object would lose the order or the key', () => {
    const plain = loadYaml('__proto__: {a: 1}\nconstructor: 2') as object;
    expect(Object.getPrototypeOf(plain)).toBeNull();
    expect(Object.keys(plain)).toEqual(['__proto__', 'constructor']);
    expect(loadYaml("b: 1\n'10': [x]\na: {}")).toEqual(
      new Map<Value, Value>([
        ['b', 1],
        ['10', ['x']],
        ['a', Object.create(null) as Value],
      ]),
    );
    expect(loadYaml('80: {443: x}')).toEqual(new Map([[80, new Map([[443, 'x']])]]));
  });

  it('has tuples and sets that are lists for other code', () => {
    const value = loadYaml('[!!pairs [a: [1]], !!set {b, c}]') as [Value[], Value[]];
    expect(value[0][0]).toBeInstanceOf(PyTuple);
    expect(value[0]).toEqual([PyTuple.from(['a', [1]])]);
    expect(value[1]).toBeInstanceOf(PySet);
    expect([...value[1]]).toEqual(['b', 'c']);
    expect(value[1].map((item) => item)).not.toBeInstanceOf(PySet);
  });

  it('shares aliased collections, whatever their form', () => {
    const value = loadYaml('a: &a {x: 1}\nb: *a\nc: &c {1: 2}\nd: [*c, *a]') as Record<string, Value>;
    expect(value['b']).toBe(value['a']);
    expect(value['d']).toEqual([new Map([[1, 2]]), { x: 1 }]);
    expect((value['d'] as Value[])[0]).toBe(value['c']);
  });

  it('keeps the last of equal keys when requested', () => {
    const text = 'a: {x: 1}\nb: 2\na: 3\n1: {c: d}\n1.0: {e: f}\ntrue: {g: h}';
    expect(loadYaml(text, { duplicates: 'last' })).toEqual(
      new Map<Value, Value>([
        ['a', 3],
        ['b', 2],
        [1, { g: 'h' }],
      ]),
    );
  });

  it('marks mappings as ordered when requested', () => {
    const value = loadYaml('z: {1: 2}\na: 1', { ordered: true }) as Record<string, Map<Value, Value>>;
    expect(isOrdered(value) && isOrdered(value['z'] as Map<Value, Value>)).toBe(true);
    expect(isOrdered(loadYaml('a: 1') as Record<string, Value>)).toBe(false);
  });

  it('accepts a mapping merged into itself, which is no cycle', () => {
    expect(loadYaml('d: &d\n  e: 1\n  <<: *d')).toEqual({ d: { e: 1 } });
  });
});

describe('positions', () => {
  it('give the line of keys and items, also for merges and aliases', () => {
    const text =
      '# top\nbase: &b\n  x: 1\n  y:\n    - one\n    - {k: v,\n       l: w}\nweb:\n  <<: *b\n  x: 2\nalso: *b\n80: n';
    const { value, positions } = loadYamlWithPositions(text);
    expect(value).toEqual(loadYaml(text));
    const lines = [
      ['base'],
      ['base', 'x'],
      ['base', 'y', 0],
      ['base', 'y', 1, 'l'],
      ['web', 'x'],
      ['web', 'y'],
      ['also', 'x'],
      [80],
    ].map((path) => positions.lineOf(path));
    expect(lines).toEqual([2, 3, 5, 7, 10, 4, 3, 12]);
    expect(positions.lineOf(['base', 'none'])).toBeUndefined();
    expect(positions.lineOf(['base', 'x', 'deeper'])).toBeUndefined();
  });
});

describe('errors', () => {
  it('carry place, context and excerpt', () => {
    const error = errorOf('a: 1\nb: [x,\n  y\nc: 2\n', { name: 'top.sls', errorCode: 'config.syntax' });
    expect(error).toBeInstanceOf(HaliteError);
    expect(error).toMatchObject({
      code: 'config.syntax',
      kind: 'ParserError',
      problem: "did not find expected ',' or ']'",
      context: 'while parsing a flow sequence',
      file: 'top.sls',
      line: 4,
      column: 2,
      contextLine: 2,
      contextColumn: 4,
      details: { file: 'top.sls', line: 4, column: 2 },
    });
    expect(error.message).toBe(
      'while parsing a flow sequence\n  in "top.sls", line 2, column 4\n' +
        "did not find expected ',' or ']'\n  in \"top.sls\", line 4, column 2",
    );
    expect(error.excerpt).toBe('---\na: 1\nb: [x,\n  y\nc: 2    <======================\n---');
  });

  it('cut the excerpt around the line', () => {
    const text = `${Array.from({ length: 20 }, (_, i) => `k${i}: v`).join('\n')}\nk9: again\nlast: 1\n`;
    const error = errorOf(text);
    expect(error.problem).toBe("found conflicting ID 'k9'");
    expect(error.excerpt.split('\n')).toEqual([
      '---',
      '[...]',
      'k15: v',
      'k16: v',
      'k17: v',
      'k18: v',
      'k19: v',
      'k9: again    <======================',
      'last: 1',
      '---',
    ]);
    expect(errorOf('a: [').excerpt).toBe('---\na: [    <======================\n---');
  });

  it('refuse control characters by position in bytes', () => {
    const error = errorOf('é: \x07');
    expect(error.kind).toBe('ReaderError');
    expect(error.message).toBe(
      'unacceptable character #x0007: control characters are not allowed\n  in "<unicode string>", position 4',
    );
  });

  it('count columns in characters', () => {
    expect(errorOf('"😀😀": b: c').column).toBe(8);
    expect(errorOf('\ufeffa: b: c').column).toBe(5);
  });

  it.each([
    ['a: &a [*a]', 'recursive', 'found unconstructable recursive node'],
    ['a: b\n---\nc: d', 'ComposerError', 'but found another document'],
    ['a: *b', 'ComposerError', 'found undefined alias'],
    ['[&a 1, &a 2]', 'ComposerError', 'second occurrence'],
    ['!!omap [a: 1]', 'ConstructorError', 'expected a mapping node, but found sequence'],
    ['!!bool maybe', 'KeyError', "'maybe'"],
    ['0_', 'IndexError', 'string index out of range'],
    ['!!int [1]', 'AttributeError', "'list' object has no attribute 'startswith'"],
    ['!!binary é', 'ConstructorError', /^failed to convert base64 data into ascii: .*'\\xe9' in position 0/],
    ['!!binary ab-c', 'ConstructorError', 'failed to decode base64 data: Incorrect padding'],
  ])('%j is a %s', (text, kind, problem) => {
    const error = errorOf(text);
    expect(error.kind).toBe(kind);
    expect(error.problem).toEqual(problem instanceof RegExp ? expect.stringMatching(problem) : problem);
  });
});

describe('limits', () => {
  const laughs = ['a: &a [x,x,x,x,x,x,x,x,x]'];
  for (const [i, name] of [...'bcdefghi'].entries()) {
    laughs.push(`${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(',')}]`);
  }
  const chain = Array.from({ length: 5000 }, (_, i) => `  - &m${i + 1} {<<: *m${i}, k: &k${i + 1} [*k${i}]}`);

  it.each([
    ['brackets', '['.repeat(100_000)],
    ['braces', '{a: '.repeat(100_000)],
    ['dashes', '- '.repeat(100_000)],
    ['question marks', '? '.repeat(100_000)],
    ['laughs', laughs.join('\n')],
    ['merges', `- - &m0 {a: 1}\n  - ${doubled(40).join('\n  - ')}\n- <<: *m40`],
    ['merge chain', `- - &m0 {a: &k0 1}\n${chain.join('\n')}\n- {<<: *m5000}`],
  ])('%s are refused', (_name, text) => {
    expect(errorOf(text).kind).toBe('limit');
  });

  it('on depth can be set', () => {
    expect(loadYaml('['.repeat(1000) + ']'.repeat(1000))).toHaveLength(1);
    expect(loadYaml('[[1]]', { maxDepth: 2 })).toEqual([[1]]);
    expect(errorOf('[[[1]]]', { maxDepth: 2 }).problem).toBe('nested deeper than 2 levels');
  });

  it('apply even when the stack is used up', () => {
    expect(errorOf('- '.repeat(100_000), { maxDepth: 1_000_000 }).problem).toBe('nested too deeply');
  });

  it('do not affect ordinary use of aliases', () => {
    const many = `d: &d {a: 1, b: [1, 2, 3]}\n${Array.from({ length: 2000 }, (_, i) => `k${i}: *d`).join('\n')}`;
    expect(Object.keys(loadYaml(many) as object)).toHaveLength(2001);
  });

  it('refuse numbers whose conversion would take long', () => {
    expect(errorOf('9'.repeat(100_000)).problem).toMatch(/^Exceeds the limit \(4300 digits\)/);
    expect(errorOf(`1${':59'.repeat(100_000)}`).kind).toBe('ValueError');
    expect(loadYaml(`0x${'f'.repeat(5000)}`)).toBe(BigInt(`0x${'f'.repeat(5000)}`));
  });

  it('keep the time for hostile and large texts linear', () => {
    const texts = [
      `${'['.repeat(900)}\n${'a,\n'.repeat(50_000)}${']'.repeat(900)}`,
      `a: x${'\n'.repeat(200_000)}  y`,
      `a: "${'x\n '.repeat(100_000)}"`,
      `'${"x''".repeat(100_000)}'`,
      `a: >\n${'  x\n'.repeat(100_000)}`,
      `[${'a, '.repeat(100_000)}]`,
      states(5000),
    ];
    const start = process.cpuUsage();
    for (const text of texts) loadYaml(text);
    // CPU time, not wall-clock time: other processes may use the CPU too.
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1000).toBeLessThan(10_000);
  });
});

function doubled(levels: number): string[] {
  return Array.from({ length: levels }, (_, i) => `&m${i + 1} {<<: [*m${i}, *m${i}]}`);
}

function states(count: number): string {
  const state = (i: number): string =>
    `/etc/app/${i}.conf:\n  file.managed:\n    - source: salt://app/${i}.conf\n    - mode: 0644\n` +
    `    - context:\n        port: ${8000 + i}\n    - require:\n      - pkg: app\n`;
  return Array.from({ length: count }, (_, i) => state(i)).join('');
}

describe('any text', () => {
  it('loads or is refused with a YamlError', () => {
    const pieces = fc.constantFrom(
      ...['a', 'b: ', '- ', '? ', ': ', '\n', '\n  ', '\n\t', '[', ']', '{', '}', ', ', '&a ', '*a', '!!str ', '!x '],
      ...['<<: ', '|\n', '>-\n', "'", '"', '\\', '#', '%', '---\n', '...', '~', '1', '.5', '0644', '\r\n', '\u2028'],
      ...['é', '😀', '\ud83d', '\0', '\ufeff', '`', '='],
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        try {
          loadYaml(parts.join(''));
        } catch (error) {
          expect(error).toBeInstanceOf(YamlError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
