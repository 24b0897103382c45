// --log-file and --log-file-level of the commands on the master.
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';

let fleet: Deployment;
beforeAll(async () => {
  fleet = await Deployment.create({ masterConfig: 'wrong_option_nam: 1\npillar_safe_render_eror: 1' });
  await fleet.startMaster();
  fleet.startMinion('m1');
  await fleet.answering('m1');
});
afterAll(() => fleet.destroy());

const read = (name: string): string => readFileSync(fleet.path(name), 'utf8');

describe('a command with --log-file', () => {
  it('writes what it prints as an error, in the layout of the configuration, and prints the same as without', async () => {
    const plain = await fleet.salt('nobody', 'test.ping');
    const logged = await fleet.salt('nobody', 'test.ping', `--log-file=${fleet.path('run.log')}`);
    expect(logged).toEqual(plain);
    expect(read('run.log')).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} \[.*\]\[ERROR {3}\]\[\d+\] No return received/m,
    );
    expect(statSync(fleet.path('run.log')).mode & 0o777).toBe(0o640);
  });

  it('writes what the level says, and the console has its own', async () => {
    const args = [`--log-file=${fleet.path('salt.log')}`, '--log-file-level=debug', '*', 'test.ping'];
    const { stdout, stderr } = await fleet.salt(...args);
    expect([stdout, stderr]).toEqual(['m1:\n    True\n', '']);
    expect(read('salt.log')).toMatch(/\[DEBUG {3}\].*Reading configuration from .*etc\/master$/m);
    expect(read('salt.log')).toMatch(/\[INFO {4}\].*job \d{20}: 1 minions, 0 not connected/);
    expect(read('salt.log')).toMatch(/\[WARNING \].*pillar_safe_render_eror/);
  });

  it('adds to a file that is there, and takes the file of the configuration when only the level is given', async () => {
    writeFileSync(fleet.path('old.log'), 'first\n');
    await fleet.salt('nobody', 'test.ping', `--log-file=${fleet.path('old.log')}`);
    expect(read('old.log')).toMatch(/^first\n.*\[ERROR {3}\].*No return received/s);
    await fleet.run('salt-key', ['-L', '--log-file-level=debug']);
    expect(read('log/key')).toContain('Reading configuration from');
  });

  it('goes on with a warning when the file cannot be written', async () => {
    mkdirSync(fleet.path('folder'));
    const { stdout, stderr, code } = await fleet.run('salt-key', ['-L', `--log-file=${fleet.path('folder')}`]);
    expect([stdout.includes('m1'), code]).toEqual([true, 0]);
    expect(stderr).toContain(
      `[WARNING ] Failed to open log file, do you have permission to write to ${fleet.path('folder')}?`,
    );
  });
});
