// `salt-run bootstrap.minion` up to the point where it would install: over a real sshd, with packages of which only the names count.
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fingerprint } from '../../src/base/crypto/index.ts';
import { halite, runProgram } from '../support/deployment.ts';
import { preparedProgram } from '../support/servers/server.ts';
import { type Sshd, startSshd } from '../support/servers/sshd.ts';

const sshd = preparedProgram('sshd', 'openssh-server');
const work = mkdtempSync(join(tmpdir(), 'halite-bootstrap-test-'));
const parts = ['runtime', 'common', 'minion'];
const names = (version: string): string[] => [
  ...parts.flatMap((part) => ['amd64', 'arm64'].map((arch) => `halite-${part}_${version}_${arch}.deb`)),
  ...parts.flatMap((part) => ['x86_64', 'aarch64'].map((arch) => `halite-${part}-${version}-1.${arch}.rpm`)),
  ...['x64', 'arm64'].map((arch) => `halite-${version}-linux-${arch}.tar.xz`),
];
const folders = (): string[] => readdirSync('/var/tmp').filter((name) => name.startsWith('halite-bootstrap-'));
/** Those of runs that were killed do not count. */
const before = new Set(folders());
const left = (): string[] => folders().filter((name) => !before.has(name));

describe.skipIf(!sshd)('a minion for another machine', () => {
  let server: Sshd;
  const packages = join(work, 'packages');
  const bootstrap = (...more: string[]) => bootstrapHost('127.0.0.1', ...more);
  const bootstrapHost = (host: string, ...more: string[]) =>
    runProgram(join(halite.bin, 'salt-run'), [
      ...['-c', join(work, 'etc'), 'bootstrap.minion', host, 'id=web1', `port=${server.port}`],
      ...[`ssh=${server.config}`, 'priv=agent-forwarding', '--dry-run', ...more],
    ]);

  beforeAll(async () => {
    server = await startSshd({ PATH: process.env['PATH'] ?? '' });
    for (const folder of ['etc', 'pki', 'packages']) mkdirSync(join(work, folder));
    const lines = ['user: root', `root_dir: ${work}`, `pki_dir: ${join(work, 'pki')}`, `cachedir: ${work}`];
    writeFileSync(join(work, 'etc/master'), `${lines.join('\n')}\n`);
    await runProgram(join(halite.bin, 'salt-key'), [
      '-c',
      join(work, 'etc'),
      '--gen-keys=master',
      `--gen-keys-dir=${join(work, 'pki')}`,
    ]);
    const sums = ['1.9.0', '1.10.0'].flatMap(names).map((name) => {
      writeFileSync(join(packages, name), name);
      return `${createHash('sha256').update(name).digest('hex')}  ${name}\n`;
    });
    writeFileSync(join(packages, 'SHA256SUMS'), sums.join(''));
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(work, { recursive: true, force: true });
  });

  it('gets the newest packages for its system, this address, and the key of this master', async () => {
    const { stdout, stderr, code } = await bootstrap(`packages=${packages}`);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^web1: would send halite-[^ ]*1\.10\.0/m);
    expect(stdout).not.toContain('1.9.0');
    const finger = fingerprint(readFileSync(join(work, 'pki/master.pub'), 'utf8'));
    expect(stdout).toContain(`--master 127.0.0.1 --finger ${finger} --id web1`);
    expect(left()).toEqual([]);
  });

  it('gets the version that was named, or a reason', async () => {
    const older = await bootstrap(`packages=${packages}`, 'version=1.9.0');
    expect(older.stdout).toContain('1.9.0');
    const unknown = await bootstrap(`packages=${packages}`, 'version=2.0');
    expect([unknown.code, unknown.stderr]).toEqual([expect.any(Number), expect.stringContaining('web1: bootstrap: ')]);
    expect(unknown.code).not.toBe(0);
    const none = await bootstrap(`packages=${work}`);
    expect(none.stderr).toContain('SHA256SUMS is missing');
    expect(left()).toEqual([]);
  });

  it('refuses words that mean something else there', async () => {
    const strange = await bootstrap(`packages=${packages}`, 'master=x;y');
    expect([strange.code === 0, strange.stderr]).toEqual([false, expect.stringContaining('is not an address')]);
    const host = await bootstrapHost('host=-oProxyCommand=true', `packages=${packages}`);
    expect([host.code === 0, host.stderr]).toEqual([false, expect.stringContaining('not a name or an address')]);
    expect(left()).toEqual([]);
  });
});
