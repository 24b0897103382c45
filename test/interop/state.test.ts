// Halite and real Salt on the same states: equal low data for random trees, equal results in each other's role.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newDict } from '../../src/base/codec/value.ts';
import { asJson, YamlTreeMinion } from '../../src/engine/state/testing.ts';
import { lowData } from '../../src/engine/state/testing-recorded.ts';
import { Deployment, halite, type Implementation, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { saltRelease } from '../support/salt-release.ts';

const salt = (): Implementation => saltRelease('3006.27');

interface Recorded {
  readonly name: string;
  readonly files: Record<string, string>;
  readonly mods: string[];
  readonly expected: { readonly low: unknown };
}

describe('low data of random trees', () => {
  const count = Number(process.env['HALITE_STATE_TREES'] ?? 60);
  const seed = Number(process.env['HALITE_STATE_SEED'] ?? 50_000);

  it(`is the same for ${count} of them`, { timeout: 600_000 }, async () => {
    const recorder = fileURLToPath(new URL('../fixtures/state/record.py', import.meta.url));
    const python = join(salt().bin, 'python');
    const { stdout, stderr } = await runProgram(
      python,
      ['-W', 'ignore', recorder, '--low', String(count), String(seed)],
      { timeoutMs: 500_000 },
    );
    const cases = stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Recorded);
    expect(cases.length, stderr).toBe(count);
    let compared = 0;
    for (const { name, files, mods, expected } of cases) {
      if (expected.low !== null && typeof expected.low === 'object' && 'exception' in expected.low) continue;
      const minion = new YamlTreeMinion({
        files: Object.fromEntries(Object.entries(files).map(([path, text]) => [`base/${path}`, text])),
        opts: { file_roots: newDict([['base', []]]) },
      });
      const run = await minion.open({ opts: { saltenv: 'base' } });
      expect({ name, low: asJson(await lowData(run, mods)) }).toEqual({ name, low: expected.low });
      minion.remove();
      compared++;
    }
    expect(compared).toBeGreaterThan(count * 0.9);
  });
});

const tree: Record<string, string> = {
  'salt/top.sls':
    "base:\n  '*':\n    - common\n  'G@kernel:Linux and E@m.*':\n    - match: compound\n    - linux\n  'pick:me':\n    - match: pillar\n    - picked\n  nobody:\n    - gone\n",
  'salt/common.sls':
    "{% from 'lib/map.jinja' import names with context %}\n{% for name in names %}\nstate-{{ name }}:\n  test.succeed_with_changes:\n    - name: {{ name }}-{{ pillar['who'] }}\n{% endfor %}\n",
  'salt/lib/map.jinja': "{% set names = ['a', 'b', salt['grains.get']('kernel')] %}\n",
  'salt/linux.sls':
    'include:\n  - .sub.deep\nextend:\n  deep:\n    test:\n      - comment: extended\nwatcher:\n  test.succeed_without_changes:\n    - watch:\n      - test: state-a\nlistener:\n  test.nop:\n    - listen:\n      - test: state-b\nquiet:\n  test.nop:\n    - onchanges:\n      - test: deep\nfails:\n  test.fail_without_changes: []\nhandles:\n  test.nop:\n    - onfail:\n      - test: fails\n    - onfail_stop: false\nsaid:\n  cmd.run:\n    - name: printf hello\n    - unless: test -e /nowhere\n',
  'salt/sub/deep.sls':
    'deep:\n  test.succeed_without_changes:\n    - prereq_in:\n      - test: late\nlate:\n  test.succeed_with_changes:\n    - order: last\n',
  'salt/picked.sls':
    '#!jinja|yaml\npicked-{{ sls }}-{{ saltenv }}:\n  test.configurable_test_state:\n    - changes: false\n    - comment: {{ tplfile }}\n',
  'pillar/top.sls': "base:\n  '*': [data]\n",
  'pillar/data.sls': 'who: world\npick: me\n',
};

async function site(master: Implementation, minions: Record<string, Implementation>): Promise<Deployment> {
  const made = await Deployment.create({ master });
  for (const [name, text] of Object.entries(tree)) {
    mkdirSync(dirname(made.path('srv', name)), { recursive: true });
    writeFileSync(made.path('srv', name), text);
  }
  await made.startMaster();
  for (const [id, minion] of Object.entries(minions)) made.startMinion(id, minion);
  await made.answering(...Object.keys(minions));
  return made;
}

type Results = Record<string, Record<string, unknown>>;

/** Seconds; a busy Salt is asked about its jobs only after that, and may not answer in time. */
const patience = '60';

const ids = ['m1', 'm2'];

/** What both minions answer, in one job: a command of Salt's takes a second to start. */
async function answersOf(fleet: Deployment, call: readonly string[]): Promise<unknown[]> {
  const answers = await fleet.json('-t', patience, '*', ...call);
  return ids.map((id) => answers[id]);
}

/** A Salt minion refuses a run of states while the process of the last one, whose result is here already, has not ended. */
async function applied(fleet: Deployment, call: readonly string[]): Promise<Results[]> {
  await eventually('no states to run', async () => {
    const running = await answersOf(fleet, ['saltutil.is_running', 'state.*']);
    return running.every((jobs) => Array.isArray(jobs) && jobs.length === 0);
  });
  return (await answersOf(fleet, call)) as Results[];
}

/** Without times, process ids and the order of sets. */
function cleaned(results: Results): Results {
  return Object.fromEntries(
    Object.entries(results).map(([tag, { duration, start_time, changes, ...result }]) => [
      tag,
      {
        ...result,
        timed: [typeof duration, typeof start_time],
        changes: { ...(changes as object), ...('pid' in (changes as object) ? { pid: 0 } : {}) },
      },
    ]),
  );
}

describe('states between Halite and Salt 3006', () => {
  let real: Deployment;
  let ours: Deployment;
  beforeAll(async () => {
    [real, ours] = await Promise.all([
      site(salt(), { m1: salt(), m2: halite }),
      site(halite, { m1: salt(), m2: halite }),
    ]);
  });
  afterAll(async () => {
    await Promise.all([real?.destroy(), ours?.destroy()]);
  });

  it.each([
    { label: 'a highstate', call: ['state.apply'] },
    { label: 'a highstate under test=True', call: ['state.apply', 'test=True'] },
    { label: 'SLS files with other pillar', call: ['state.apply', 'linux,common', 'pillar={"who": "you"}'] },
  ])('come out the same: $label', async ({ call }) => {
    const answers = (await Promise.all([real, ours].map((fleet) => applied(fleet, call)))).flat().map(cleaned);
    expect(answers).toHaveLength(4);
    const [reference, ...others] = answers;
    expect(Object.keys(reference!).length).toBeGreaterThan(8);
    for (const other of others) expect(other).toEqual(reference);
  });

  describe('look the same', () => {
    const shown = ['show_top', 'show_highstate', 'show_lowstate', 'show_states'];
    const answers: Record<string, unknown>[] = [];
    beforeAll(async () => {
      // Salt wants the arguments of each function, none of them too, between commas.
      const call = [shown.map((fun) => `state.${fun}`).join(','), ...shown.slice(1).map(() => ',')];
      const asked = await Promise.all([real, ours].map((fleet) => applied(fleet, call)));
      answers.push(...asked.flat());
    });

    it.each(shown)('state.%s', (fun) => {
      const [reference, ...others] = answers.map((answer) => answer[`state.${fun}`]);
      expect(reference).toBeDefined();
      expect(others).toHaveLength(3);
      for (const other of others) expect(other).toEqual(reference);
    });
  });
});
