// Differential fuzzing of filters: Salt's and Jinja's own with odd values and arguments, against Salt's environment.
import { createEnvironment, type JinjaEnvironment, JinjaError } from '../../src/engine/render/jinja/index.ts';
import { filterArguments } from './filter-arguments.ts';
import { askPython, Dice } from './fuzz.ts';
import { context as common } from './jinja-fuzz.ts';

const context = {
  ...common,
  nd: { ...common.nd, s: 'str' },
  ws: ' a\tb ',
  el: [],
  ed: {},
  dup: [1, 1, 2, 'a', 'a'],
  no: false,
  nest: [1, [2, [3, [4, null]], 'x'], { k: [1] }],
  ip: '192.168.0.1/24',
  ip6: '2001:db8::1/126',
  ips: ['192.168.0.1', '10.0.0.1', 'fe80::1'],
  mac: '00:11:22:aa:bb:cc',
  flags: [true, false, 1, 0, 'x', ''],
  pairs: [
    ['b', 2],
    ['a', 1],
  ],
  emoji: '😀x',
  html: '<a href="x">&amp;\'</a>',
};

const values = [
  ...Object.keys(context),
  ...`missing;d.nope;1.0;-0.5;range(3);'100';'0x1F';' 12 ';'1.5';'1e3';'true';'Yes';'2G';'10 KiB';'a b,c';'snake_case_here';'CamelCaseHere';'/etc/hosts';'/nonexistent';'1040814000';1040814000;'root';'YWJj';'not base64!';'{"a": 1}';'[1, 2';'a: 1\\nb: [x]';'a: [1';'::1';'127.0.0.1';'300.1.1.1';'deadbeef';{'a': {'b': {'c': 1}}};{'a': [1, {'b': 2}]};[[1, 2], [3, 4]];['b', 'B', 'a'];[none];{1: 2, none: 3}`.split(
    ';',
  ),
];

/** These give an iterator, which only shows its address. */
const lazy =
  /^(combinations|combinations_with_replacement|permutations|product|compress|zip|zip_longest|batch|slice|map|select|reject|selectattr|rejectattr|items|reverse)$/;

/** One template of a seed: a value through a filter. */
export function filterCase(seed: number): string {
  const dice = new Dice(seed);
  const value = dice.pick(values);
  const name = dice.pick(Object.keys(filterArguments));
  const args = dice.pick(filterArguments[name]!.split(';'));
  const subject = /^[\w.]+$/.test(value) ? value : `(${value})`;
  return `{{ ${subject} | ${name}${args === '' ? '' : `(${args})`}${lazy.test(name) ? ' | list' : ''} }}`;
}

function outcome(environment: JinjaEnvironment, template: string): string {
  try {
    return environment.renderSync(template, structuredClone(context), { globals: structuredClone(context) });
  } catch (error) {
    if (!(error instanceof JinjaError)) throw error;
    return `error: ${error.pyType} ${error.message}`;
  }
}

const referenceProgram = `
import sys, json, warnings, logging, copy
warnings.simplefilter('ignore'); logging.disable(logging.CRITICAL)
from collections import OrderedDict
import jinja2, jinja2.sandbox
import salt.utils.jinja, salt.utils.templates, salt.utils.data
from salt.utils.decorators.jinja import JinjaFilter, JinjaGlobal, JinjaTest
env = jinja2.sandbox.SandboxedEnvironment(undefined=jinja2.StrictUndefined, extensions=['jinja2.ext.do', 'jinja2.ext.loopcontrols', salt.utils.jinja.SerializerExtension])
own = env.filters['indent']
env.tests.update(JinjaTest.salt_jinja_tests); env.filters.update(JinjaFilter.salt_jinja_filters); env.filters['indent'] = own
env.globals.update(JinjaGlobal.salt_jinja_globals); env.globals['odict'] = OrderedDict
env.tests['list'] = salt.utils.data.is_list
shared = json.loads(next(sys.stdin))
for line in sys.stdin:
    context = copy.deepcopy(shared)
    env.globals.update(context)
    try: answer = env.from_string(json.loads(line)).render(**context)
    except Exception as exc:
        try: answer = 'error: %s %s' % (type(exc).__name__, exc)
        except Exception: answer = 'error: %s' % type(exc).__name__
    print(json.dumps(answer))
`;

/** Sets have no order; what both refuse may be refused for another reason when several things are wrong. */
function isSame(reference: string, halite: string): boolean {
  if (reference.startsWith('error: ')) return halite.startsWith('error: ');
  if (!/\{['"\d(]/.test(reference)) return reference === halite;
  return [...reference].sort().join('') === [...halite].sort().join('');
}

export interface FilterDifference {
  readonly template: string;
  readonly reference: string;
  readonly halite: string;
}

export interface FilterReport {
  readonly differences: FilterDifference[];
  /** How many failed in both, and how many of these with the same class and words. */
  readonly failed: number;
  readonly alike: number;
}

/** Runs seeds against the reference. */
export async function filterDifferences(python: string, firstSeed: number, count: number): Promise<FilterReport> {
  const templates = Array.from({ length: count }, (_, index) => filterCase(firstSeed + index));
  const asked = askPython<string>(python, referenceProgram, [context, ...templates]);
  const environment = createEnvironment({ undefined: 'strict', saltRelease: 3006 });
  const ours = templates.map((template) => outcome(environment, template));
  const outcomes = await asked;
  if (outcomes.length !== count) throw new Error(`the reference ended at ${templates[outcomes.length]}`);
  const found = templates.map((template, at) => ({ template, reference: outcomes[at]!, halite: ours[at]! }));
  const failed = found.filter(({ reference }) => reference.startsWith('error: '));
  return {
    differences: found.filter(({ reference, halite }) => !isSame(reference, halite)),
    failed: failed.length,
    alike: failed.filter(({ reference, halite }) => reference === halite).length,
  };
}
