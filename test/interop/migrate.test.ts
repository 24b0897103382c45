// `halite migrate` on a real Salt master with real minions: there, verified, and back by one command.
// HALITE_MIGRATE_MINIONS=20 takes that many minions of Salt; HALITE_MIGRATE_KILLS=10 kills the command at that many moments.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite, runProgram, startProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { saltRelease } from '../support/salt-release.ts';

const count = Number(process.env['HALITE_MIGRATE_MINIONS'] ?? 2);
const kills = Number(process.env['HALITE_MIGRATE_KILLS'] ?? 0);
const salt = saltRelease('3006.27');
const ids = Array.from({ length: count }, (_, number) => `s${String(number + 1).padStart(2, '0')}`);
let own: Deployment;

const migrate = (...args: string[]) =>
  runProgram(join(halite.bin, 'halite'), ['-c', own.masterConfigDir, 'migrate', ...args], { timeoutMs: 400_000 });
const record = (): string => own.path('cache/master/migration.json');
const pidFile = (): string => own.path('run/master.pid');
const masterPid = (): number => Number(existsSync(pidFile()) ? readFileSync(pidFile(), 'utf8') : 0);
const isRunning = (pid: number): boolean => pid > 0 && existsSync(`/proc/${pid}`);
/** Which implementation is the master now. */
const master = (): string => readFileSync(`/proc/${masterPid()}/cmdline`, 'utf8').replaceAll('\0', ' ');
const keys = (): string =>
  ids.map((id) => readFileSync(own.path('etc/pki/master/minions', id), 'utf8')).join() +
  readFileSync(own.path('etc/pki/master/master.pem'), 'utf8');

beforeAll(async () => {
  own = await Deployment.create({ master: salt });
  writeFileSync(own.path('srv/salt/top.sls'), 'base: {"*": [motd]}\n');
  writeFileSync(own.path('srv/salt/motd.sls'), 'ok:\n  test.nop: []\n');
  await own.startMaster();
  own.startMinion('h1');
  await own.answering('h1');
  for (let at = 0; at < ids.length; at += 4) {
    const some = ids.slice(at, at + 4);
    for (const id of some) own.startMinion(id, salt);
    await own.answering(...some);
  }
}, 900_000);
afterAll(async () => {
  // The masters that the tool started are not children of the test.
  const pid = own ? masterPid() : 0;
  if (isRunning(pid)) process.kill(pid, 'SIGTERM');
  await eventually('the last master to end', () => !isRunning(pid)).catch(() => process.kill(pid, 'SIGKILL'));
  await own?.destroy();
});

describe('a Salt master', () => {
  it('is not replaced while something is missing, or by a dry run', async () => {
    const before = masterPid();
    writeFileSync(own.path('srv/salt/gone.sls'), 'a:\n  boto_ec2.instance_present: []\n');
    const refused = await migrate('run');
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain('state boto_ec2.instance_present');
    expect(refused.stderr).toContain('nothing was changed');
    rmSync(own.path('srv/salt/gone.sls'));
    const shown = await migrate('run', '--dry-run');
    expect(shown.code, shown.stderr).toBe(0);
    expect(shown.stdout).toContain(`${count + 1} minions answer Salt`);
    expect(shown.stdout).toContain('stop Salt: end the process (SIGTERM)');
    expect(masterPid()).toBe(before);
    expect((await migrate('back')).stderr).toContain('No migration is under way');
  });

  it('stays when there is no room for the backup', async () => {
    const before = masterPid();
    const script = 'mount -t tmpfs -o size=4k tmpfs "$1" && exec "$2" -c "$3" migrate run backup="$1"';
    mkdirSync(own.path('small'));
    const words = [own.path('small'), join(halite.bin, 'halite'), own.masterConfigDir];
    const full = await runProgram('unshare', ['--mount', 'sh', '-c', script, 'sh', ...words], { timeoutMs: 120_000 });
    expect([full.code, full.stderr]).toEqual([1, expect.stringContaining('is full: nothing was written')]);
    expect(existsSync(record())).toBe(false);
    expect(masterPid()).toBe(before);
  });

  it('comes back by one command after a kill when neither master ran', async () => {
    const marker = own.path('starting');
    const start = `start=echo $$ >${marker}; exec sleep 600`;
    const run = startProgram(join(halite.bin, 'halite'), ['-c', own.masterConfigDir, 'migrate', 'run', start]);
    await eventually('Salt to be stopped', () => existsSync(marker) && readFileSync(marker, 'utf8').endsWith('\n'), {
      timeoutMs: 120_000,
    });
    process.kill(run.pid, 'SIGKILL');
    process.kill(Number(readFileSync(marker, 'utf8')), 'SIGKILL');
    await run.done;
    expect(isRunning(masterPid())).toBe(false);
    expect((await migrate('run')).stderr).toContain('A migration is under way here already');
    const back = await migrate('back');
    expect(back.code, `${back.stdout}\n${back.stderr}`).toBe(0);
    expect(master()).toContain(dirname(salt.bin));
    expect(existsSync(record())).toBe(false);
  });

  for (let kill = 0; kill < kills; kill++)
    it(`comes back after kill ${kill + 1} of ${kills}`, async () => {
      // From the first question to the last verdict.
      const afterMs = ((kill + 0.5) * 16_000) / kills;
      const run = startProgram(join(halite.bin, 'halite'), ['-c', own.masterConfigDir, 'migrate', 'run']);
      const timer = setTimeout(() => process.kill(run.pid, 'SIGKILL'), afterMs);
      const { code } = await run.done;
      clearTimeout(timer);
      const under = existsSync(record());
      const back = under ? await migrate('back') : undefined;
      console.log(`after ${afterMs} ms: ended with ${code}, ${back ? `back: ${back.code}` : 'nothing was begun'}`);
      expect(back?.code ?? 0, `${back?.stdout}\n${back?.stderr}`).toBe(0);
      expect(master()).toContain(dirname(salt.bin));
    });

  it('comes back by itself when Halite does not start', async () => {
    const { code, stdout } = await migrate('run', 'start=exit 7');
    expect(code).toBe(1);
    expect(stdout).toContain('Halite could not take its place: starting the master failed with 7');
    expect(stdout).toContain('Salt is the master again.');
    expect(master()).toContain(dirname(salt.bin));
  });

  it('is replaced with every minion verified, and comes back by one command', async () => {
    const before = keys();
    const there = await migrate('run');
    expect(there.code, `${there.stdout}\n${there.stderr}`).toBe(0);
    for (const id of ['h1', ...ids]) expect(there.stdout).toMatch(new RegExp(`^ +${id} +answers, as before$`, 'm'));
    expect(master()).toContain('halite');
    const states = await own.run('salt', ['s*', 'state.apply', '-t', '120', '--out=txt'], {
      implementation: halite,
      timeoutMs: 150_000,
    });
    expect(states.code, states.stdout).toBe(0);
    expect((await migrate('run')).stderr).toContain('A migration is under way here already');
    const back = await migrate('back');
    expect(back.code, `${back.stdout}\n${back.stderr}`).toBe(0);
    expect(back.stdout).toContain('Salt is the master again.');
    for (const id of ['h1', ...ids]) expect(back.stdout).toMatch(new RegExp(`^ +${id} +answers, as before$`, 'm'));
    expect(master()).toContain(dirname(salt.bin));
    expect(keys()).toBe(before);
  });
});
