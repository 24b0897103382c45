// Targets on the command line: errors with their position, data that is not known, groups that change.
import { copyFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite } from '../support/deployment.ts';

let fleet: Deployment;
const noMatch = 'No minions matched the target. No command was sent, no jid was assigned.\n';

beforeAll(async () => {
  fleet = await Deployment.create();
  await fleet.startMaster();
  fleet.startMinion('t1', halite, 'grains: {role: web}');
  fleet.startMinion('t2', halite, 'grains: {role: db}');
  await fleet.answering('t1', 't2');
});
afterAll(async () => {
  await fleet?.destroy();
});

describe('a wrong expression', () => {
  const cases: [string, string[], string, string][] = [
    [
      'an operator too many',
      ['-C', 't1 and or t2'],
      '"or" stands where a term should be',
      '  t1 and or t2\n         ^^',
    ],
    ['no operator', ['-C', 't1 t2'], 'There is no operator before "t2"', '  t1 t2\n     ^^'],
    ['an open parenthesis', ['-C', '( t1 or t2'], 'This parenthesis is not closed', '  ( t1 or t2\n  ^'],
    ['an unknown letter', ['-C', 't1 or X@t2'], 'There is no target type X@', '  t1 or X@t2\n        ^^'],
    ['a grain without a value', ['-G', 'role'], '"role" names no value to compare with', '  role\n  ^^^^'],
    ['a network that is none', ['-S', '10.0.0.1/24'], 'neither an IP address nor a network', '  10.0.0.1/24\n  ^'],
    ['a broken expression', ['-E', 't('], 'not valid', '  t(\n  ^^'],
    ['a range', ['-R', '%web'], 'Range targets need a range server', '  %web\n  ^^^^'],
  ];
  it.each(cases)('%s is shown with a mark under the place', async (_name, target, message, place) => {
    const { stdout, stderr, code } = await fleet.salt(...target, 'test.ping');
    expect(stdout).toBe(noMatch);
    expect(stderr).toContain(message);
    expect(stderr).toContain(place);
    expect(code).toBe(2);
  });

  it('reports nothing more about a valid one that matches no minion', async () => {
    const { stdout, stderr, code } = await fleet.salt('nobody*', 'test.ping');
    expect([stdout, stderr, code]).toEqual([noMatch, 'ERROR: No return received\n', 2]);
    for (const way of [['--out=json'], ['--out=json', '--static'], ['--out=yaml']]) {
      expect((await fleet.salt('nobody*', 'test.ping', ...way)).stdout, way.join(' ')).toBe(`${noMatch}{}\n`);
    }
  });
});

describe('a nodegroup', () => {
  it('that does not exist gets the sentence of Salt and an exit code that says so', async () => {
    const { stdout, code } = await fleet.salt('-N', 'nope', 'test.ping');
    expect(stdout).toBe(`Node group nope unavailable in ${fleet.path('etc/master')}\n`);
    expect(code).toBe(2);
    const inside = await fleet.salt('-C', 'N@nope or t1', 'test.ping');
    expect([inside.code, inside.stderr]).toEqual([2, expect.stringContaining('There is no nodegroup nope')]);
  });

  it('works as soon as it is saved, without a restart of the master', async () => {
    writeFileSync(fleet.path('etc/master.d/groups.conf'), "nodegroups: {fresh: 'L@t1,', other: [t2]}\n");
    expect(await fleet.json('-N', 'fresh', 'test.ping')).toEqual({ t1: true });
    expect(await fleet.json('-C', 'N@fresh or N@other', 'test.ping')).toEqual({ t1: true, t2: true });
    expect((await fleet.salt('-N', 'fresh', '--preview-target')).stdout).toBe('- t1\n');
  });
});

describe('a minion whose data is not known', () => {
  it('is neither matched nor excluded: it is reported as not evaluated', async () => {
    const keys = fleet.path('etc/pki/master/minions');
    copyFileSync(`${keys}/t1`, `${keys}/ghost`);
    const { stdout, code } = await fleet.salt(
      '-G',
      'role:web',
      'test.ping',
      '--static',
      '--explain',
      '--out=json',
      '-t',
      '1',
    );
    const { __explain__: reasons, ...answers } = JSON.parse(stdout) as Record<string, Record<string, object>>;
    expect(answers).toEqual({ t1: true });
    expect(reasons).toEqual({ ghost: expect.objectContaining({ code: 'not-evaluated' }) });
    expect(code).toBe(1);
    const { stderr } = await fleet.salt('-G', 'role:web', '--preview-target', '--explain');
    expect(stderr).toContain('2 minions: 1 connected, 1 not evaluated (ghost');
    // Where its data does not matter it is an ordinary minion that is not there.
    const other = await fleet.salt('-C', 'ghost or G@role:none', 'test.ping', '--explain', '-t', '1');
    expect(other.stdout).toContain('ghost:\n    Minion did not return. [Not connected]\n    Has not connected');
  });
});
