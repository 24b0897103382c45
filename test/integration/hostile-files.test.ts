// Files of the daemons on a machine with other users: right modes under any umask, and names nobody can prepare.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Deployment, halite, type Implementation, runProgram } from '../support/deployment.ts';

let fleet: Deployment;
afterEach(async () => {
  await fleet?.destroy();
});

/** Our programs as somebody starts them whose umask forbids nothing. */
function carelessly(): Implementation {
  const bin = fleet.path('careless');
  mkdirSync(bin, { recursive: true });
  for (const name of ['salt', 'salt-master', 'salt-minion', 'salt-call', 'salt-run', 'salt-key', 'salt-cp']) {
    writeFileSync(join(bin, name), `#!/bin/sh\numask 000\nexec ${join(halite.bin, name)} "$@"\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return { name: 'careless', bin };
}

interface Found {
  readonly path: string;
  readonly mode: number;
  readonly kind: 'file' | 'folder' | 'socket';
}

/** Everything below a folder that others can reach. */
function* reachable(folder: string): Generator<Found> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) continue;
    const kind = stat.isDirectory() ? 'folder' : stat.isSocket() ? 'socket' : 'file';
    yield { path: relative(fleet.root, path), mode: stat.mode & 0o777, kind };
    if (stat.isDirectory() && (stat.mode & 0o001) !== 0) yield* reachable(path);
  }
}

const shown = ({ path, mode }: Found): string => `${path} ${mode.toString(8)}`;

/** What the test itself, or the one who started the daemons, has written. */
const ours = /^(careless|etc\/master|srv|log\/\w+\.out|m1\/etc\/minion$)/;

describe('files', () => {
  it('cannot be written by others, and only harmless ones can be read, whatever the umask was', async () => {
    fleet = await Deployment.create({
      masterConfig: 'file_recv: True\nminion_data_cache: True\npillar_cache: True\npillar_cache_backend: disk',
    });
    const careless = carelessly();
    writeFileSync(fleet.path('srv/pillar/top.sls'), 'base:\n  "*": [secret]\n');
    writeFileSync(fleet.path('srv/pillar/secret.sls'), 'password: hunter2\n');
    writeFileSync(fleet.path('srv/salt/app.sls'), 'x:\n  test.succeed_with_changes: []\n');
    writeFileSync(fleet.path('srv/salt/large.bin'), Buffer.alloc(3_000_000, 7));
    await fleet.startMaster(careless);
    fleet.startMinion('m1', careless, 'cache_jobs: True\ngrains_cache: True\nminion_pillar_cache: True');
    await fleet.answering('m1');
    expect(await fleet.json('m1', 'state.apply', 'app')).toHaveProperty('m1');
    expect(await fleet.json('m1', 'cp.cache_file', 'salt://large.bin')).toHaveProperty('m1');
    expect(await fleet.json('m1', 'cp.push', fleet.path('m1/cache/files/base/large.bin'))).toEqual({ m1: true });
    for (const args of [
      ['m1', 'mine.send', 'test.ping'],
      ['m1', 'schedule.add', 'one', 'function=test.ping', 'seconds=3600'],
      ['m1', 'beacons.add', 'load', '[{averages: {1m: [0.0, 2.0]}}]'],
      ['m1', 'test.echo', 'password'],
      ['m1', 'data.update', 'a', '1'],
    ])
      await fleet.salt(...args);
    await fleet.run('salt-run', ['jobs.list_jobs']);
    await fleet.run('salt-run', ['cache.store', 'bank', 'key', 'value']);
    const called = await runProgram(join(careless.bin, 'salt-call'), [
      '-c',
      fleet.path('m1/etc'),
      'state.apply',
      'app',
    ]);
    expect(called.code).toBe(0);

    const found = [...reachable(fleet.root)].filter(({ path }) => !ours.test(path));
    expect(found.length).toBeGreaterThan(20);
    expect(found.filter(({ mode, kind }) => kind !== 'socket' && (mode & 0o022) !== 0).map(shown)).toEqual([]);
    expect(found.filter(({ mode, kind }) => kind === 'socket' && (mode & 0o077) !== 0).map(shown)).toEqual([]);
    const harmless = /(\.pid|\/pid|\.pub|minion_id)$|^m1\/log$/;
    const readable = found.filter(
      ({ path, mode, kind }) => kind === 'file' && (mode & 0o004) !== 0 && !harmless.test(path),
    );
    expect(readable.map(shown)).toEqual([]);
  });

  it('of the master that could be read get the mode they were meant to have', async () => {
    fleet = await Deployment.create();
    await fleet.startMaster();
    await fleet.master.stop();
    const files = ['cache/master/.root_key', 'cache/master/halite.db'].filter((name) => existsSync(fleet.path(name)));
    expect(files).toHaveLength(2);
    for (const name of files) chmodSync(fleet.path(name), 0o644);
    const key = readFileSync(fleet.path('cache/master/.root_key'), 'utf8');
    await fleet.startMaster();
    for (const name of files)
      expect([name, (statSync(fleet.path(name)).mode & 0o777).toString(8)]).toEqual([name, '600']);
    expect(readFileSync(fleet.path('cache/master/.root_key'), 'utf8')).not.toBe(key);
  });
});
