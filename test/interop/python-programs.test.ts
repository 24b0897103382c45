// Programs with Salt's own Python library, and Salt's own commands, at a Halite master: as if it were Salt's.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Deployment, runProgram } from '../support/deployment.ts';
import { type SaltVersion, saltRelease, saltVersions } from '../support/salt-release.ts';

const script = join(import.meta.dirname, '../support/python-programs.py');
const versions = process.env['HALITE_ALL_PAIRINGS'] === '1' ? saltVersions : (['3006.27', '3008.2'] as const);
const framing = (version: SaltVersion): string => (version === '3006.27' ? 'length' : 'stream');
const atOnce = 50;

it.each(versions)('library and commands of %s', async (version) => {
  const salt = saltRelease(version);
  const fleet = await Deployment.create();
  try {
    writeFileSync(fleet.path('etc/master.d/sockets.conf'), `event_socket_framing: ${framing(version)}\n`);
    await fleet.startMaster();
    for (const id of ['m1', 'm2']) fleet.startMinion(id);
    await fleet.answering('m1', 'm2');
    // The library of a minion signs in by itself.
    mkdirSync(fleet.path('caller/pki'), { recursive: true, mode: 0o700 });
    const callerConfig = join(fleet.configureMinion('caller'), 'minion');
    const run = await runProgram(
      join(salt.bin, 'python'),
      [script, join(fleet.masterConfigDir, 'master'), callerConfig, String(atOnce)],
      { timeoutMs: 240_000 },
    );
    const line = run.stdout.split('\n').find((each) => each.startsWith('RESULT '));
    expect(line, run.stdout + run.stderr + fleet.master.output().slice(-2000)).toBeDefined();
    const out = JSON.parse((line ?? '').slice('RESULT '.length)) as Record<string, object[]>;
    const both = (value: unknown) => ({ m1: value, m2: value });
    expect(out['cmd']).toEqual(both(true));
    expect(out['arguments']).toMatchObject({ m1: { args: ['a', 1], kwargs: { b: [1, 2] } } });
    expect(out['list']).toEqual(both('x'));
    expect(out['grain']).toEqual(both(true));
    expect(out['compound']).toEqual({ m2: true });
    expect(out['several']).toEqual({ m1: { 'test.ping': true, 'test.echo': 'y' } });
    expect(out['nobody']).toEqual({});
    expect(Object.assign({}, ...(out['batch'] ?? []))).toMatchObject({ m1: true, m2: true });
    expect(Object.keys(Object.assign({}, ...(out['iter'] ?? []))).sort()).toEqual(['m1', 'm2']);
    expect(out['full']).toMatchObject({ m1: { ret: true } });
    expect(out['async']).toMatchObject({ m1: { ret: true }, m2: { ret: true } });
    expect(out['lookup']).toEqual(both(true));
    expect(out['up']).toEqual(['m1', 'm2']);
    expect(out['keys']).toEqual(['m1', 'm2']);
    expect(out['event']).toMatchObject({ tag: 'my/tag', data: { n: 1 } });
    expect(out['caller']).toBe(true);
    expect(out['at_once']).toEqual(Array.from({ length: atOnce }, (_, n) => both(String(n))));

    const command = (name: string, ...args: string[]) => fleet.run(name, args, { implementation: salt });
    const ping = await command('salt', '-L', 'm1,m2', 'test.ping', '--out=json', '--static');
    expect(JSON.parse(ping.stdout)).toEqual(both(true));
    expect((await command('salt-key', '-L', '--out=json')).stdout).toContain('m1');
  } finally {
    await fleet.destroy();
  }
});
