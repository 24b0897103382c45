// A master is cloned over ssh from a real sshd, exported and imported; hosts and files that lie are refused.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite, runProgram } from '../support/deployment.ts';
import { freePorts } from '../support/ports.ts';
import { preparedProgram } from '../support/servers/server.ts';
import { type Sshd, startSshd } from '../support/servers/sshd.ts';

const sshd = preparedProgram('sshd', 'openssh-server');
const run = (command: string, ...args: string[]) => runProgram(join(halite.bin, command), args, { timeoutMs: 120_000 });

describe.skipIf(!sshd)('a master on another host', () => {
  let old: Deployment;
  let server: Sshd;
  let work: string;
  let ports: string[];

  beforeAll(async () => {
    work = mkdtempSync(join(tmpdir(), 'halite-moving-test-'));
    ports = (await freePorts(2)).map((port, at) => `${at === 0 ? 'publish_port' : 'ret_port'}=${port}`);
    server = await startSshd({ PATH: `${halite.bin}:${process.env['PATH']}` });
    old = await Deployment.create();
    writeFileSync(old.path('srv/salt/it\'s "one" $(touch pwned) `x`;.sls'), 'a: {}\n');
    await old.startMaster();
    old.startMinion('m1');
    await old.answering('m1');
    await old.salt('m1', 'test.echo', 'remembered');
  });
  afterAll(async () => {
    await old?.destroy();
    await server?.stop();
    rmSync(work, { recursive: true, force: true });
  });

  const target = (name: string): string => {
    mkdirSync(join(work, name, 'etc'), { recursive: true });
    return join(work, name, 'etc');
  };
  const address = (): string => `ssh://127.0.0.1:${server.port}${old.masterConfigDir}`;
  const clone = (name: string, ...more: string[]) =>
    run(
      'salt-run',
      '-c',
      target(name),
      'master.clone',
      address(),
      `ssh=${server.config}`,
      `place=${old.root}:${join(work, name)}`,
      ...ports,
      ...more,
    );

  it('is cloned with its keys, its files and its history, while it runs', async () => {
    const { stdout, stderr, code } = await clone('one');
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('are the same on both ends');
    expect(stdout).toMatch(/history: [1-9]\d* jobs/);
    const here = join(work, 'one');
    expect(
      readFileSync(join(here, 'etc/pki/master/master.pem')).equals(readFileSync(old.path('etc/pki/master/master.pem'))),
    ).toBe(true);
    expect(readdirSync(join(here, 'srv/salt'))).toEqual(readdirSync(old.path('srv/salt')));
    const compared = await run(
      'salt-run',
      '-c',
      join(here, 'etc'),
      'master.compare',
      address(),
      `ssh=${server.config}`,
    );
    expect(compared.stdout).toMatch(/:\n {2}option publish_port differs\n {2}option ret_port differs\n$/);
  });

  it('is cloned without its history when nobody there can copy it, and says so', async () => {
    const { stdout, code } = await clone('two', 'halite=/no/such/halite');
    expect(code).toBe(0);
    // In use, or just not changed while it was copied: both are right, silence is not.
    expect(stdout).toMatch(/history not copied: .* is in use there|history: \d+ jobs/);
  });

  it('is not reached with an unknown host key, a wrong port, or an address that hides an option', async () => {
    const before = readdirSync(target('three'));
    for (const [wrong, why] of [
      ['ssh://127.0.0.1:1/etc/salt', /cannot be read/],
      ['ssh://-oProxyCommand=touch%20pwned/etc/salt', /is not an address like/],
      ['ssh://x@y;touch pwned/etc', /is not an address like/],
    ] as const) {
      const { stderr, code } = await run(
        'salt-run',
        '-c',
        target('three'),
        'master.clone',
        wrong,
        `ssh=${server.config}`,
      );
      expect(code).not.toBe(0);
      expect(stderr).toMatch(why);
    }
    const unknown = await run('salt-run', '-c', target('three'), 'master.clone', address());
    expect(unknown.code).not.toBe(0);
    expect(readdirSync(target('three'))).toEqual(before);
    expect(existsSync('pwned')).toBe(false);
  });

  it('is refused when the host answers with more, or other things, than it was asked for', async () => {
    const evil = join(work, 'evil-bin');
    mkdirSync(evil);
    const victim = join(work, 'victim');
    const script = (name: string, text: string): void => {
      writeFileSync(join(evil, name), `#!/bin/sh\n${text}\n`);
      chmodSync(join(evil, name), 0o755);
    };
    const hostile = await startSshd({ PATH: `${evil}:${halite.bin}:${process.env['PATH']}` });
    const attack = async (): Promise<string> => {
      const { stderr, stdout, code } = await run(
        'salt-run',
        '-c',
        target('evil'),
        'master.clone',
        `ssh://127.0.0.1:${hostile.port}${old.masterConfigDir}`,
        `ssh=${hostile.config}`,
        `place=${old.root}:${join(work, 'evil')}`,
        ...ports,
      );
      expect(code, stdout).not.toBe(0);
      expect(existsSync(victim)).toBe(false);
      expect(readdirSync(target('evil'))).toEqual([]);
      rmSync(evil, { recursive: true });
      mkdirSync(evil);
      return stderr;
    };
    try {
      script('find', `/usr/bin/find "$@"; printf '4 644 root ${victim}\\0'`);
      expect(await attack()).toContain('which was not asked for');
      script('find', `printf '4 644 root ${old.masterConfigDir}/master.d/../../../victim\\0'`);
      expect(await attack()).toMatch(/a name that is not acceptable|a sum of|has no configuration/);
      script('find', `/usr/bin/find "$@"; head -c 3000000 /dev/zero | tr '\\0' 'a'`);
      expect(await attack()).toContain('longer than 4096 bytes');
      script('sha256sum', `/usr/bin/sha256sum "$@"; printf '%064d  ${victim}\\0' 0`);
      expect(await attack()).toContain('which was not asked for');
      script(
        'tar',
        `cat >/dev/null; cd /; echo hi >/tmp/.$$; /usr/bin/tar -cPf - --transform 's,.*,${victim},' /tmp/.$$; rm /tmp/.$$`,
      );
      expect(await attack()).toContain('which was not asked for');
      script('tar', `/usr/bin/tar "$@" | /usr/bin/head -c 700`);
      expect(await attack()).toContain('not complete');
      // Other content than the list said: never the same twice; and a host name without an end.
      script('uname', 'exec yes');
      script('sha256sum', `/usr/bin/sha256sum "$@" | sed -z 's/^....../abcdef/'`);
      expect(await attack()).toMatch(/change faster than they can be copied|not a mapping|Error/);
    } finally {
      await hostile.stop();
    }
  });

  it('is exported and imported with a passphrase, and changed files are refused', async () => {
    const file = join(work, 'master.halite');
    const phrase = join(work, 'phrase');
    writeFileSync(phrase, 'correct horse battery\n', { mode: 0o644 });
    const exported = () =>
      run('salt-run', '-c', old.masterConfigDir, 'master.export', file, `passphrase_file=${phrase}`);
    expect((await exported()).stderr).toContain('Others can read the passphrase');
    chmodSync(phrase, 0o600);
    const done = await exported();
    expect(done, done.stderr).toMatchObject({ code: 0 });
    const finger = /finger=(\S+)/.exec(done.stdout)?.[1] ?? '';
    expect(finger).toMatch(/^[0-9a-f:]{95}$/);
    const pem = readFileSync(old.path('etc/pki/master/master.pem'));
    expect(readFileSync(file).includes(pem.subarray(100, 160))).toBe(false);
    const bring = (name: string, from: string, ...more: string[]) =>
      run(
        'halite',
        '-c',
        target(name),
        'import',
        from,
        `passphrase_file=${phrase}`,
        `place=${old.root}:${join(work, name)}`,
        ...ports,
        ...more,
      );
    const wrong = await bring('four', file, `finger=${finger.replace(/^../, finger.startsWith('00') ? '01' : '00')}`);
    expect(wrong.stderr).toContain('Nothing was changed');
    const changed = Buffer.from(readFileSync(file));
    changed[changed.length - 300] = (changed[changed.length - 300] as number) ^ 1;
    writeFileSync(join(work, 'changed'), changed);
    expect((await bring('four', join(work, 'changed'))).stderr).toContain('Nothing was changed');
    expect(readdirSync(target('four'))).toEqual([]);
    const brought = await bring('four', file, `finger=${finger}`);
    expect(brought, brought.stderr).toMatchObject({ code: 0 });
    expect(readFileSync(join(work, 'four/etc/pki/master/master.pem')).equals(pem)).toBe(true);
    expect(brought.stdout).toMatch(/history: [1-9]\d* jobs/);
    // By a file descriptor, for programs that keep the secret in memory.
    const script = `exec "$0" -c "$1" master.import "$2" passphrase_fd=3 --dry-run 3<"$3"`;
    const byFd = execFileSync('sh', ['-c', script, join(halite.bin, 'salt-run'), target('five'), file, phrase], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    expect(byFd).toContain('Nothing was changed: this is a dry run');
  });
});
