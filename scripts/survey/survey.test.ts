// Reading state trees: every form of a declaration and of a call, and which trees are completely supported.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

type Named = (name: string) => boolean;
interface Declaration {
  readonly fun: string;
  readonly id: string;
}
interface Reader {
  declarations(text: string, isState: Named): { found: Declaration[]; unresolved: number };
  namedByStates(found: Declaration[], isFunction: Named): string[];
  namedByConditions(text: string, isFunction: Named): string[];
  calledFromJinja(text: string, isFunction: Named): string[];
  pythonSls(text: string, isState: Named, isFunction: Named): { states: string[]; modules: string[] };
}
interface Names {
  readonly states: Set<string>;
  readonly modules: Set<string>;
}
interface Uses {
  readonly states: Map<string, number>;
  readonly modules: Map<string, number>;
  readonly python: boolean;
  readonly unresolved: number;
  readonly sls: number;
}
interface Repository {
  readonly name: string;
  readonly kind: string;
  readonly commit: string;
  readonly python: boolean;
  readonly states: Record<string, number>;
  readonly modules: Record<string, number>;
}
interface Whole {
  measureWhole(list: Repository[], have: Names): Record<string, number> & { lacking: object[] };
  rankMissing(lacking: object[]): { name: string; completes: number; repos: number; uses: number }[];
  wholeSection(survey: { repositories: Repository[]; about: string[] }, have: Names): string[];
}

const load = (file: string): Promise<unknown> => import(new URL(file, import.meta.url).href);
const reader = (await load('./sls-reader.mjs')) as Reader;
const { surveyTree } = (await load('./survey-tree.mjs')) as { surveyTree(folder: string, names: Names): Uses };
const { readNames } = (await load('./salt-names.mjs')) as { readNames(file: URL): Names };
const whole = (await load('./whole.mjs')) as Whole;

const names = readNames(new URL('../../src/cli/halite/migrate/check/salt-names.json', import.meta.url));
const isState: Named = (name) => names.states.has(name);
const isFunction: Named = (name) => names.modules.has(name);
const states = (text: string): string[] => reader.declarations(text, isState).found.map(({ fun }) => fun);
const named = (text: string): string[] => reader.namedByStates(reader.declarations(text, isState).found, isFunction);

describe('names of Salt', () => {
  it('has states by the name they are written with, and functions by any', () => {
    for (const name of ['salt.state', 'file.managed', 'pkg.installed', 'x509.crl_managed'])
      expect(isState(name)).toBe(true);
    for (const name of ['pkg.version', 'cron.ls', 'log.debug', 'aptpkg.version']) expect(isFunction(name)).toBe(true);
    expect(isState('docker.running')).toBe(false);
  });
});

describe('declarations', () => {
  it('finds keys, short ones, and the old split form', () => {
    expect(states('a:\n  pkg.installed:\n    - name: b\n')).toEqual(['pkg.installed']);
    expect(states('a:\n  pkg.installed: []\n')).toEqual(['pkg.installed']);
    expect(states('a:\n  service.running\n')).toEqual(['service.running']);
    expect(states('vim: pkg.installed\n')).toEqual(['pkg.installed']);
    expect(states('a:\n  pkg:\n    - installed\n    - name: b\n  service:\n  - running\n')).toEqual([
      'pkg.installed',
      'service.running',
    ]);
    expect(states('extend:\n  a:\n    file.managed:\n      - mode: 644\n')).toEqual(['file.managed']);
  });

  it('reads both branches, loops and macros', () => {
    const text = `{%- macro m(x) %}
{{ x }}:
  {%- if x %}
  file.managed:
  {%- else %}
  file.absent:
  {%- endif %}
    - name: {{ x }}
{%- endmacro %}`;
    expect(states(text)).toEqual(['file.managed', 'file.absent']);
  });

  it('does not count a requisite, text, comment or unknown function as a state', () => {
    const text = `a:
  file.managed:
    - contents: |
        b:
          cmd.run:
    - require:
      - pkg: installed
    # pkg.installed:
  custom.thing: []
{#
c:
  pkg.removed: []
#}`;
    expect(states(text)).toEqual(['file.managed']);
  });

  it('counts functions that Jinja chooses', () => {
    expect(reader.declarations('a:\n  service.{{ x }}:\n    - name: b\n', isState).unresolved).toBe(1);
  });
});

describe('calls', () => {
  it('from Jinja, in every form', () => {
    const text = `{% set a = salt['pillar.get']('x') %}{{ salt.cmd.run('id') }}{{ salt.get('grains.get')('y') }}
{{ salt["own.thing"]() }} salt['test.ping'] {# salt['test.version'] #}`;
    expect(reader.calledFromJinja(text, isFunction).sort()).toEqual(['cmd.run', 'grains.get', 'pillar.get']);
  });

  it('from states, in every form', () => {
    expect(named('a:\n  module.run:\n    - name: service.restart\n    - m_name: x\n')).toEqual(['service.restart']);
    expect(named('a:\n  module.run:\n    - test.sleep:\n      - length: 1\n    - mine.update\n')).toEqual([
      'test.sleep',
      'mine.update',
    ]);
    expect(named('service.systemctl_reload:\n  module.wait: []\n')).toEqual(['service.systemctl_reload']);
    expect(named('a:\n  module:\n    - run\n    - name: cp.get_file\n')).toEqual(['cp.get_file']);
    expect(named('a:\n  salt.function:\n    - name: cmd.run\n    - tgt: "*"\n')).toEqual(['cmd.run']);
    expect(named('a:\n  cmd.run:\n    - name: test.ping\n')).toEqual([]);
  });

  it('from conditions and slots', () => {
    const text =
      'a:\n  test.nop:\n    - unless:\n      - fun: file.file_exists\n    - b: __slot__:salt:grains.get(x)\n';
    expect(reader.namedByConditions(text, isFunction)).toEqual(['file.file_exists', 'grains.get']);
  });

  it('from SLS in Python', () => {
    const text = "#!py\ndef run():\n  return {'a': {'file.managed': [{'name': __salt__['pillar.get']('x')}]}}\n";
    expect(reader.pythonSls(text, isState, isFunction)).toEqual({ states: ['file.managed'], modules: ['pillar.get'] });
  });
});

describe('a tree', () => {
  const folder = mkdtempSync(join(tmpdir(), 'halite-survey-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };

  it('is counted without its tests, documents and own modules', () => {
    put('web/init.sls', 'a:\n  pkg.installed: []\nb:\n  pkg.installed: []\n');
    put('web/macros.jinja', 'c:\n  file.managed: []\n');
    put('web/files/x.conf', "{{ salt['grains.get']('id') }}");
    put('test/x.sls', 'd:\n  cmd.run: []\n');
    put('docs/x.sls', 'd:\n  cmd.run: []\n');
    put('_modules/own.py', "__salt__['cmd.run']('x')\n");
    put('binary.sls', 'e:\n  cmd.run:\0\n');
    const { states: found, modules, ...rest } = surveyTree(folder, names);
    expect([...found]).toEqual([
      ['pkg.installed', 2],
      ['file.managed', 1],
    ]);
    expect([...modules]).toEqual([['grains.get', 1]]);
    expect(rest).toEqual({ python: true, unresolved: 0, sls: 1 });
  });
});

describe('whole repositories', () => {
  const repository = (name: string, functions: string[], calls: string[] = []): Repository => ({
    name,
    kind: name.startsWith('f') ? 'formula' : 'tree',
    commit: 'abc',
    python: false,
    states: Object.fromEntries(functions.map((fun) => [fun, 2])),
    modules: Object.fromEntries(calls.map((fun) => [fun, 1])),
  });
  const list = [
    repository('f/one', ['a.b']),
    repository('t/two', ['a.b', 'reg.present'], ['m.f']),
    repository('t/three', ['a.b', 'c.d'], ['m.f']),
    repository('t/four', ['c.d', 'e.f'], ['m.g']),
  ];
  const have: Names = { states: new Set(['a.b']), modules: new Set(['m.f']) };

  it('counts them, strictly and for Linux', () => {
    const { lacking, ...counts } = whole.measureWhole(list, have);
    expect(counts).toMatchObject({ repositories: 4, states: 1, modules: 3, both: 1, linux: 2 });
    expect(lacking).toHaveLength(4);
  });

  it('ranks what is missing by what it completes', () => {
    expect(whole.rankMissing(whole.measureWhole(list, have).lacking).slice(0, 2)).toEqual([
      { kind: 'states', name: 'c.d', completes: 1, repos: 2, uses: 4 },
      { kind: 'states', name: 'reg.present', completes: 1, repos: 1, uses: 2 },
    ]);
  });

  it('shows both', () => {
    const text = whole.wholeSection({ repositories: list, about: ['x'] }, have).join('\n');
    expect(text).toContain('| all | 4 | 1 | 3 | **1** | 25.0 % | 2 | 50.0 % |');
    expect(text).toContain('| t/four | `abc` | tree | 2 | 1 |  | `c.d`, `e.f`, `m.g` (execution) |');
  });
});
