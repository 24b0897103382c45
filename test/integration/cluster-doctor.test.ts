// What an operator of several masters is told: the doctor on the machine and for the fleet, the state, and differences.
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Deployment, halite, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { Masters } from '../support/masters.ts';
import { natsPrograms } from '../support/servers/nats.ts';

interface Finding {
  readonly level: string;
  readonly about: string;
  readonly what: string;
  readonly repair?: string;
}
let masters: Masters;

async function examined(configDir: string): Promise<string[]> {
  const { stdout, stderr } = await runProgram(join(halite.bin, 'halite'), ['doctor', '-c', configDir, '--out=json']);
  if (!stdout.trim().startsWith('[')) throw new Error(`no findings: ${stdout}${stderr}`);
  return (JSON.parse(stdout) as Finding[]).map(({ level, what, repair }) => `${level}: ${what} → ${repair ?? ''}`);
}
const status = async (master: Deployment): Promise<{ text: string; code: number | null }> => {
  const { stdout, stderr, code } = await master.run('salt-run', ['cluster.status']);
  return { text: stdout + stderr, code };
};

describe.skipIf(natsPrograms().length === 0)('several masters', () => {
  beforeAll(async () => {
    masters = await Masters.start();
    masters.startMinion('web');
    masters.startMinion('one', undefined, [], [masters.master(0)]);
    await masters.answering(['web', 'one']);
  });
  afterAll(() => masters?.destroy(), 60_000);

  it('are examined with the nats-servers that they name', async () => {
    let found: string[] = [];
    const one = /^warning: 1 minion \(one\): connected to one member .* only/;
    await eventually(
      'no problem to be found, and the minions to be seen',
      async () => {
        found = await examined(masters.master(0).path('etc'));
        return !found.some((line) => line.startsWith('problem')) && found.some((line) => one.test(line));
      },
      { timeoutMs: 120_000, describe: () => found.join('\n') },
    );
    expect(found).toContainEqual(expect.stringMatching(/^warning: The cluster has 1 nats-server: .* → use three/));
    expect(found).toContainEqual(expect.stringMatching(/^fine: The nats-server nats:\S+ \(2\.\d+\.\d+\) can be used/));
    expect(found).toContainEqual(expect.stringMatching(/^fine: The key of the cluster is 0 days old/));
  });

  it('are examined when their configuration cannot work, without their daemon', async () => {
    const m1 = masters.master(0);
    const copy = m1.path('copy');
    cpSync(m1.path('etc'), copy, { recursive: true });
    const file = join(copy, 'master');
    const before = readFileSync(file, 'utf8').replaceAll(m1.path('etc'), copy);
    writeFileSync(file, `${before.replace(/servers: .*/, 'servers: [nats://127.0.0.1:1]')}cluster_id: old\n`);
    const key = join(copy, 'pki/master/cluster_bus.key');
    chmodSync(key, 0o644);
    const found = await examined(copy);
    expect(found).toContainEqual(
      expect.stringMatching(/^problem: cluster_id is of Salt’s own cluster, .* → .*halite cluster init/),
    );
    expect(found).toContainEqual(
      expect.stringMatching(/^problem: The nats-server nats:\/\/127\.0\.0\.1:1 cannot be used: .* → there: systemctl/),
    );
    expect(found).toContainEqual(
      expect.stringMatching(/^problem: .*cluster_bus\.key: may be read by others.* → Run: chmod 400/),
    );
    writeFileSync(file, before.replace(/name: test/, 'nam: test'));
    expect(await examined(copy)).toContainEqual(
      expect.stringMatching(
        /^problem: Config option cluster\.nam is not known: this master does not start → Did you mean 'name'\?/,
      ),
    );
  });

  it('name two machines with one id, with the member, the address and the process of each', async () => {
    const [m1, m2] = masters.all as [Deployment, Deployment];
    mkdirSync(m2.path('clone/etc/minion.d'), { recursive: true });
    cpSync(m1.path('web/pki'), m2.path('clone/pki'), { recursive: true });
    writeFileSync(m2.path('clone/etc/minion.d/id.conf'), `id: web\nmaster: ['127.0.0.1:${m2.ports.requests}']\n`);
    m2.startMinion('clone');
    let seen: string[] = [];
    for (const master of masters.all) {
      await eventually(
        'both to be named',
        async () => {
          const { stdout } = await master.run('salt-run', ['manage.explain', 'web', '--out=json']);
          const { duplicate_id: text = '' } = JSON.parse(stdout) as { duplicate_id?: string };
          seen = text.split(' and ');
          return seen.length === 2;
        },
        { timeoutMs: 120_000, describe: () => seen.join('\n') },
      );
      for (const one of seen) expect(one).toMatch(/^127\.0\.0\.1 pid \d+ at (m\d|this master) since \d{4}-/);
    }
    const { stdout, code } = await m1.run('salt-run', ['doctor.fleet']);
    expect([stdout, code]).toEqual([expect.stringMatching(/web\): several minions use this id/), 1]);
    await m2.minion('clone').stop();
    await eventually('one again', async () => {
      const told = await m1.run('salt-run', ['manage.explain', 'web', '--out=json']);
      return !told.stdout.includes('duplicate_id');
    });
  });

  it('tell how two of them differ', async () => {
    const [m1, m2] = masters.all as [Deployment, Deployment];
    writeFileSync(m2.path('srv/salt/more.sls'), '{}');
    mkdirSync(m1.path('srv/salt/_modules'), { recursive: true });
    writeFileSync(m1.path('srv/salt/_modules/own.ts'), 'export {};');
    const { stdout } = await m1.run('salt-run', ['cluster.diff', 'm1', 'm2', '--out=json']);
    expect(JSON.parse(stdout)).toEqual({
      'files base': ['more.sls: only on m2'],
      'extensions base': ['_modules/own.ts: only on m1'],
    });
    await m1.run('salt-run', ['cluster.sync_roots']);
    expect(JSON.parse((await m1.run('salt-run', ['cluster.diff', 'm1', 'm2', '--out=json'])).stdout)).toEqual({});
  });

  it('show their state in aligned lines, and what is wrong with exit code 1', async () => {
    const [m1] = masters.all as [Deployment];
    await eventually('nothing to be wrong', async () => (await status(m1)).code === 0);
    const { text } = await status(m1);
    expect(text).toMatch(
      /^test: 3 of 3 masters, leader m\d \(term \d+\), level \d+, engine 2\S+, delay \d+ ms\n( {2}m\d {2}slot \d {2}\S+ {2}up \d+ (s|min)\s+\d minions? +held 0.*\n){3}( {2}compared .*: \d+ records differed.*\n)?$/,
    );
    expect(text).toMatch(/ {2}m1 .*\(this master\)/);
    const [server] = masters.nats.nodes;
    await server!.pause();
    let now = '';
    const isCutOff = async (): Promise<boolean> => {
      now = (await status(m1)).text;
      return now.includes('CUT OFF since');
    };
    await eventually('it to be cut off', isCutOff, { timeoutMs: 120_000, describe: () => now });
    expect(now).toMatch(/m1 {2}slot \d {2}\S+ {2}CUT OFF since [\d-]+ [\d:]+ UTC \(.+\) {2}\d minions? +held \d+/);
    expect((await status(m1)).code).toBe(1);
    const found = await examined(m1.path('etc'));
    expect(found).toContainEqual(expect.stringMatching(/^problem: The nats-server .* cannot be used/));
    expect(found).toContainEqual(
      expect.stringMatching(/^(warning|problem): Cluster test: m1 is cut off .* it serves its own minions/),
    );
    await server!.start();
    await eventually('all to be well', async () => (await status(m1)).code === 0);
  });
});
