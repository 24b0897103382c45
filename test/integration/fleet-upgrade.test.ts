// A staged upgrade of real minion processes: builds that work, break on start, hang or are not there, and a master that
// is killed in the middle. HALITE_UPGRADE_MINIONS=40 takes that many.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

const count = Number(process.env['HALITE_UPGRADE_MINIONS'] ?? 8);
const wait = count > 10 ? 180 : 60;
const ids = Array.from({ length: count }, (_, number) => `m${String(number + 1).padStart(2, '0')}`);
let own: Deployment;

/** Both builds are this one; the second has another number. */
function makeBuild(name: string, version: string): string {
  const folder = own.path(name);
  const source = dirname(halite.bin);
  mkdirSync(folder);
  for (const part of ['dist', 'bin', 'package.json'])
    cpSync(join(source, part), join(folder, part), { recursive: true });
  symlinkSync(join(source, 'node_modules'), join(folder, 'node_modules'));
  for (const file of readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, 'dist', file);
    if (!/\.js$/.test(file)) continue;
    const text = readFileSync(path, 'utf8');
    // The number stands in several texts: the build puts constants together.
    const changed = text.replaceAll('+halite.0.1.0', `+halite.${version}`).replaceAll('"0.1.0"', `"${version}"`);
    if (changed !== text) writeFileSync(path, changed);
  }
  const about = readFileSync(join(folder, 'package.json'), 'utf8');
  writeFileSync(join(folder, 'package.json'), about.replace('"version": "0.1.0"', `"version": "${version}"`));
  return folder;
}

/** The service of a minion: which build it runs says the file `build`. */
function restartScript(): void {
  writeFileSync(
    own.path('restart'),
    `#!/bin/sh
dir=$(dirname "$(dirname "$PACKAGE")")/..
[ -n "$1" ] && dir=$1
cd "$dir" || exit 1
[ -s pid ] && kill "$(cat pid)" 2>/dev/null && while kill -0 "$(cat pid)" 2>/dev/null; do sleep 0.2; done
setsid "$(cat build)/bin/salt-minion" -c "$PWD/etc" </dev/null >>out 2>&1 &
exit 0
`,
    { mode: 0o755 },
  );
}

/** Starts a minion as its service does. */
function start(id: string): Promise<void> {
  own.configureMinion(id);
  writeFileSync(own.path(id, 'build'), own.path('old'));
  return new Promise((done) =>
    spawn(own.path('restart'), [own.path(id)], { stdio: 'ignore' }).on('exit', () => done()),
  );
}

const broken = (id: string, script: string): void => {
  const folder = own.path(id, 'broken/bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'salt-minion'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  writeFileSync(own.path(id, 'instead'), own.path(id, 'broken'));
};

const pidOf = (id: string): number =>
  Number(existsSync(own.path(id, 'pid')) ? readFileSync(own.path(id, 'pid'), 'utf8') : 0);
const upgrade = (...more: string[]) =>
  own.run('salt-run', ['fleet.upgrade', ...more, '--out=json'], { timeoutMs: 600_000 });
const settings = (): string[] => [
  'version=halite.0.2.0',
  `install=test -s "$PACKAGE" && dir=$(dirname "$PACKAGE")/../.. && if [ -e $dir/instead ]; then cp $dir/instead $dir/build; else cp "$PACKAGE" $dir/build; fi`,
  'rollback=cp "$OLD_PACKAGE" $(dirname "$PACKAGE")/../../build',
  `restart=${own.path('restart')}`,
  'package=salt://new.txt',
  'old_package=salt://old.txt',
  'state=fine',
  `wait=${wait}`,
];
type Report = { upgrade: string; result: string; minions: Record<string, number>; each: Record<string, string> };
const reportIn = (stdout: string): Report => JSON.parse(stdout.slice(stdout.indexOf('{'))) as Report;

beforeAll(async () => {
  own = await Deployment.create();
  makeBuild('old', '0.1.0');
  makeBuild('new', '0.2.0');
  writeFileSync(own.path('srv/salt/old.txt'), `${own.path('old')}\n`);
  writeFileSync(own.path('srv/salt/new.txt'), `${own.path('new')}\n`);
  writeFileSync(own.path('srv/salt/fine.sls'), 'fine:\n  test.nop: []\n');
  restartScript();
  await own.startMaster();
  for (const id of ids) await start(id);
  await own.answering(...ids);
});
afterAll(async () => {
  for (const id of ids) {
    const pid = pidOf(id);
    if (pid > 0 && existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGTERM');
  }
  await eventually('the minions to end', () => ids.every((id) => !existsSync(`/proc/${pidOf(id) || 'none'}`))).catch(
    () => undefined,
  );
  await own?.destroy();
});

describe('an upgrade', () => {
  it('shows its groups and commands, and refuses what it cannot do', async () => {
    const shown = await upgrade('*', ...settings(), 'canary=2', 'batch=50%', '--dry-run');
    const plan = JSON.parse(shown.stdout) as { groups: string[][] };
    expect(plan.groups[0]).toEqual(ids.slice(0, 2));
    expect(plan.groups.flat()).toEqual(ids);
    expect((await upgrade('*', 'version=1')).stderr + (await upgrade('*', 'version=1')).stdout).toContain(
      'Nothing says how to install',
    );
    expect((await upgrade('*', 'version=1', 'package=/etc/shadow')).stdout).toContain(
      'is not a file of the file server',
    );
  });

  it('stops after a canary that breaks on start, which has its old version again', async () => {
    broken(ids[0]!, 'exit 1');
    const { stdout, code } = await upgrade('*', ...settings(), 'wait=25', 'canary=1');
    const { result, minions, each } = reportIn(stdout);
    expect(result, stdout).toBe('stopped');
    expect(code).toBe(1);
    expect(minions).toEqual({ waiting: count - 1, returned: 1 });
    expect(each[ids[0]!]).toContain('returned');
    await own.answering(ids[0]!);
    expect((await own.salt(ids[0]!, 'test.version', '--out=txt')).stdout).toContain('halite.0.1.0');
    rmSync(own.path(ids[0]!, 'instead'));
  });

  it('goes on after the master was killed, past one that hangs and one that is offline', async () => {
    const [first, hanging, offline, ...others] = ids as [string, string, string, ...string[]];
    broken(hanging, 'echo $$ >pid; exec sleep 300');
    process.kill(pidOf(offline), 'SIGTERM');
    await eventually('the minion to end', () => !existsSync(`/proc/${pidOf(offline) || 'none'}`));
    let ended = '';
    const run = upgrade('*', ...settings(), 'canary=1', `batch=${count}`, 'most_failed=50%').then(
      ({ stdout, stderr }) => {
        ended = `${stdout}\n${stderr}`;
      },
    );
    const started = (): boolean =>
      others.every((id) => readdirSync(own.path(id, 'cache')).some((name) => name.startsWith('upgrade-')));
    await eventually('the upgrade of the second group', started, {
      timeoutMs: 240_000,
      abort: () => ended !== '',
      describe: () => ended,
    });
    process.kill(-own.master.pid, 'SIGKILL');
    await run;
    await own.startMaster();
    const { stdout, stderr } = await upgrade('resume=last');
    const { result, each, minions } = reportIn(stdout);
    expect(result, `${stdout}\n${stderr}`).toBe('done');
    expect(each[first]).toContain('upgraded');
    expect(each[hanging]).toContain('returned');
    expect(each[offline]).toContain('offline');
    for (const id of others) expect(each[id], id).toContain('upgraded');
    expect(minions).toEqual({ upgraded: count - 2, returned: 1, offline: 1 });
    await own.answering(hanging, ...others);
    const versions = await own.json('*', 'test.version', '-t', '5');
    expect(versions[hanging]).toContain('halite.0.1.0');
    for (const id of others) expect(versions[id]).toContain('halite.0.2.0');
    const listed = JSON.parse((await own.run('salt-run', ['fleet.upgrades', '--out=json'])).stdout) as {
      result: string;
    }[];
    expect(listed.map((each) => each.result)).toEqual(['stopped', 'done']);
    const known = JSON.parse((await own.run('salt-run', ['fleet.versions', '--out=json'])).stdout) as Record<
      string,
      { count: number }
    >;
    expect(known['Halite 0.2.0']?.count).toBe(count - 2);
  }, 600_000);
});
