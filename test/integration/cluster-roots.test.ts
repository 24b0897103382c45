// Folders of one master given to others, with real masters: through kill -9 of either side, and onto a full disk.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { Masters } from '../support/masters.ts';
import { natsPrograms } from '../support/servers/nats.ts';

type Told = Record<string, Record<string, string>>;
let masters: Masters;

async function sync(
  master: Deployment,
  ...args: string[]
): Promise<{ told: Told; code: number | null; stderr: string }> {
  const { stdout, stderr, code } = await master.run('salt-run', ['cluster.sync_roots', ...args, '--out=json'], {
    timeoutMs: 120_000,
  });
  return { told: stdout.trim().startsWith('{') ? (JSON.parse(stdout) as Told) : {}, code, stderr };
}
const mounted: string[] = [];
const program = (file: string, ...args: string[]): boolean => spawnSync(file, args).status === 0;

describe.skipIf(natsPrograms().length === 0)('the folders of a master', () => {
  beforeAll(async () => {
    masters = await Masters.start();
    masters.startMinion('minion', undefined, [], [masters.master(1)]);
    await masters.answering(['minion'], [masters.master(1)]);
  });
  afterAll(async () => {
    for (const folder of mounted) program('umount', folder);
    await masters?.destroy();
  });

  it('reach the others, whose minions get them', async () => {
    const [m1, m2, m3] = masters.all as [Deployment, Deployment, Deployment];
    writeFileSync(m1.path('srv/salt/hello.txt'), 'hello from m1');
    mkdirSync(m1.path('srv/pillar'), { recursive: true });
    writeFileSync(m1.path('srv/pillar/top.sls'), "base: {'*': [here]}\n");
    writeFileSync(m1.path('srv/pillar/here.sls'), 'from: m1\n');
    writeFileSync(m2.path('srv/salt/other.txt'), 'only on m2');
    const dry = await sync(m1, 'dry_run=True');
    expect(dry.code).toBe(0);
    expect(dry.told['m2']?.['files base']).toMatch(/would change: 1 added \(hello\.txt\), 1 removed \(other\.txt\)/);
    expect(existsSync(m2.path('srv/salt/hello.txt'))).toBe(false);
    const done = await sync(m1);
    expect([done.code, Object.keys(done.told).sort()]).toEqual([0, ['m2', 'm3']]);
    for (const other of [m2, m3]) expect(readFileSync(other.path('srv/salt/hello.txt'), 'utf8')).toBe('hello from m1');
    expect(readFileSync(m2.path('srv/.salt.halite-before/other.txt'), 'utf8')).toBe('only on m2');
    expect(await m2.json('minion', 'cp.get_file_str', 'salt://hello.txt')).toEqual({ minion: 'hello from m1' });
    await m2.salt('minion', 'saltutil.refresh_pillar', 'wait=True');
    expect(await m2.json('minion', 'pillar.get', 'from')).toEqual({ minion: 'm1' });
    expect((await sync(m1)).told['m3']).toEqual({ 'files base': 'equal', 'pillar base': 'equal' });
  });

  it('stay what they were on a member that is killed meanwhile, which goes on with the next try', async () => {
    const [m1, m2] = masters.all as [Deployment, Deployment];
    for (let n = 0; n < 600; n++) writeFileSync(m1.path(`srv/salt/file${n}`), randomBytes(100_000));
    const running = sync(m1, 'base', 'members=m2', 'only=files');
    const objects = m2.path('srv/.salt.halite-sync/objects');
    const fetched = (): number => (existsSync(objects) ? readdirSync(objects).length : 0);
    await eventually('some files to be there', () => fetched() > 20);
    await m2.master.stop('SIGKILL');
    const failed = await running;
    expect(failed.code).toBe(1);
    expect(failed.told['m2']?.['files base']).toMatch(/^failed: /);
    expect(readdirSync(m2.path('srv/salt'))).toEqual(['hello.txt']);
    const kept = fetched();
    expect(kept).toBeGreaterThan(20);
    await m2.startMaster();
    await eventually('it to be a member again', async () => !(await sync(m1, 'members=m2', 'dry_run=True')).code, {
      timeoutMs: 120_000,
    });
    const again = await sync(m1, 'members=m2');
    expect([again.code, again.told['m2']?.['files base']]).toEqual([0, expect.stringMatching(/^600 added/)]);
    expect(readFileSync(m2.path('srv/salt/file599')).equals(readFileSync(m1.path('srv/salt/file599')))).toBe(true);
    expect(existsSync(m2.path('srv/.salt.halite-sync'))).toBe(false);
  });

  it('are not changed when the disk of a member is full, and it says so', async (context) => {
    const [m1, , m3] = masters.all as [Deployment, Deployment, Deployment];
    const small = m3.path('small');
    mkdirSync(small);
    if (!program('mount', '-t', 'tmpfs', '-o', 'size=48m', 'tmpfs', small)) context.skip('needs root for a small disk');
    mounted.push(small);
    mkdirSync(join(small, 'salt'));
    writeFileSync(join(small, 'salt/kept.txt'), 'old');
    const config = m3.path('etc/master');
    const before = readFileSync(config, 'utf8');
    writeFileSync(config, before.replaceAll(m3.path('srv/salt'), join(small, 'salt')));
    await m3.master.stop();
    await m3.startMaster();
    let said = '';
    await eventually(
      'the member to be asked',
      async () => {
        const { told, code } = await sync(m1, 'members=m3', 'only=files');
        said = told['m3']?.['files base'] ?? '';
        return code === 1 && said !== '';
      },
      { timeoutMs: 120_000, describe: () => said },
    );
    expect(said).toMatch(/failed: There is not enough room beside the tree: \d+ MB are needed, 4\d MB are free/);
    expect(readdirSync(join(small, 'salt'))).toEqual(['kept.txt']);
  });
});
