// The public interface of the engine: rendering, loading, errors with their positions, limits and isolation.
import { describe, expect, it } from 'vitest';
import { PyFloat } from '../../../base/codec/value.ts';
import { createEnvironment, define, type EnvironmentOptions, JinjaError } from './index.ts';

function failure(source: string, context = {}, options: EnvironmentOptions = {}, name?: string): JinjaError {
  try {
    createEnvironment(options).renderSync(source, context, { name });
  } catch (error) {
    if (error instanceof JinjaError) return error;
    throw error;
  }
  throw new Error('the template did not fail');
}

const render = (source: string, context = {}, options: EnvironmentOptions = {}): string =>
  createEnvironment(options).renderSync(source, context);

describe('values from outside', () => {
  it('keeps kinds and order', () => {
    const data = new Map<unknown, unknown>([
      ['10', 'ten'],
      ['9', new PyFloat(1)],
      [80, [null, true, 10n ** 20n]],
    ]);
    expect(render('{{ d }}', { d: data })).toBe("{'10': 'ten', '9': 1.0, 80: [None, True, 100000000000000000000]}");
  });

  it('shows a value that is given twice as one object', () => {
    const list = [1];
    expect(render('{% do a.append(2) %}{{ b.x }}{{ a is sameas b.x }}', { a: list, b: { x: list } })).toBe(
      '[1, 2]True',
    );
  });

  it('never changes the host data', () => {
    const data = { list: [1], dict: { a: 1 } };
    render('{% do list.append(2) %}{% do dict.update({"b": 2}) %}{% do dict.pop("a") %}', data);
    expect(data).toEqual({ list: [1], dict: { a: 1 } });
  });

  it('calls host functions with positional and named arguments as plain data', () => {
    const calls: unknown[] = [];
    const fn = (args: unknown[], kwargs: object): string => {
      calls.push([args, { ...kwargs }]);
      return 'done';
    };
    expect(render("{{ fn(1, [2, (3,)], {'a': 'b'}, key=none) }}", { fn })).toBe('done');
    expect(calls).toEqual([[[1, [2, [3]], Object.assign(Object.create(null), { a: 'b' })], { key: null }]]);
  });

  it('passes an undefined argument through a function that does not use it', () => {
    const get = ([key, fallback]: unknown[]): unknown => (key === 'known' ? 'value' : fallback);
    expect(render("{{ get('known', missing) }}", { get })).toBe('value');
    expect(failure("{{ get('other', missing) }}", { get }).message).toBe("'missing' is undefined");
  });

  it('accepts its own filters, tests and globals', () => {
    const options = {
      filters: { twice: define('twice', 'value, by=2', (_rt, value, by) => Number(value) * Number(by)) },
      tests: { big: define('big', 'value', (_rt, value) => Number(value) > 10) },
      globals: { base: 7 },
    };
    expect(render('{{ base | twice }} {{ base | twice(by=3) }} {{ base is big }} {{ 11 is big }}', {}, options)).toBe(
      '14 21 False True',
    );
    const plain = { filters: { cut: ([text, size]: unknown[]) => String(text).slice(0, Number(size)) } };
    expect(render("{{ 'abcdef' | cut(2) }}", {}, plain)).toBe('ab');
  });
});

describe('errors', () => {
  it('have file, line, stack and an excerpt', () => {
    const files: Record<string, string> = { 'lib.jinja': '{% macro m(x) %}\n{{ x.y }}\n{% endmacro %}' };
    const loader = (name: string) => (files[name] ? { source: files[name]!, path: `/srv/${name}` } : undefined);
    const error = failure("first\n{% from 'lib.jinja' import m %}\n{{ m({}) }}\n", {}, { loader }, 'app/init.sls');
    expect(error.pyType).toBe('UndefinedError');
    expect(error.code).toBe('render.failed');
    expect([error.template, error.path, error.line]).toEqual(['lib.jinja', '/srv/lib.jinja', 2]);
    expect(error.frames.map(({ template, line, location }) => [template, line, location])).toEqual([
      ['app/init.sls', 3, 'top-level template code'],
      ['lib.jinja', 2, 'template'],
    ]);
    expect(error.excerpt).toBe('---\n{% macro m(x) %}\n{{ x.y }}    <======================\n{% endmacro %}\n---');
    expect(error.details['line']).toBe(2);
  });

  it('have the column of a syntax error', () => {
    const error = failure('ok\n  {{ a b }}');
    expect([error.line, error.column]).toEqual([2, 8]);
  });

  it('name the file of a syntax error in an included template', () => {
    const error = failure("x\n{% include 'bad' %}", {}, { loader: () => ({ source: 'y\n{% nope %}' }) });
    expect([error.template, error.line]).toEqual(['bad', 2]);
    expect(error.frames).toHaveLength(2);
  });

  it('restore the stack after an ignored missing template', () => {
    const error = failure("{% include 'a' ignore missing %}\n{{ 1/0 }}", {}, { loader: () => undefined });
    expect(error.frames).toHaveLength(1);
    expect(error.line).toBe(2);
  });

  it('survive host functions that throw', () => {
    const fn = (): never => {
      throw new Error('host trouble');
    };
    const error = failure('\n{{ fn() }}', { fn });
    expect([error.message, error.line, error.pyType]).toEqual(['host trouble', 2, 'Exception']);
  });

  it('keep the outer position when a function renders a template itself', () => {
    const inner = (): string => createEnvironment().renderSync('\n\n\n{{ lost }}');
    const error = failure('\n{{ inner() }}', { inner });
    expect([error.message, error.line, error.pyType]).toEqual(["'lost' is undefined", 2, 'UndefinedError']);
  });

  it('check a template without rendering it', () => {
    const environment = createEnvironment();
    environment.compile('{{ anything }}');
    expect(() => environment.compile('{% if %}')).toThrow(JinjaError);
    expect(() => environment.compile('{{ x | nofilter }}')).toThrow("No filter named 'nofilter'.");
  });
});

describe('limits', () => {
  it.each([
    ['{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}', 'RecursionError'],
    ['{% set l = [] %}{% do l.append(l) %}{{ l }}', 'RecursionError'],
    [`{{ ${'('.repeat(20_000)}1${')'.repeat(20_000)} }}`, 'RecursionError'],
    ["{{ 'x' * 10 ** 10 }}", 'MemoryError'],
    ['{{ [1] * 10 ** 12 }}', 'MemoryError'],
    ['{{ 9 ** (9 ** 9) }}', 'MemoryError'],
    ['{{ range(99999) | product(range(99999)) | list | length }}', 'MemoryError'],
    ['{% set l = [1] %}{% for i in range(99) %}{% do l.extend(l) %}{% endfor %}', 'MemoryError'],
    ['{{ range(1000000) }}', 'OverflowError'],
  ])('%s', (template, type) => {
    expect(failure(template).pyType).toBe(type);
  });

  it('stops a loop that extends its own list', () => {
    const error = failure('{% set l = [1] %}{% for x in l %}{% do l.append(x) %}{% endfor %}', {}, { maxSteps: 1000 });
    expect(error.message).toBe('template exceeds 1000 loop rounds');
  });
});

describe('sandbox', () => {
  it.each([
    ["{{ ''.__class__ }}", "access to attribute '__class__' of 'str' object is unsafe."],
    ["{{ ''['__class__'] }}", "access to attribute '__class__' of 'str' object is unsafe."],
    ["{{ '' | attr('__class__') }}", "access to attribute '__class__' of 'str' object is unsafe."],
    ["{{ '{0.__class__}'.format('') }}", "access to attribute '__class__' of 'str' object is unsafe."],
    ['{{ range.__globals__ }}', "access to attribute '__globals__' of 'function' object is unsafe."],
    ['{{ fn.__code__ }}', "access to attribute '__code__' of 'function' object is unsafe."],
  ])('%s', (template, message) => {
    expect(failure(template, { fn: () => 1 }).message).toBe(message);
  });

  it.each(['constructor', '__proto__', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', 'then'])(
    'does not expose JavaScript: %s',
    (name) => {
      for (const owner of ['s', 'l', 'd', 'n', 'fn', 'none', 'd.items()', 'range', 'cycler(1)', 'namespace()']) {
        const context = { s: 'x', l: [1], d: { a: 1 }, n: 1, fn: () => 1 };
        expect(render(`{{ ${owner}['${name}'] is defined }}`, context), owner).toBe('False');
        expect(render(`{{ ${owner} | attr('${name}') is defined }}`, context), owner).toBe('False');
        expect(render(`{{ '${name}' in d }}`, context)).toBe('False');
      }
    },
  );

  it('keeps keys with the names of JavaScript members apart from the members', () => {
    const template = "{% set d = {'__proto__': 1, 'constructor': 2} %}{{ d['__proto__'] }}{{ d.constructor }}{{ d }}";
    expect(render(template)).toBe("12{'__proto__': 1, 'constructor': 2}");
    expect(({} as Record<string, unknown>)['constructor']).toBe(Object);
  });
});
