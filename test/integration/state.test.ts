// States through real daemons: a tree on the master, applied on a minion, with pillar, templates, events and queues.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

let fleet: Deployment;
type Results = Record<string, Record<string, unknown>>;

function write(path: string, text: string): void {
  const full = fleet.path('srv', path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
}

beforeAll(async () => {
  fleet = await Deployment.create({ masterConfig: 'nodegroups: {group1: m1}' });
  write('pillar/top.sls', "base:\n  '*': [data]\n");
  write('pillar/data.sls', 'who: world\n');
  write(
    'salt/top.sls',
    "base:\n  'm*':\n    - web\n  group1:\n    - match: nodegroup\n    - extra\n  'other':\n    - gone\n",
  );
  write(
    'salt/web/init.sls',
    'include:\n  - .sub\n{% for n in range(3) %}\nstate-{{ n }}:\n  test.succeed_with_changes:\n    - name: {{ pillar.who }}-{{ n }}\n    - require:\n      - sls: web.sub\n{% endfor %}\n',
  );
  write('salt/web/sub.sls', "base-{{ grains['id'] }}:\n  test.nop: []\n");
  write(
    'salt/extra.sls',
    'react:\n  cmd.run:\n    - name: echo {{ salt["pillar.get"]("who") }}\n    - onchanges:\n      - test: state-0\n',
  );
  write(
    'salt/bad.sls',
    'broken:\n  test.fail_without_changes: []\nafter:\n  test.nop:\n    - require:\n      - test: broken\n',
  );
  write('salt/nojinja.sls', 'a:\n  test.nop:\n    - name: {{ nothing.here }}\n');
  write('salt/slow.sls', 'wait:\n  cmd.run:\n    - name: while [ ! -e {{ pillar["gate"] }} ]; do sleep 0.1; done\n');
  write('salt/scripted.sls', 'hello one two:\n  cmd.script:\n    - source: salt://files/hello.sh\n    - cwd: /\n');
  write('salt/files/hello.sh', '#!/bin/sh\necho "hello $1 $2"\n');
  writeFileSync(fleet.path('nodes.sh'), `[ "$1" = m1 ] && cat ${fleet.path('classes')} 2>/dev/null; exit 0\n`);
  writeFileSync(
    fleet.path('etc/master.d/tops.conf'),
    `master_tops: {ext_nodes: "sh ${fleet.path('nodes.sh')}", absent: {}}\n`,
  );
  await fleet.startMaster();
  fleet.startMinion('m1');
  await fleet.answering('m1');
});
afterAll(async () => {
  await fleet?.destroy();
});

async function apply(...args: string[]): Promise<Results> {
  return (await fleet.json('m1', 'state.apply', ...args))['m1'] as Results;
}
const comments = (results: Results): unknown[] =>
  Object.values(results).map((result) => [result['__id__'], result['comment']]);

describe('a highstate', () => {
  it('includes what master_tops assign', async () => {
    writeFileSync(fleet.path('classes'), 'classes: [scripted, web]\n');
    expect((await fleet.json('m1', 'state.show_top'))['m1']).toEqual({ base: ['web', 'extra', 'scripted'] });
    rmSync(fleet.path('classes'));
    expect((await fleet.json('m1', 'state.show_top'))['m1']).toEqual({ base: ['web', 'extra'] });
  });

  it('comes from the master’s tree and top file, with templates, pillar and nodegroups', async () => {
    const results = await apply();
    expect(comments(results).sort()).toEqual(
      [
        ['base-m1', 'Success!'],
        ['react', 'Command "echo world" run'],
        ['state-0', 'Success!'],
        ['state-1', 'Success!'],
        ['state-2', 'Success!'],
      ].sort(),
    );
    expect(Object.keys(results)).toContain('test_|-state-1_|-world-1_|-succeed_with_changes');
  });

  it('is printed as Salt prints it', async () => {
    const { stdout, code } = await fleet.salt('m1', 'state.apply', 'web.sub');
    expect(stdout).toMatch(
      /^m1:\n-{10}\n {10}ID: base-m1\n {4}Function: test\.nop\n {6}Result: True\n {5}Comment: Success!\n {5}Started: [\d:.]+\n {4}Duration: [\d.]+ ms\n {5}Changes: {3}\n\nSummary for m1\n-{12}\nSucceeded: 1\nFailed: {4}0\n-{12}\nTotal states run: {5}1\nTotal run time: +[\d.]+ ms\n$/,
    );
    expect(code).toBe(0);
  });

  it('changes nothing under test=True', async () => {
    const results = await apply('web', 'test=True');
    expect(results['test_|-state-0_|-world-0_|-succeed_with_changes']).toMatchObject({ result: null });
  });

  it('uses pillar values of the command line', async () => {
    const results = await apply('web', 'pillar={"who": "you"}');
    expect(Object.keys(results)).toContain('test_|-state-0_|-you-0_|-succeed_with_changes');
  });
});

describe('failures', () => {
  it('fail the command, and what requires them', async () => {
    const { stdout, code } = await fleet.salt('m1', 'state.apply', 'bad', '--out=json');
    const results = (JSON.parse(stdout) as Record<string, Results>)['m1']!;
    expect(comments(results)).toEqual(
      expect.arrayContaining([
        ['broken', 'Failure!'],
        ['after', 'One or more requisite failed: bad.broken'],
      ]),
    );
    expect(code).toBe(1);
  });

  it('of rendering name the file and the line', async () => {
    const answer = (await fleet.json('m1', 'state.apply', 'nojinja'))['m1'] as string[];
    expect(answer[0]).toMatch(/^Rendering SLS 'base:nojinja' failed: Jinja variable 'nothing' is undefined/);
  });

  it('of names say what is missing', async () => {
    expect((await fleet.json('m1', 'state.apply', 'gone'))['m1']).toEqual([
      "No matching sls found for 'gone' in env 'base'",
    ]);
  });
});

describe('looking', () => {
  it('shows top, low data and existence', async () => {
    expect((await fleet.json('m1', 'state.show_top'))['m1']).toEqual({ base: ['web', 'extra'] });
    const low = (await fleet.json('m1', 'state.show_low_sls', 'web'))['m1'] as Record<string, unknown>[];
    expect(low.map((chunk) => [chunk['__id__'], chunk['order']])).toEqual([
      ['base-m1', 10_000],
      ['state-0', 10_001],
      ['state-1', 10_002],
      ['state-2', 10_003],
    ]);
    expect((await fleet.json('m1', 'state.sls_exists', 'web'))['m1']).toBe(true);
    const { stdout } = await fleet.salt('m1', 'state.graph', 'web');
    expect(stdout).toContain('digraph states {');
  });
});

describe('scripts', () => {
  it('are fetched from the master and run', async () => {
    const results = await apply('scripted');
    expect(Object.values(results)[0]).toMatchObject({ result: true, changes: { stdout: 'hello one two' } });
  });
});

describe('one run at a time', () => {
  it('refuses a second one, or queues it', async () => {
    const gate = fleet.path('gate');
    const first = apply('slow', `pillar={"gate": "${gate}"}`);
    await eventually(
      'the first run to show',
      async () => ((await fleet.json('m1', 'state.running'))['m1'] as string[]).length > 0,
    );
    const refused = (await fleet.json('m1', 'state.apply', 'web.sub'))['m1'] as string[];
    expect(refused[0]).toMatch(
      /^The function "state\.apply" is running as PID \d+ and was started at \d{4}, \w{3} \d\d [\d:.]+ with jid \d{20}$/,
    );
    const queued = apply('web.sub', 'queue=True');
    const beside = await apply('web.sub', 'concurrent=True');
    expect(Object.keys(beside)).toHaveLength(1);
    writeFileSync(gate, '');
    expect(Object.values(await first)[0]).toMatchObject({ result: true });
    expect(Object.keys(await queued)).toEqual(['test_|-base-m1_|-base-m1_|-nop']);
  });
});

describe('salt-call', () => {
  it('applies states of its own tree without a master', async () => {
    const configDir = fleet.configureMinion(
      'alone',
      `file_client: local\nfile_roots: {base: [${fleet.path('srv/salt')}]}\npillar_roots: {base: [${fleet.path('srv/pillar')}]}`,
    );
    const bin = new URL('../../bin/salt-call', import.meta.url).pathname;
    const { stdout, code, stderr } = await runProgram(bin, [
      '-c',
      configDir,
      '--local',
      'state.apply',
      'web',
      '--out=json',
    ]);
    expect(stderr).toBe('');
    const results = (JSON.parse(stdout) as Record<string, Results>)['local']!;
    expect(Object.keys(results)).toContain('test_|-state-2_|-world-2_|-succeed_with_changes');
    expect(code).toBe(0);
    const failing = await runProgram(bin, ['-c', configDir, '--local', '--retcode-passthrough', 'state.apply', 'bad']);
    expect(failing.code).toBe(2);
  });
});
