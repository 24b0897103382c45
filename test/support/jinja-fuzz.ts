// Differential fuzzing of the Jinja engine: seeded templates, and the reference implementation in Salt's environment.
import { createEnvironment, JinjaError } from '../../src/engine/render/jinja/index.ts';
import { askPython, Dice } from './fuzz.ts';

export interface FuzzCase {
  readonly id: string;
  readonly template: string;
  readonly context: Record<string, unknown>;
  readonly files: Record<string, string>;
  readonly undefined?: 'lenient';
}

export interface Outcome {
  readonly expected?: string;
  readonly error?: { readonly type: string; readonly message: string; readonly line: number | null };
}

/** Values of every kind, by short names. */
export const context = {
  a: 3,
  b: -7,
  z: 0,
  f: 2.5,
  s: 'Hello World',
  e: '',
  u: 'äöü ß €',
  q: 'it\'s "q"',
  ml: 'l1\nl2\n\nl4',
  l: [3, 1, 2],
  ls: ['b', 'A', 'c', 'a'],
  mixed: [1, 'x', null, true, 2.5, [1], { k: 1 }],
  d: { b: 1, a: 2, x10: 'ten' },
  nd: {
    x: { y: { z: [1, { w: 'deep' }] } },
    list: [
      { n: 'a', v: 2 },
      { n: 'B', v: 1 },
    ],
  },
  n: null,
  t: true,
  users: [
    { name: 'bob', age: 30, g: 'x' },
    { name: 'Al', age: 25, g: 'y' },
  ],
  csv: 'a,b,,c',
};

const files = {
  'inc.j2': 'inc:{{ v1 | default("nov1") }}\n{{ a }}',
  'lib.j2':
    '{% set v = 5 %}{% macro mac(p) %}[{{ p }}{{ v1 | default("-") }}]{% endmacro %}{% set seen = x | default("nox") %}',
  'data.yaml': 'a: 1\nb: [x, yes]\nc: {{ 1 + 1 }}\n',
};

const names = [...Object.keys(context), 'missing'];
const literals = [
  "'abc'",
  "''",
  "'a b c'",
  "'ÄÖ'",
  '"it\'s"',
  "'line\\nbreak'",
  "'%s-%d'",
  "'{} {}'",
  "'123'",
  "'-4.5'",
  "'😀x'",
];
const numbers = [
  '0',
  '1',
  '2',
  '-1',
  '7',
  '255',
  '9007199254740993',
  '2**70',
  '0.0',
  '1.0',
  '1.5',
  '-2.25',
  '1e3',
  '1e-7',
  '1e20',
];
const operators = ['+', '-', '*', '/', '//', '%', '~', '==', '!=', '<', '<=', '>', '>=', 'and', 'or', 'in', 'not in'];
const attributes = ['a', 'b', 'x', 'items', 'name', '0', 'get', '__class__', '_x', 'upper', 'real'];
const subscripts = ["'a'", '0', '-1', "'name'", '1:', '::-1', ':2', '-2:', '::2', 'none', 'true', "'upper'"];
const methods =
  "upper()|title()|strip()|split()|split(',')|rsplit('.', 1)|splitlines()|replace('a', 'b')|startswith('H')|endswith(('d', 'x'))|find('o')|index('zz')|count('a')|join(['x', 'y'])|join([1])|zfill(6)|center(11)|ljust(8, '-')|partition('.')|isdigit()|encode()|format(1, 2)|append(1)|pop()|pop(99)|extend([4])|insert(0, 'i')|remove('q')|sort()|copy()|get('a')|get('zz', 5)|items()|keys()|values()|pop('zz')|setdefault('n', [])|update({'u': 1})|update(k=2)|update([1])|fromkeys('ab')|bit_length()|is_integer()|nope()|upper(1)|replace('a')".split(
    '|',
  );
const filters =
  "abs;attr('a');batch(2) | list;capitalize;center(9);default('D', true);dictsort;dictsort(by='value');escape;filesizeformat;first;float;format(1);groupby('g') | map('first') | list;indent(2, true);int;int(0, 16);items | list;join(', ');last;length;list;lower;map('upper') | list;map(attribute='name') | list;map('nofilter') | list;pprint;reject('odd') | list;rejectattr('age', 'gt', 26) | list;replace('l', 'L', 1);reverse | list;round(1);round(2, 'ceil');select('in', [1, 'x']) | list;selectattr('g', 'equalto', 'x') | list | length;slice(2) | list;sort;sort(attribute='age,name');string;striptags;sum;sum(start=[]);title;tojson;trim;truncate(7, true);upper;urlencode;urlize;wordcount;wordwrap(5);yaml;yaml(false);json;json(indent=2);python;load_json;to_bool;sequence;regex_search('(l+)');regex_replace('[aeiou]', '<\\\\g<0>>');min;max;avg;union([1, 9]);difference([1]);is_iter;quote;uuid;md5;base64_encode;to_num;human_to_bytes;to_camelcase;to_snake_case;flatten;traverse('x:y', 'dd');to_entries;is_ip;ipaddr;path_join('x', '/y');zip([1, 2]) | list;combinations(2) | list;yaml_dquote;yaml_encode;json_query('x.y');nofilter;indent(foo=1)".split(
    ';',
  );
const tests =
  "defined;undefined;none;boolean;integer;float;number;string;sequence;iterable;mapping;callable;odd;divisibleby(3);lower;eq(3);ne 1;lt 5;sameas true;in [1, 2, 'x'];escaped;list;match('H');nope".split(
    ';',
  );
const texts = ['text', '\n', '  ', 'a\n  b', '\n\n', 'key: ', '- ', '%', '}', '\t'];
const loops = ['l', 'ls', 'users', 'd', 'd.items()', 'nd.list', 'mixed', "'abc'", 'range(3)', 'missing'];
const loopValues = [
  'loop.index',
  'loop.first',
  'loop.last',
  'loop.length',
  'loop.cycle(1, 2)',
  'loop.previtem',
  'loop.changed(x)',
  'x',
];

/** Builds templates out of random choices; every seed gives one template. */
class TemplateMaker {
  readonly #dice: Dice;
  constructor(seed: number) {
    this.#dice = new Dice(seed);
  }

  literal(depth: number): string {
    const d = this.#dice;
    const kind = d.below(10);
    if (kind < 4 || depth <= 0) return d.pick(literals);
    if (kind < 6) return d.pick(numbers);
    if (kind < 7) return d.pick(['true', 'false', 'none']);
    if (kind < 8) return `[${d.times(3, () => this.literal(depth - 1)).join(', ')}]`;
    if (kind < 9)
      return `{${d.times(3, () => `${d.pick(["'a'", "'k'", '1', 'none', 'true'])}: ${this.literal(depth - 1)}`).join(', ')}}`;
    return `(${this.literal(depth - 1)}, ${this.literal(depth - 1)})`;
  }

  expression(depth: number): string {
    const d = this.#dice;
    if (depth <= 0) return d.chance(0.5) ? d.pick(names) : this.literal(1);
    const inner = (): string => this.expression(depth - 1);
    const operand = (): string => (d.chance(0.5) ? d.pick(names) : `(${inner()})`);
    const kind = d.below(20);
    if (kind < 3) return d.pick(names);
    if (kind < 5) return this.literal(2);
    if (kind < 8) return `(${inner()} ${d.pick(operators)} ${inner()})`;
    if (kind < 12) return `${operand()}|${d.pick(filters)}`;
    if (kind < 14) return `(${inner()} is ${d.chance(0.2) ? 'not ' : ''}${d.pick(tests)})`;
    if (kind < 15) return `(${inner()} if ${inner()}${d.chance(0.7) ? ` else ${inner()}` : ''})`;
    if (kind < 16) return `${operand()}.${d.pick(attributes)}`;
    if (kind < 17) return `${operand()}[${d.pick(subscripts)}]`;
    if (kind < 19) return `${operand()}.${d.pick(methods)}`;
    return d.pick([`(not ${inner()})`, `(-${operand()})`]);
  }

  #tag(body: string): string {
    const d = this.#dice;
    return `${d.pick(['{%', '{%', '{%-', '{%+'])} ${body} ${d.pick(['%}', '%}', '-%}'])}`;
  }

  #print(expression: string): string {
    const d = this.#dice;
    return `${d.pick(['{{ ', '{{ ', '{{- '])}${expression}${d.pick([' }}', ' }}', ' -}}'])}`;
  }

  body(depth: number): string {
    const d = this.#dice;
    const parts = [
      this.#statement(depth),
      ...d.times(3, () => (d.chance(0.5) ? d.pick(texts) : '') + this.#statement(depth)),
    ];
    return parts.join('') + (d.chance(0.4) ? d.pick(texts) : '');
  }

  #statement(depth: number): string {
    const d = this.#dice;
    const tag = (text: string): string => this.#tag(text);
    const inner = (): string => this.body(depth - 1);
    const name = d.pick(['v1', 'v2', 'l', 'd', 'x']);
    switch (depth <= 0 ? 0 : d.below(16)) {
      case 8:
        return tag(`set ${name} = ${this.expression(2)}`);
      case 9:
        return `${tag(`if ${this.expression(2)}`)}${inner()}${d.chance(0.5) ? tag('else') + inner() : ''}${tag('endif')}`;
      case 10: {
        const head = `for ${d.pick(['x', 'x', 'k, v'])} in ${d.pick(loops)}${d.chance(0.2) ? ' if x' : ''}`;
        return `${tag(head)}${inner()}${this.#print(d.pick(loopValues))}${d.chance(0.2) ? tag('else') + inner() : ''}${tag('endfor')}`;
      }
      case 11: {
        const call = d.pick(['m()', 'm(1)', 'm(1, 2)', 'm(q=3)', 'm(*l)', 'm.name']);
        const signature = d.pick(['', 'p', 'p, q=2', 'p=a, q=p']);
        return `${tag(`macro m(${signature})`)}${inner()}${this.#print(d.pick(['p', 'q', 'varargs', 'kwargs']))}${tag('endmacro')}${this.#print(call)}`;
      }
      case 12:
        return `${tag(`filter ${d.pick(['upper', 'indent(2)', 'trim'])}`)}${inner()}${tag('endfilter')}`;
      case 13:
        return `${tag(d.pick([`with v1 = ${this.expression(1)}`, 'with v1 = a, v2 = v1']))}${inner()}${tag('endwith')}`;
      case 14:
        return `${tag(`set ${name}`)}${inner()}${tag('endset')}`;
      case 15:
        return this.#other();
      default:
        return this.#print(this.expression(2));
    }
  }

  #other(): string {
    const tag = (text: string): string => this.#tag(text);
    return this.#dice.pick([
      tag("include 'inc.j2'"),
      tag("include 'nope' ignore missing"),
      `${tag("from 'lib.j2' import mac, v as vv")}{{ mac(vv) }}`,
      `${tag("import 'lib.j2' as lib with context")}{{ lib.seen }}`,
      `${tag("import_yaml 'data.yaml' as y")}{{ y }}`,
      `${tag('load_yaml as y')}a: {{ a }}${tag('endload')}{{ y }}`,
      `${tag('set v2 = [1]')}${tag('do v2.append(a)')}{{ v2 }}`,
      '{#- comment -#}{% raw %}{{ x }}{% endraw %}',
      `${tag('set ns = namespace(c=0)')}${tag('set ns.c = ns.c + 1')}{{ ns.c }}`,
    ]);
  }

  lenient(): boolean {
    return this.#dice.chance(0.15);
  }
}

/** The template of a seed: a single expression for even seeds, statements for odd ones (deep ones are dear to compile for the reference). */
export function fuzzCase(seed: number): FuzzCase {
  const maker = new TemplateMaker(seed);
  const template = seed % 2 === 0 ? `{{ ${maker.expression(3)} }}` : maker.body(seed % 8 === 1 ? 3 : 2);
  const base = { id: `fuzz-${seed}`, template, context: structuredClone(context), files };
  return maker.lenient() ? { ...base, undefined: 'lenient' } : base;
}

/** Renders a case with Halite's engine. */
export function renderCase(test: FuzzCase): Outcome {
  const environment = createEnvironment({
    undefined: test.undefined ?? 'strict',
    globals: test.context,
    loader: (name) => (Object.hasOwn(test.files, name) ? { source: test.files[name]! } : undefined),
  });
  try {
    return { expected: environment.renderSync(test.template, test.context) };
  } catch (error) {
    if (!(error instanceof JinjaError)) throw error;
    return { error: { type: error.pyType, message: error.message, line: error.line ?? null } };
  }
}

/** Reads what all cases share, then cases as JSON lines, and answers each with the reference's outcome. */
const referenceProgram = `
import sys, json, traceback, warnings, logging, signal
warnings.simplefilter('ignore'); logging.disable(logging.CRITICAL)
from collections import OrderedDict
import jinja2, jinja2.sandbox
import salt.utils.jinja, salt.utils.templates, salt.utils.data
from salt.utils.decorators.jinja import JinjaFilter, JinjaGlobal, JinjaTest
made = {}
def environment(case):
    mode = case.get('undefined')
    env = made.get(mode)
    if env is None:
        args = dict(extensions=['jinja2.ext.do', 'jinja2.ext.loopcontrols', salt.utils.jinja.SerializerExtension], loader=jinja2.DictLoader(case['files']))
        if mode != 'lenient': args['undefined'] = jinja2.StrictUndefined
        env = made[mode] = jinja2.sandbox.SandboxedEnvironment(**args)
        own = env.filters['indent']
        env.tests.update(JinjaTest.salt_jinja_tests); env.filters.update(JinjaFilter.salt_jinja_filters); env.filters['indent'] = own
        env.globals.update(JinjaGlobal.salt_jinja_globals); env.globals['odict'] = OrderedDict
        env.tests['list'] = salt.utils.data.is_list
    env.globals.update(case['context'])
    return env
class Endless(Exception): pass
def stop(*_): raise Endless()
signal.signal(signal.SIGALRM, stop)
shared = next(sys.stdin)
for line in sys.stdin:
    case = dict(json.loads(shared), **json.loads(line))
    signal.alarm(5)
    try:
        answer = {'expected': environment(case).from_string(case['template']).render(**case['context'])}
    except Exception as exc:
        at = None
        for frame in traceback.extract_tb(sys.exc_info()[2]):
            if frame.name in ('top-level template code', 'template') or frame.name.startswith('block '): at = frame.lineno
        if isinstance(exc, jinja2.TemplateSyntaxError): at = exc.lineno
        answer = {'error': {'type': type(exc).__name__, 'message': str(exc), 'line': at}}
    print(json.dumps(answer))
`;

/** Renders cases with real Jinja2; `python` is the interpreter of a Salt installation. */
export function referenceOutcomes(python: string, cases: readonly FuzzCase[]): Promise<Outcome[]> {
  const lines = cases.map(({ template, undefined: mode }) => ({ template, undefined: mode }));
  return askPython(python, referenceProgram, [{ context, files }, ...lines]);
}

/** Errors of folded constants, the reference's own faults and random orders are no differences. */
function isNoise(test: FuzzCase, reference: Outcome, halite: Outcome): boolean {
  const { error, expected } = reference;
  if (error?.type === 'Endless') return true;
  // A constant before `or` and `and` decides at compile time, and what follows is not looked at.
  if (halite.error?.type === 'TemplateAssertionError' && reference.error?.type !== 'TemplateAssertionError')
    return true;
  // Constants are cut at compile time, which turns an error into an undefined value.
  if (/\)\[(1:|::-1|:2|-2:|::2)\]/.test(test.template)) return true;
  if (test.template.includes('encode()') || /Markup\.|'method'/.test(error?.message ?? expected ?? '')) return true;
  if (error !== undefined) return error.line === null || /splitlines|sequence item|complex/.test(error.message);
  return /\bset\(|0x[0-9a-f]{6}|j\)/i.test(expected ?? '') || test.template.includes('[::-1]');
}

const shown = ({ expected, error }: Outcome): string =>
  error === undefined ? `text ${expected}` : `${error.type} ${error.message} at ${error.line}`;

export interface Difference {
  readonly test: FuzzCase;
  readonly reference: string;
  readonly halite: string;
}

/** Runs seeds against the reference and gives every case where the two disagree. */
export async function fuzzDifferences(python: string, firstSeed: number, count: number): Promise<Difference[]> {
  const cases = Array.from({ length: count }, (_, index) => fuzzCase(firstSeed + index));
  const asked = referenceOutcomes(python, cases);
  const ours = cases.map(renderCase);
  const outcomes = await asked;
  if (outcomes.length !== count) throw new Error(`the reference ended after ${outcomes.length} of ${count} cases`);
  return cases.flatMap((test, index) => {
    const [reference, halite] = [shown(outcomes[index]!), shown(ours[index]!)];
    return reference === halite || isNoise(test, outcomes[index]!, ours[index]!) ? [] : [{ test, reference, halite }];
  });
}
