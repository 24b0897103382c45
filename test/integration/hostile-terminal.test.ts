// Data of minions reaches the operator's terminal and the logs as visible text, with every outputter.
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { OldMinion } from '../support/old-minion.ts';

const nasty = '\x1b]0;owned\x07\x1b[2J\x1b[H\u009b31mm1:\x08\x08\u202eFORGED';
const steering = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]/;
const outputters = ['nested', 'highstate', 'txt', 'raw', 'yaml', 'json', 'pprint', 'newline_values_only', 'key'];

let fleet: Deployment;
beforeAll(async () => {
  fleet = await Deployment.create({ masterConfig: 'minimum_auth_version: 0' });
  await fleet.startMaster();
  fleet.startMinion('m1');
  await fleet.answering('m1');
});
afterAll(async () => {
  await fleet?.destroy();
});

describe('control sequences of a minion', () => {
  it.each(outputters)('do not reach the terminal with --out=%s', async (out) => {
    const { stdout, stderr } = await fleet.salt('m1', 'test.echo', nasty, `--out=${out}`);
    expect(stdout + stderr).not.toMatch(steering);
    expect(stdout).toContain('FORGED');
  });

  it('do not reach it by errors, keys of results, files and coloured output either', async () => {
    for (const args of [
      ['m1', 'test.exception', nasty],
      ['m1', nasty],
      ['m1', 'test.arg', `${nasty}=1`],
      ['m1', 'test.exception', nasty, '--out=txt'],
      [nasty, 'test.ping'],
    ]) {
      const { stdout, stderr } = await fleet.salt(...args);
      expect(stdout + stderr, args.join(' ')).not.toMatch(steering);
    }
    const colored = await fleet.salt('m1', 'test.echo', `\x1b[31mred${nasty}`, '--out=txt', '--force-color');
    expect(colored.stdout.replace(/\x1b\[[\d;]*m/g, '')).not.toMatch(steering);
    await fleet.salt('m1', 'test.echo', nasty, '--out=txt', `--out-file=${fleet.path('written')}`);
    expect(readFileSync(fleet.path('written'), 'utf8')).not.toMatch(steering);
  });

  it('stay in the data: JSON is the same, and the operator can request the bytes', async () => {
    expect(await fleet.json('m1', 'test.echo', nasty)).toEqual({ m1: nasty });
    const { stdout } = await fleet.salt('m1', 'test.echo', nasty, '--out=newline_values_only', '--out-raw-escapes');
    expect(stdout).toContain('\u009b31m');
  });

  it('for colours are kept when strip_colors is off, and no others', async () => {
    writeFileSync(fleet.path('etc/master.d/colors.conf'), 'strip_colors: False\n');
    const { stdout } = await fleet.salt('m1', 'test.echo', `\x1b[01;34mbin\x1b[0m ${nasty}`);
    writeFileSync(fleet.path('etc/master.d/colors.conf'), '');
    expect(stdout).toContain('\x1b[01;34mbin\x1b[0m ');
    expect(stdout.replace(/\x1b\[[\d;]*m/g, '')).not.toMatch(steering);
  });

  it('are visible in runners, events and their log lines, one line each', async () => {
    const evil = await OldMinion.start({ id: 'evil', generation: 2, version: '3005', requests: fleet.ports.requests });
    const forged = '2026-01-01 00:00:00,000 [salt.master      :1   ][CRITICAL][1] FORGED LINE';
    await fleet.salt('m1', 'test.echo', nasty);
    const jobs = await fleet.run('salt-run', ['jobs.list_jobs']);
    expect(jobs.stdout + jobs.stderr).not.toMatch(steering);
    expect(jobs.stdout).toContain('owned');
    const watching = fleet.run('salt-run', ['state.event', 'evil/*', 'count=1', 'pretty=False'], {
      timeoutMs: 120_000,
    });
    let seen = '';
    void watching.then(({ stdout, stderr }) => {
      seen = stdout + stderr;
    });
    await eventually('the event to be printed', async () => {
      await evil.send({ cmd: '_minion_event', id: 'evil', tag: 'evil/x', data: { text: nasty }, pretag: null });
      return seen !== '';
    });
    expect(seen).not.toMatch(steering);
    expect(seen).toContain('owned');
    await evil.send({ cmd: `x\n${forged}${nasty}`, id: 'evil' }).catch(() => undefined);
    await evil
      .send({ cmd: '_minion_event', id: 'evil', tag: `salt/auth\n${forged}`, data: {}, pretag: null })
      .catch(() => undefined);
    evil.stop();
    for (const file of ['log/master', 'log/master.out', 'm1/log']) {
      const lines = readFileSync(fleet.path(file), 'utf8').split('\n');
      expect(lines.filter((line) => line.startsWith('2026-01-01') || steering.test(line))).toEqual([]);
    }
  });
});
