// Beacons with real daemons: configured in files, in the pillar and while the minion runs; reported to its masters.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite, runProgram } from '../support/deployment.ts';
import { EventListener } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';

let fleet: Deployment;
let events: EventListener;
type Answer = Record<string, unknown>;
const beacons = async (fun: string, ...args: string[]): Promise<Answer> =>
  (await fleet.json('m1', `beacons.${fun}`, ...args))['m1'] as Answer;
const listed = (): Promise<Answer> => beacons('list', 'return_yaml=False');
const touch = (name: string): void => writeFileSync(fleet.path('watched', name), name);

const custom = `// How many files lie in a folder.
import { readdirSync } from 'node:fs';
import { defineBeacon } from 'halite/sdk';

export default defineBeacon({
  name: 'count',
  doc: 'Counts files.',
  validate: ({ folder }) => (typeof folder === 'string' ? undefined : 'count: folder must be a path'),
  open: ({ folder }, ctx) => ({
    read: () => [{ tag: 'now', files: readdirSync(String(folder)).length, name: ctx.name }],
  }),
});
`;

beforeAll(async () => {
  fleet = await Deployment.create();
  mkdirSync(fleet.path('watched'));
  mkdirSync(fleet.path('srv/salt/_beacons'), { recursive: true });
  writeFileSync(fleet.path('srv/salt/_beacons/count.ts'), custom);
  writeFileSync(
    fleet.path('srv/salt/slow.sls'),
    `slow:\n  cmd.run:\n    - name: touch ${fleet.path('watched/by_state')}; until test -e ${fleet.path('go-on')}; do sleep 0.1; done\n`,
  );
  writeFileSync(fleet.path('srv/pillar/top.sls'), 'base:\n  m1: [watch]\n');
  writeFileSync(
    fleet.path('srv/pillar/watch.sls'),
    'beacons:\n  memusage:\n    - percent: 0%\n    - interval: 1\n  salt_monitor: [{salt_fun: [test.ping]}, {interval: 1}]\n',
  );
  await fleet.startMaster();
  events = await EventListener.start(fleet);
  mkdirSync(fleet.path('m1/etc/minion.d'), { recursive: true });
  writeFileSync(
    fleet.path('m1/etc/minion.d/watch.conf'),
    [
      'beacons:',
      '  inotify:',
      `    - files: {${fleet.path('watched')}: {mask: [create]}}`,
      '    - disable_during_state_run: True',
      '  nonsense: [{a: b}]',
      '  log: [{tags: {}}]',
    ].join('\n'),
  );
  fleet.startMinion('m1');
  await fleet.answering('m1');
});
afterAll(async () => {
  events?.stop();
  await fleet?.destroy();
});

describe('beacons of a minion', () => {
  it('report to the master, from its files and its pillar', async () => {
    await events.next(
      'salt/beacon/m1/memusage/',
      (data) => data['id'] === 'm1' && typeof data['memusage'] === 'number',
    );
    touch('first');
    const data = await events.next(`salt/beacon/m1/inotify/${fleet.path('watched')}`);
    expect(data).toMatchObject({ id: 'm1', path: fleet.path('watched/first'), change: 'IN_CREATE' });
    expect(await events.next('salt/beacon/m1/salt_monitor/')).toMatchObject({ salt_fun: 'test.ping', ret: true });
    expect(Object.keys(await listed())).toEqual(['memusage', 'salt_monitor', 'inotify', 'nonsense', 'log']);
  });

  it('report a wrong configuration once, and the others work', () => {
    const said = fleet.minion('m1').output();
    expect(said.split('Beacon "nonsense" is not available')).toHaveLength(2);
    expect(said).toContain('Configuration for log beacon must contain file option.');
  });

  it('are added, changed, enabled, disabled and deleted while it runs', async () => {
    const data = JSON.stringify([
      { file: fleet.path('notes') },
      { tags: { hit: { regex: 'hit' } } },
      { beacon_module: 'log' },
    ]);
    writeFileSync(fleet.path('notes'), '');
    expect(await beacons('add', 'mine', JSON.stringify([{ beacon_module: 'log' }]))).toEqual({
      comment: 'Beacon mine configuration invalid, not adding.\nConfiguration for log beacon must contain file option.',
      result: false,
    });
    expect(await beacons('add', 'mine', data)).toEqual({ comment: 'Added beacon: mine.', result: true });
    appendFileSync(fleet.path('notes'), 'hit one\n');
    expect(await events.next('salt/beacon/m1/mine/hit')).toMatchObject({ raw: 'hit one', match: 'yes' });
    expect(await beacons('disable_beacon', 'mine')).toMatchObject({ comment: 'Disabled beacon mine on minion.' });
    expect(JSON.stringify((await listed())['mine'])).toContain('"enabled":false');
    expect(await beacons('enable_beacon', 'memusage')).toEqual({
      comment: 'Cannot enable beacon item memusage, it is configured in pillar.',
      result: false,
    });
    expect(await beacons('delete', 'nonsense')).toEqual({ comment: 'Deleted beacon: nonsense.', result: true });
  });

  it('are silent during a state run if configured', async () => {
    const applied = fleet.json('m1', 'state.apply', 'slow');
    await eventually('the state', () => existsSync(fleet.path('watched/by_state')));
    // Another beacon of the same process tells that this one had its turn meanwhile.
    const looks = (): number => events.seen('salt/beacon/m1/memusage/').length;
    const before = looks();
    await eventually('some looks', () => looks() >= before + 3);
    writeFileSync(fleet.path('go-on'), '');
    await applied;
    // Two looks later it watches again.
    await eventually('the beacon to watch again', async () => {
      touch(`after-${Date.now()}`);
      return events
        .seen(`salt/beacon/m1/inotify/${fleet.path('watched')}`)
        .some((data) => String(data['path']).includes('after-'));
    });
    const paths = events.seen(`salt/beacon/m1/inotify/${fleet.path('watched')}`).map((data) => String(data['path']));
    expect(paths).not.toContain(fleet.path('watched/by_state'));
  });

  it('can be written by users', async () => {
    expect((await fleet.json('m1', 'saltutil.sync_beacons'))['m1']).toEqual(['beacons.count']);
    expect(await beacons('list_available', 'return_yaml=False')).toEqual(
      expect.arrayContaining(['count', 'inotify', 'log']),
    );
    expect(await beacons('add', 'count', '[{}]')).toMatchObject({
      comment: expect.stringContaining('folder must be a path'),
    });
    expect(await beacons('add', 'count', JSON.stringify([{ folder: fleet.path('watched') }]))).toMatchObject({
      result: true,
    });
    expect(await events.next('salt/beacon/m1/count/now')).toMatchObject({ id: 'm1', name: 'count' });
  });

  it('are loaded at the next start when saved, and salt-call changes them', async () => {
    const file = fleet.path('m1/etc/minion.d/beacons.conf');
    expect(await beacons('save')).toEqual({ comment: `Beacons saved to ${file}.`, result: true });
    expect(readFileSync(file, 'utf8')).toContain('count:');
    await beacons('add', 'load', JSON.stringify([{ averages: { '1m': [0, 1000] } }]));
    await fleet.minion('m1').stop();
    events.forget();
    fleet.startMinion('m1');
    await fleet.answering('m1');
    await events.next('salt/beacon/m1/count/now');
    expect(await listed()).not.toHaveProperty('load');
    const call = ['-c', fleet.path('m1/etc'), '--local', '--out=json', 'beacons.delete', 'count'];
    expect((await runProgram(join(halite.bin, 'salt-call'), call)).stdout).toContain('Deleted beacon: count.');
    await eventually('the daemon to follow', async () => !('count' in (await listed())));
  });

  it('start before the connection to a master, if configured', async () => {
    mkdirSync(fleet.path('m2/etc/minion.d'), { recursive: true });
    writeFileSync(
      fleet.path('m2/etc/minion.d/early.conf'),
      'beacons_before_connect: True\nmaster_port: 1\nbeacons:\n  early: [{beacon_module: nothing}]\n',
    );
    const daemon = fleet.startMinion('m2');
    await eventually('the beacons', () => daemon.output().includes('Beacon "nothing" is not available'));
    await daemon.stop();
  });

  it('are restarted when their process dies, and end with the minion', async () => {
    const pids = (): string[] => processesOf('salt-minion beacons', fleet.minion('m1').pid);
    const [pid] = pids();
    process.kill(Number(pid), 'SIGKILL');
    await eventually('the process to be gone', () => !pids().includes(String(pid)));
    events.forget();
    await events.next('salt/beacon/m1/memusage/');
    expect(pids().length).toBe(1);
    expect(await beacons('reset')).toEqual({ comment: 'Beacon configuration reset.', result: true });
    await fleet.minion('m1').stop();
    await eventually('the process to end', () => pids().length === 0);
  });
});

/** Processes with a title whose parent is, or was, this one. */
function processesOf(title: string, parent: number): string[] {
  const children = known.get(parent) ?? new Set<string>();
  known.set(parent, children);
  for (const pid of pidsOf(parent)) children.add(pid);
  return [...children].filter((pid) => readOr(`/proc/${pid}/cmdline`).startsWith(title));
}
const known = new Map<number, Set<string>>();
const readOr = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};
const pidsOf = (parent: number): string[] =>
  readOr(`/proc/${parent}/task/${parent}/children`).split(' ').filter(Boolean);
