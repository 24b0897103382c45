// Templates: text, or an error of Halite's, in a bounded number of steps.
import { createEnvironment } from '../../../src/engine/render/jinja/index.ts';
import { type FuzzTarget, hold, read, textOf } from '../engine/target.ts';

/** These look at the network or the machine, which is no business of a fuzzer. */
const refused = Object.fromEntries(
  ['http_query', 'dns_check', 'list_files', 'file_hashsum', 'is_bin_file', 'is_text_file', 'is_empty', 'which'].map(
    (name) => [name, () => ''],
  ),
);
const environment = createEnvironment({
  maxSteps: 1000,
  maxDepth: 30,
  saltRelease: 3006,
  filters: refused,
  loader: (name) => ({ source: `{% macro m(a) %}{{ a }}{% endmacro %}${name}` }),
});
const context = {
  x: 1,
  s: 'text',
  l: [3, 1, 2],
  d: { a: 1, b: { c: [1] } },
  f: 1.5,
  n: null,
  grains: { os: 'Debian' },
};

const target: FuzzTarget = {
  maxLength: 400,
  // Every round of a loop and every letter of a long text counts.
  mostSteps: (length) => 1_000_000 + 10_000 * length,
  tokens:
    '{{ |}}|{% |%}|{%- |-%}|{# |#}|{% if x %}|{% else %}|{% endif %}|{% for i in l %}|{% endfor %}|{% set a = |{% macro m(a=1) %}|{% endmacro %}|{{ m(2) }}|{% block b %}|{% endblock %}|{% raw %}|{% endraw %}|{% filter upper %}|{% endfilter %}|{% call m() %}|{% endcall %}|{% import "t" as t %}|{% include "t" %}|{% do l.append(1) %}|{% load_yaml as y %}|{% endload %}| and | or | not | in | is defined| if x else |loop.index|range(3)|range(10**9)|namespace()|d.b.c[0]|s[::-1]|"a" * 99| ** |//|~|x.__class__|s.format(|"%s" % |caller()|*args|**kwargs'
      .split('|')
      .concat(
        ' | upper',
        ' | json',
        ' | yaml',
        ' | sort',
        ' | join(",")',
        ' | regex_replace("a", "b")',
        ' | center(99)',
        ' | batch(2)',
        ' | indent',
        ' | int',
        '||',
      ),
  seeds: [
    '{% for i in l|sort %}{{ loop.index }}{{ i }}{% else %}e{% endfor %}',
    '{% macro m(a, b=2) %}{{ a ~ b }}{{ caller() if caller }}{% endmacro %}{{ m(1) }}{% call m(3) %}c{% endcall %}',
    '{% set ns = namespace(v=1) %}{% set ns.v = x ** 2 // 3 %}{{ ns.v }}{{ d | json }}{{ "%s-%d" % (s, x) }}',
    '{% import "t" as t %}{{ t.m(1) }}{%- raw %}{{ }}{% endraw -%}{# c #}{{ s[1:3] | upper | replace("E", "x") }}',
  ],
  run: (bytes) => {
    const source = textOf(bytes);
    const checked = read(() => {
      environment.compile(source);
      return true;
    });
    const text = read(() => environment.renderSync(source, structuredClone(context)));
    hold(text === undefined || checked === true, 'what renders compiles');
  },
};
export default target;
