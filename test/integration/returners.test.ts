// Returners on minions and through the master: the option `return`, users' own returners, failures, and results that
// outlive the daemon.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { jsonLines } from '../support/json-lines.ts';

type Load = Record<string, unknown>;
const kept = (file: string): Load[] => jsonLines(file);
const jidIn = (text: string): string => /\b(20\d{18})\b/.exec(text)?.[1] ?? '';

describe('returners', () => {
  let fleet: Deployment;
  const file = (name: string) => fleet.path(`${name}.json`);

  beforeAll(async () => {
    fleet = await Deployment.create();
    // The master's file is named in its own configuration; the minion behind it knows nothing of it.
    writeFileSync(fleet.path('etc/master.d/keep.conf'), `rawfile_json.filename: ${file('master')}\n`);
    await fleet.startMaster();
    fleet.startMinion(
      'own',
      halite,
      ['return:', '  - rawfile_json', `rawfile_json.filename: ${file('own')}`].join('\n'),
    );
    fleet.startMinion('poor', halite, 'return_via_master: True');
    mkdirSync(fleet.path('srv/salt/_returners'));
    writeFileSync(
      fleet.path('srv/salt/_returners/diary.mjs'),
      `// Writes a diary.
       import { appendFileSync } from 'node:fs';
       export function returner(ret) {
         if (ret.fun === 'test.arg') throw new Error('the pen is empty');
         appendFileSync(this.opts['diary.file'] ?? '${file('diary')}', JSON.stringify(ret) + '\\n');
       }\n`,
    );
    await fleet.answering('own', 'poor');
  });
  afterAll(() => fleet?.destroy());

  it('of the option `return` get every result', async () => {
    await fleet.salt('own', 'test.echo', 'for the file', '--return', 'rawfile_json');
    const mine = () => kept(file('own')).filter((load) => load['return'] === 'for the file');
    await eventually('the line', () => mine().length > 0);
    // Asked for twice, by the job and by the option, and written once.
    expect(mine()).toEqual([expect.objectContaining({ id: 'own', fun: 'test.echo', success: true, retcode: 0 })]);
    expect(mine()[0]).not.toHaveProperty('cmd');
  });

  it('of users come from the file server, and their failures are reported to the master and the log', async () => {
    expect(await fleet.json('own', 'saltutil.sync_returners')).toEqual({ own: ['returners.diary'] });
    expect((await fleet.json('own', 'sys.list_returners'))['own']).toContain('diary');
    await fleet.salt('own', 'test.echo', 'dear diary', '--return', 'diary');
    await eventually('the entry', () => kept(file('diary')).some((load) => load['return'] === 'dear diary'));
    const watching = fleet.run('salt-run', ['state.event', 'salt/job/*/returner/*', 'count=1', '--out=json']);
    const failing = async () => {
      await fleet.salt('own', 'test.arg', '--return', 'diary');
      return fleet.minion('own').output().includes('the pen is empty');
    };
    await eventually('the failure', failing);
    let told: string | undefined;
    void watching.then(({ stdout }) => {
      told = stdout;
    });
    // The watcher may have come too late for the first one.
    await eventually('the event', async () => told !== undefined || ((await failing()) && told !== undefined));
    expect(told).toContain('the pen is empty');
    const said = fleet
      .minion('own')
      .output()
      .match(/The return failed for job .*the pen is empty/g);
    expect(said).toHaveLength(1);
  });

  it('are used by the master for a minion that asks it', async () => {
    const { stdout } = await fleet.salt('poor', 'test.echo', 'through the master', '--return', 'rawfile_json', '-v');
    await eventually('the line', () => kept(file('master')).some((load) => load['return'] === 'through the master'));
    const [line] = kept(file('master'));
    expect(line).toMatchObject({ id: 'poor', jid: jidIn(stdout), fun: 'test.echo' });
    expect(line).not.toHaveProperty('returners');
  });

  it('are used by the master for salt-call, under the job id it gives', async () => {
    const args = ['-c', fleet.path('poor/etc'), '--return', 'rawfile_json', 'test.echo', 'called here'];
    expect((await runProgram(join(halite.bin, 'salt-call'), args)).stdout).toBe('local:\n    called here\n');
    const called = () => kept(file('master')).find((load) => load['return'] === 'called here');
    await eventually('the line', () => called() !== undefined);
    expect(called()).toMatchObject({ id: 'poor', fun: 'test.echo', jid: expect.stringMatching(/^20\d{18}$/) });
  });

  it('get the results of jobs that survive the daemon', async () => {
    const gate = fleet.path('gate');
    const wait = `while [ ! -e ${gate} ]; do sleep 0.1; done; echo late`;
    const { stdout } = await fleet.salt('own', 'cmd.run', wait, '--async');
    const jid = jidIn(stdout);
    await eventually('the job', () => existsSync(fleet.path('own/cache/proc', jid)));
    await fleet.minion('own').stop();
    writeFileSync(gate, '');
    await eventually('the line', () =>
      kept(file('own')).some((load) => load['jid'] === jid && load['return'] === 'late'),
    );
  });
});
