// The same pillar tree gives the same pillar, whichever of Halite and Salt 3006 is the master and whichever the minion.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite, type Implementation } from '../support/deployment.ts';
import { saltRelease } from '../support/salt-release.ts';

const salt = (): Implementation => saltRelease('3006.27');

const tree: Record<string, string> = {
  'top.sls':
    "base:\n  '*':\n    - common\n    - 'sub.*'\n  'G@kernel:Linux and not G@os:Nothing':\n    - linux\n  'm1,m2':\n    - match: list\n    - listed\n  'webs':\n    - match: nodegroup\n    - grouped\n  'E@m\\d':\n    - ignore_missing: True\n    - not_there\n",
  'common.sls':
    "{% from 'lib/map.jinja' import ports with context %}\n{% import_yaml 'lib/defaults.yaml' as defaults %}\ninclude:\n  - other:\n      defaults: {who: {{ grains.id }}}\n      key: nested:deep\nports: {{ ports | json }}\ndefaults: {{ defaults | yaml }}\nid: {{ grains['id'] }}\nkernel: {{ salt['grains.get']('kernel') }}\necho: {{ salt['cmd.run']('printf %s from-master') }}\nunicode: 盐 ünï\nfloat: 1.0\nhalf: 0.5\noct: 0644\nbig: 12345678901234567890\nnothing: ~\nyes: yes\ndate: 2024-01-02\nmulti: |\n  a\n    b\n80: http\n",
  'lib/map.jinja': "{% set ports = {'http': 80, 'list': [1, 2.5, True, None]} %}\n",
  'lib/defaults.yaml': 'a: {b: [1, two]}\n',
  'other.sls': 'said_by: {{ who }}\n',
  'linux.sls': 'linux: {{ sls }} {{ tplfile }} {{ saltenv }}\n',
  'listed.sls': '#!json\n{"json": {"x": [1, 1.0, null]}}\n',
  'grouped.sls': '#!jinja|yaml\ngrouped: {{ opts.id }}\n',
  'sub/one.sls': 'list: [1]\nmap: {a: 1}\n',
  'sub/two/init.sls': 'list: [2]\nmap: {b: 2}\n',
  'broken.sls': 'x: {{ nothing }}\n',
};

const masterConfig = `nodegroups: {webs: 'L@m1,m9'}
ext_pillar:
  - cmd_yaml: "echo 'ext: %s'"
`;

async function site(master: Implementation, minions: Record<string, Implementation>): Promise<Deployment> {
  const made = await Deployment.create({ master, masterConfig });
  for (const [name, text] of Object.entries(tree)) {
    mkdirSync(dirname(made.path('srv/pillar', name)), { recursive: true });
    writeFileSync(made.path('srv/pillar', name), text);
  }
  await made.startMaster();
  for (const [id, minion] of Object.entries(minions)) made.startMinion(id, minion);
  await made.answering(...Object.keys(minions));
  return made;
}

describe('pillar between Halite and Salt 3006', () => {
  let real: Deployment;
  let ours: Deployment;
  beforeAll(async () => {
    real = await site(salt(), { m1: salt(), m2: halite });
    ours = await site(halite, { m1: salt(), m2: halite });
  });
  afterAll(async () => {
    await Promise.all([real?.destroy(), ours?.destroy()]);
  });

  it.each(['m1', 'm2'])('is the same from both masters for %s', async (id) => {
    const [fromReal, fromOurs] = await Promise.all([real.json(id, 'pillar.items'), ours.json(id, 'pillar.items')]);
    // Only one of them is in the nodegroup; both have the rest.
    expect(fromReal[id]).toMatchObject({ linux: 'linux linux.sls base', nested: { deep: { said_by: id } }, ext: id });
    expect(Object.hasOwn(fromReal[id] as object, 'grouped')).toBe(id === 'm1');
    expect(fromOurs).toEqual(fromReal);
  });

  it('is the same with an override, and by key', async () => {
    const args = ['pillar.items', 'pillar={"map": {"c": 3}, "list": [9]}'] as const;
    for (const id of ['m1', 'm2']) expect(await ours.json(id, ...args)).toEqual(await real.json(id, ...args));
    expect(await ours.json('*', 'pillar.get', 'nested:deep:said_by')).toEqual({ m1: 'm1', m2: 'm2' });
  });

  it('has the same errors', async () => {
    for (const deployment of [real, ours]) {
      writeFileSync(deployment.path('srv/pillar/top.sls'), "base:\n  '*':\n    - broken\n    - gone\n    - sub.one\n");
    }
    const errors = [
      "Rendering SLS 'broken' failed. Please see master log for details.",
      "Specified SLS 'gone' in environment 'base' is not available on the salt master",
    ];
    for (const id of ['m1', 'm2']) {
      const fromOurs = await ours.json(id, 'pillar.items');
      expect(fromOurs).toEqual(await real.json(id, 'pillar.items'));
      expect(fromOurs[id]).toMatchObject({ _errors: errors });
    }
  });

  it('is the same for salt-run', async () => {
    for (const deployment of [real, ours]) writeFileSync(deployment.path('srv/pillar/top.sls'), tree['top.sls']!);
    const shown = async (deployment: Deployment, ...args: string[]): Promise<unknown> =>
      JSON.parse((await deployment.run('salt-run', [...args, '--out=json', '-l', 'quiet'])).stdout);
    expect(await shown(ours, 'pillar.show_pillar', 'm1')).toEqual(await shown(real, 'pillar.show_pillar', 'm1'));
    expect(await shown(ours, 'pillar.show_top', 'm1')).toEqual(await shown(real, 'pillar.show_top', 'm1'));
  });
});
