// The options, environments, tops and pillar of a run, with a master that answers.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { environmentsOf } from './run-options.ts';
import { asJson, type TestTree, YamlTreeMinion } from './testing.ts';

let minion: YamlTreeMinion | undefined;
afterEach(() => minion?.remove());

const files = {
  'base/top.sls': "base:\n  '*': [a]\n  g: [{match: nodegroup}, b]\n",
  'base/a.sls': 'a: test.nop\n',
  'base/b.sls': 'b: test.nop\n',
  'base/c.sls': 'c: test.nop\n',
  'dev/top.sls': "dev:\n  '*': [d]\n",
  'dev/d.sls': 'd: test.nop\n',
};

function withMaster(
  answers: Record<string, Value>,
  tree: Partial<TestTree> = {},
): { asked: PlainDict[]; minion: YamlTreeMinion } {
  const asked: PlainDict[] = [];
  minion = new YamlTreeMinion({
    files,
    ...tree,
    opts: { file_client: 'remote', ...tree.opts },
    minion: {
      hasMaster: true,
      masterRequest: async (load) => {
        asked.push(load);
        return answers[String(load['cmd'])] ?? newDict();
      },
      ...tree.minion,
    },
  });
  return { asked, minion };
}

describe('options of the master', () => {
  it('take precedence over the minion’s where they apply to all minions', async () => {
    const master = newDict([
      ['renderer', 'yaml'],
      ['failhard', true],
      ['state_top', 'top.sls'],
      ['nodegroups', newDict([['g', 'm1']])],
      ['env_order', ['dev', 'base']],
      ['top_file_merging_strategy', 'merge_all'],
      ['state_events', true],
    ]);
    const { minion: m } = withMaster({ _master_opts: master }, { opts: { failhard: false, state_aggregate: ['pkg'] } });
    const run = await m.open();
    expect(run.opts).toMatchObject({
      failhard: true,
      state_events: true,
      state_aggregate: ['pkg'],
      top_file_merging_strategy: 'merge_all',
    });
    expect(asJson((await run.show.top()).return)).toEqual({ dev: ['d'], base: ['a', 'b'] });
  });

  it('are not requested without a master', async () => {
    const { asked, minion: m } = withMaster({}, { opts: { file_client: 'local' } });
    await (await m.open()).show.top();
    expect(asked).toEqual([]);
  });
});

describe('master tops', () => {
  it('are added to the top file, in either order', async () => {
    const answers = {
      _master_tops: newDict([
        ['base', ['c', 'a']],
        ['dev', ['d']],
      ]),
    };
    const { asked, minion: m } = withMaster(answers);
    expect(asJson((await (await m.open()).show.top()).return)).toEqual({ base: ['a', 'c'], dev: ['d'] });
    expect(asked.find((load) => load['cmd'] === '_master_tops')).toMatchObject({
      id: 'm1',
      opts: { grains: { os: 'Debian' } },
    });
    m.remove();
    const first = withMaster(answers, { opts: { master_tops_first: true } });
    expect(asJson((await (await first.minion.open()).show.top()).return)).toEqual({ base: ['c', 'a'], dev: ['d'] });
  });
});

describe('environments', () => {
  it('are those configured and those served, or those in env_order that are served', () => {
    expect(environmentsOf({ file_roots: newDict([['prod', []]]) }, ['dev', 'base'])).toEqual(['base', 'prod', 'dev']);
    expect(environmentsOf({ env_order: ['qa', 'dev', 'dev', 'base'] }, ['base', 'dev'])).toEqual(['dev', 'base']);
    expect(environmentsOf({ env_order: ['qa'] }, [])).toEqual(['qa']);
  });

  it('cannot be changed when they are locked', async () => {
    const { minion: m } = withMaster({}, { opts: { lock_saltenv: true, saltenv: 'base' } });
    await expect(m.open({ opts: { saltenv: 'dev' } })).rejects.toThrow(
      'lock_saltenv is enabled, saltenv cannot be changed',
    );
  });

  it('and other options may come from a file', async () => {
    const { minion: m } = withMaster({});
    const path = join(m.folder, 'more.yaml');
    writeFileSync(path, 'saltenv: dev\nfailhard: true\n');
    expect((await m.open({ localConfig: path })).opts).toMatchObject({ saltenv: 'dev' });
    await expect(m.open({ localConfig: join(m.folder, 'gone') })).rejects.toThrow('cannot be read');
  });
});

describe('pillar', () => {
  it('is compiled for the run and its environment, and given values take precedence', async () => {
    const asked: unknown[] = [];
    const compilePillar: NonNullable<TestTree['minion']>['compilePillar'] = async (options) => {
      asked.push(options);
      return newDict([
        [
          'a',
          newDict([
            ['x', 1],
            ['y', 1],
          ]),
        ],
        ['b', 1],
      ]);
    };
    const { minion: m } = withMaster({}, { minion: { compilePillar } });
    const override = newDict([['a', newDict([['x', 2]])]]);
    const run = await m.open({ pillar: override, opts: { pillarenv: 'dev', saltenv: 'dev' } });
    expect(asked).toEqual([{ override, pillarenv: 'dev', saltenv: 'dev' }]);
    expect(asJson(run.pillar)).toEqual({ a: { x: 2, y: 1 }, b: 1 });
  });

  it('of salt-call is not compiled twice', async () => {
    let compiled = 0;
    const compilePillar = async (): Promise<PlainDict> => newDict([['n', ++compiled]]);
    const { minion: m } = withMaster(
      {},
      { opts: { __cli: 'salt-call' }, pillar: newDict([['n', 0]]), minion: { compilePillar } },
    );
    expect(asJson((await m.open()).pillar)).toEqual({ n: 0 });
    expect(asJson((await m.open({ opts: { pillarenv: 'dev' } })).pillar)).toEqual({ n: 1 });
  });
});
