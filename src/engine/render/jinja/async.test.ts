// Rendering with asynchronous functions and loaders: same results, strict order, and the abort signal.
import { describe, expect, it } from 'vitest';
import { createEnvironment, JinjaError } from './index.ts';

/** Resolves in a later turn of the event loop. */
const later = <T>(value: T): Promise<T> => new Promise((resolve) => setImmediate(() => resolve(value)));

const templates: [string, string][] = [
  ['{{ p(1) + p(2) * 3 }}', '7'],
  ["{{ p('a') ~ p('b') | upper }}", 'aB'],
  ['{{ [p(1), p([2])] }} {{ {p(1): p(2)} }} {{ (p(1), 2) }}', '[1, [2]] {1: 2} (1, 2)'],
  ["{{ p('x') if p(true) else p('y') }}{{ p(0) or p('z') }}{{ p(1) and 'w' }}", 'xzw'],
  ['{{ 1 < p(2) < p(3) }} {{ 1 < p(0) < p(3) }} {{ not p(0) }} {{ -p(4) }}', 'True False True -4'],
  ["{{ p('abc')[p(0):p(2)] }} {{ p({'a': 5}).a }} {{ p({'a': 5})['a'] }}", 'ab 5 5'],
  [
    "{{ p('a,b').split(p(',')) }} {{ p([3, 1]) | sort | join(p('-')) }} {{ p(4) is divisibleby p(2) }}",
    "['a', 'b'] 1-3 True",
  ],
  ['{% if p(0) %}a{% elif p(1) %}b{% else %}c{% endif %}', 'b'],
  ['{% for x in p([1, 2, 3]) %}{{ p(x) }}{{ loop.index }}{{ "," if not loop.last }}{% endfor %}', '11,22,33'],
  ['{% for x in [1, 2, 3, 4] if p(x) % 2 %}{{ x }}{% else %}none{% endfor %}', '13'],
  ['{% for x in [1, 2, 3, 4] if p(x) % 2 %}{{ x }}{{ loop.last }}{% endfor %}', '1False3True'],
  ['{% for x in [1, 2, 3] %}{% if p(x) == 2 %}{% break %}{% endif %}{{ x }}{% endfor %}', '1'],
  ['{% for x in [1, 2, 3] %}{% if p(x) == 2 %}{% continue %}{% endif %}{{ x }}{% endfor %}', '13'],
  ['{% for x in [1, [2, [3]]] recursive %}{{ loop(x) if x is iterable else p(x) }}{% endfor %}', '123'],
  ['{% macro m(a, b=p(2)) %}{{ a }}{{ p(b) }}{% endmacro %}{{ m(1) }}{{ m(p(3), p(4)) ~ m(5) }}', '123452'],
  ['{% macro m() %}[{{ caller(p(1)) }}]{% endmacro %}{% call(x) m() %}{{ p(x) }}{% endcall %}', '[1]'],
  ['{% set x %}{{ p("in") }}{% endset %}{% filter upper %}{{ p("f") }}{% endfilter %}{{ x }}', 'Fin'],
  ['{% with a = p(1), b = 2 %}{{ a }}{{ p(b) }}{% endwith %}{% set c, d = p([3, 4]) %}{{ c }}{{ d }}', '1234'],
  ['{% load_yaml as y %}a: {{ p(1) }}{% endload %}{{ y }}{% do p([]).append(1) %}', "{'a': 1}"],
  ["{% import 'lib' as l %}{{ l.v }}{% from 'lib' import m %}{{ m(2) }}{% include ['no', 'inc'] %}", '1m2inc'],
  ["{% extends 'base' %}{% block b %}{{ super() }}{{ p(1) }}{{ self.c() }}{% endblock %}", '<base1c>'],
  ["{% include 'no' ignore missing %}{% import_yaml 'data' as d %}{{ d }}", "{'k': 7}"],
  ["{{ ['a', 'b'] | map('slow') | list }} {{ 'c' | slow }}", "['A', 'B'] C"],
];

const files: Record<string, string> = {
  lib: '{% set v = p(1) %}{% macro m(x) %}m{{ p(x) }}{% endmacro %}',
  inc: '{{ p("inc") }}',
  base: '<{% block b %}base{% endblock %}>{% if false %}{% block c %}{{ p("c") }}{% endblock %}{% endif %}',
  data: 'k: {{ p(7) }}\n',
};

async function slowFilter() {
  const { define } = await import('./index.ts');
  return define('slow', 'value', (_rt, value) => later(String(value).toUpperCase()), { waits: true });
}

describe('asynchronous rendering', () => {
  it.each(templates)('%s', async (template, expected) => {
    const environment = createEnvironment({
      loader: (name) => later(Object.hasOwn(files, name) ? { source: files[name]! } : undefined),
      filters: { slow: await slowFilter() },
    });
    const globals = { p: ([value]: unknown[]) => later(value) };
    expect(await environment.render(template, globals, { globals })).toBe(expected);
  });

  it('gives the same text when everything is synchronous', async () => {
    const environment = createEnvironment({ loader: (name) => (files[name] ? { source: files[name]! } : undefined) });
    const globals = { p: ([value]: unknown[]) => value };
    for (const [template, expected] of templates) {
      if (template.includes('slow')) continue;
      expect(environment.renderSync(template, globals, { globals })).toBe(expected);
      expect(await environment.render(template, globals, { globals })).toBe(expected);
    }
  });

  it('starts a call only when the previous one has resolved', async () => {
    const log: string[] = [];
    const p = async ([name]: unknown[]): Promise<unknown> => {
      log.push(`start ${name}`);
      await later(null);
      log.push(`end ${name}`);
      return name;
    };
    await createEnvironment().render("{{ p('a') ~ p('b') }}{{ [p('c'), p('d')] }}", { p });
    expect(log).toEqual(['a', 'b', 'c', 'd'].flatMap((name) => [`start ${name}`, `end ${name}`]));
  });

  it('reports the position of an asynchronous error', async () => {
    const boom = (): Promise<never> => later(null).then(() => Promise.reject(new Error('late')));
    const error = await createEnvironment()
      .render('x\n{% macro m() %}\n{{ boom() }}\n{% endmacro %}\n{{ m() }}', { boom })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(JinjaError);
    const { message, line, frames } = error as JinjaError;
    expect([message, line, frames.map((frame) => frame.line)]).toEqual(['late', 3, [5, 3]]);
  });

  it('refuses to wait in renderSync', () => {
    expect(() => createEnvironment().renderSync('{{ p() }}', { p: () => later(1) })).toThrow('use render()');
  });

  it('stops when the signal aborts', async () => {
    const control = new AbortController();
    let calls = 0;
    const p = ([value]: unknown[]): Promise<unknown> => {
      calls += 1;
      if (calls === 3) control.abort();
      return later(value);
    };
    const rendering = createEnvironment().render(
      '{% for x in range(99) %}{{ p(x) }}{% endfor %}',
      { p },
      { signal: control.signal },
    );
    await expect(rendering).rejects.toThrow('rendering was aborted');
    expect(calls).toBe(3);
  });
});
