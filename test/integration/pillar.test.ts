// Pillars through real daemons: compiled by the master, shown by the minion, explained by the runner.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { startStopwatch } from '../support/pace.ts';

let site: Deployment;

function write(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(site.path('srv/pillar', name)), { recursive: true });
    writeFileSync(site.path('srv/pillar', name), text);
  }
}

beforeAll(async () => {
  site = await Deployment.create({
    masterConfig: 'ext_pillar:\n  - cmd_yaml: \'printf "asked_by: %s\\n"\'\non_demand_ext_pillar: [cmd_json]\n',
  });
  write({
    'top.sls': "base:\n  '*':\n    - common\n  'G@role:db':\n    - db\n",
    'common.sls':
      "{% from 'map.jinja' import port %}\nusers:\n  alice:\n    uid: 1001\n    port: {{ port }}\nwho: {{ grains.id }}\nratio: 1.0\nmode: 0644\necho: {{ salt['cmd.run']('echo from master') }}\n",
    'map.jinja': '{% set port = 80 + 1 %}\n',
    'db.sls': 'users:\n  alice:\n    uid: 2002\nisdb: true\n',
  });
  await site.startMaster();
  site.startMinion('web1');
  site.startMinion('db1', halite, 'grains: {role: db}');
  await site.answering('web1', 'db1');
});
afterAll(() => site?.destroy());

const runner = async (...args: string[]): Promise<unknown> => {
  const { stdout, stderr } = await site.run('salt-run', [...args, '--out=json']);
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`salt-run ${args.join(' ')}:\n${stdout}\n${stderr}`);
  }
};

describe('pillar', () => {
  it('reaches each minion, by its grains', async () => {
    const items = await site.json('*', 'pillar.items');
    expect(items['web1']).toEqual({
      users: { alice: { uid: 1001, port: 81 } },
      who: 'web1',
      ratio: 1,
      mode: 644,
      echo: 'from master',
      asked_by: 'web1',
    });
    expect(items['db1']).toMatchObject({
      users: { alice: { uid: 2002, port: 81 } },
      isdb: true,
      who: 'db1',
      asked_by: 'db1',
    });
  });

  it('is in memory after a refresh, and minions are found by it', async () => {
    expect(await site.json('web1', 'pillar.get', 'users:alice:uid')).toEqual({ web1: 1001 });
    expect(Object.keys(await site.json('-I', 'isdb:True', 'test.ping'))).toEqual(['db1']);
    write({ 'common.sls': 'fresh: 1\n' });
    expect(await site.json('*', 'saltutil.refresh_pillar')).toMatchObject({ web1: true, db1: true });
    await eventually('the new pillar', async () => (await site.json('web1', 'pillar.get', 'fresh'))['web1'] === 1);
    expect(await site.json('web1', 'pillar.raw')).toEqual({ web1: { fresh: 1, asked_by: 'web1' } });
  });

  it('uses values of a command only for that command', async () => {
    const items = await site.json('web1', 'pillar.items', 'pillar={"fresh": 2, "extra": {"a": [1]}}');
    expect(items['web1']).toMatchObject({ fresh: 2, extra: { a: [1] } });
    expect(await site.json('web1', 'pillar.get', 'extra')).toEqual({ web1: '' });
    expect(Object.keys(await site.json('-I', 'extra:a:1', 'test.ping').catch(() => ({})))).toEqual([]);
  });

  it('uses an additional source for a command when the master allows it', async () => {
    const source = `{cmd_json: "printf '{\\"more\\": \\"for %s\\"}'"}`;
    const told = await site.json('web1', 'pillar.ext', source, 'pillar={"fresh": 3}');
    expect(told['web1']).toMatchObject({ fresh: 3, more: 'for web1', asked_by: 'web1' });
    const refused = await site.json('web1', 'pillar.ext', '{cmd_yaml: "echo no: 1"}');
    expect(refused['web1']).not.toHaveProperty('no');
  });

  it('reports to minions that something failed, and to the log what', async () => {
    write({ 'common.sls': 'x: 1\ny: {{ nothing_here }}\n' });
    const items = await site.json('web1', 'pillar.items');
    expect(items['web1']).toMatchObject({
      _errors: ["Rendering SLS 'common' failed. Please see master log for details."],
    });
    expect(site.master.output()).toContain("Jinja variable 'nothing_here' is undefined; line 2");
    expect(site.master.output()).toContain('common.sls, line 2');
    write({ 'common.sls': 'fresh: 1\n' });
  });

  it('is shown, drawn and explained by the runner', async () => {
    expect(await runner('pillar.show_pillar', 'db1')).toMatchObject({ fresh: 1, isdb: true, asked_by: 'db1' });
    expect(await runner('pillar.show_top', 'db1')).toEqual({ base: { '*': ['common'], 'G@role:db': ['db'] } });
    expect(await runner('pillar.explain', 'db1', 'users:alice:uid')).toEqual({
      key: 'users:alice:uid',
      found: true,
      value: 2002,
      given_by: {
        source: 'db',
        saltenv: 'base',
        file: site.path('srv/pillar/db.sls'),
        line: 3,
        text: 'uid: 2002',
        value: 2002,
      },
    });
  });

  it('does not block the master while one is compiled', async () => {
    write({
      'common.sls':
        "{% for i in range(90000) %}{% for j in range(40) %}{% endfor %}{% endfor %}\nslow: {{ salt['cmd.run']('sleep 2') }}done\n",
    });
    const slow = site.json('web1', 'pillar.items');
    const started = Date.now();
    while (Date.now() - started < 1500) {
      const watch = await startStopwatch();
      const ping = await site.run('salt-run', ['manage.present', '--out=json']);
      expect(ping.code).toBe(0);
      expect(await watch.ms()).toBeLessThan(1500);
    }
    expect((await slow)['web1']).toMatchObject({ slow: 'done' });
    write({ 'common.sls': 'fresh: 1\n' });
  });

  it('is compiled by salt-call without a master', async () => {
    const config = site.configureMinion(
      'lone',
      `pillar_roots: {base: [${site.path('srv/pillar')}]}\nfile_client: local`,
    );
    const call = await runProgram(`${halite.bin}/salt-call`, ['-c', config, '--local', 'pillar.items', '--out=json']);
    expect(JSON.parse(call.stdout)).toEqual({ local: { fresh: 1 } });
    const got = await runProgram(`${halite.bin}/salt-call`, [
      '-c',
      config,
      '--local',
      'pillar.get',
      'fresh',
      '--out=json',
    ]);
    expect(JSON.parse(got.stdout)).toEqual({ local: 1 });
  });
});
