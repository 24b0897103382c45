// The life of packages on a machine without systemd: installed by bootstrap.sh, a minion put there over a real sshd, a first
// job, an upgrade during a job, removal and purge. A disposable system with the programs of this checkout, packed as always.
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DisposableSystem, disposableObstacle, type RanInside } from '../support/disposable.ts';
import { eventually } from '../support/eventually.ts';
import { preparedProgram } from '../support/servers/server.ts';

const root = resolve(import.meta.dirname, '../..');
const work = mkdtempSync(join(tmpdir(), 'halite-life-'));
const obstacle = disposableObstacle();
if (obstacle) console.warn(`packages are not installed here: ${obstacle}`);
const sshd = preparedProgram('sshd', 'openssh-server');
const [older, newer] = ['1.2.3', '1.2.4'];

interface Plan {
  readonly app: string;
  readonly arch: string;
  readonly out: string;
  readonly seconds: number;
  readonly level: number;
  readonly version: string;
}

/** Node and our programs are those of this checkout: links, because the real ones take a minute to pack. */
async function makePackages(version: string): Promise<void> {
  const app = join(work, 'app');
  rmSync(app, { recursive: true, force: true });
  for (const folder of ['bin', 'app/bin']) mkdirSync(join(app, folder), { recursive: true });
  symlinkSync(process.execPath, join(app, 'bin/node'));
  for (const name of readdirSync(join(root, 'bin'))) symlinkSync(join(root, 'bin', name), join(app, 'app/bin', name));
  const out = join(work, 'packages', version);
  mkdirSync(out, { recursive: true });
  const { debianPackages } = (await import(join(root, 'scripts/package/debian.mjs'))) as {
    debianPackages(plan: Plan): string[];
  };
  const arch = process.arch === 'arm64' ? 'arm64' : 'x64';
  debianPackages({ app, arch, out, seconds: 1_700_000_000, level: 0, version });
  const sum = (name: string): string =>
    createHash('sha256')
      .update(readFileSync(join(out, name)))
      .digest('hex');
  writeFileSync(
    join(out, 'SHA256SUMS'),
    readdirSync(out)
      .map((name) => `${sum(name)}  ${name}\n`)
      .join(''),
  );
}

describe.skipIf(obstacle !== undefined || !sshd)('packages', () => {
  let system: DisposableSystem;
  const sh = (script: string): Promise<RanInside> => system.run(['sh', '-ec', script]);
  /** Throws with everything that was said. */
  const ok = async (script: string): Promise<string> => {
    const { status, stdout, stderr } = await sh(script);
    if (status !== 0) throw new Error(`${script}: ended with ${status}\n${stdout}\n${stderr}`);
    return stdout;
  };
  const log = (name: string): string => readFileSync(system.path(`/var/log/salt/${name}`), 'utf8');
  const bootstrap = (version: string, words: string): string =>
    `sh ${root}/packaging/bootstrap.sh --from ${work}/packages/${version} ${words}`;
  const putMinion = (more = ''): string =>
    `salt-run bootstrap.minion 127.0.0.1 id=web1 packages=${work}/packages/${older} ssh=/root/ssh priv=/root/key ${more}`;
  const pid = (name: string): string => readFileSync(system.path(`/run/${name}.pid`), 'utf8');

  beforeAll(async () => {
    for (const version of [older, newer]) await makePackages(version);
    system = await DisposableSystem.create([work]);
    system.write({
      // That of the former Salt: it stays. The checkout may lie where only root can read.
      '/etc/salt/master': 'user: root\ngather_job_timeout: 2\n',
      '/etc/salt/minion': 'acceptance_wait_time: 1\n',
      '/root/sshd':
        'ListenAddress 127.0.0.1\nHostKey /root/host\nAuthorizedKeysFile /root/key.pub\nStrictModes no\nUsePAM no\nPermitRootLogin prohibit-password\n',
      '/root/ssh': 'Host *\n  UserKnownHostsFile /root/known\n',
    });
    await ok(`rm -f /usr/bin/systemctl /usr/sbin/policy-rc.d /var/lib/man-db/auto-update
      for name in host key; do ssh-keygen -q -t ed25519 -N '' -f /root/$name; done
      echo "127.0.0.1 $(cat /root/host.pub)" >/root/known
      mkdir -p /run/sshd && /usr/sbin/sshd -f /root/sshd`);
  });
  afterAll(async () => {
    await system?.destroy();
    rmSync(work, { recursive: true, force: true });
  });

  it('install a master that starts at once, with the configuration that was there', async () => {
    const said = await ok(bootstrap(older, 'master'));
    expect(said).toMatch(
      /the fingerprint of this master, for --finger of its minions: [0-9a-f]{2}(:[0-9a-f]{2}){31}$/m,
    );
    expect(await ok('cat /etc/salt/master; /etc/init.d/salt-master status')).toMatch(
      /^user: root\n.*\nsalt-master runs \(process \d+\)\n$/,
    );
    expect(await ok('/etc/init.d/salt-master start')).toContain('runs already');
  });

  it('give a minion no other master than the one that was pinned', async () => {
    const wrong = Array.from({ length: 32 }, () => 'ab').join(':');
    await ok(bootstrap(older, `--master 127.0.0.1 --finger ${wrong} --id liar minion`));
    await eventually('the minion to refuse', () => /fingerprint/i.test(log('minion')), {
      describe: () => log('minion'),
    });
    expect(await ok('salt-key -L --out=txt')).not.toContain("'minions': ['liar']");
  });

  it('put a minion there over ssh, whose key is accepted when it is the one that was seen', async () => {
    const shown = await ok(putMinion('--dry-run'));
    expect(shown).toMatch(/would run bootstrap.sh --master 127.0.0.1 --finger [0-9a-f:]{95} --id web1 minion/);
    expect(await ok('cat /etc/salt/minion.d/bootstrap.conf')).toContain("id: 'liar'");
    const put = await ok(putMinion());
    expect(put).toContain('web1: its key is accepted, the fingerprint is that of its machine');
    await eventually(
      'the first answer',
      async () => (await sh('salt web1 test.ping --out=txt')).stdout === 'web1: True\n',
      {
        timeoutMs: 120_000,
        describe: () => log('minion'),
      },
    );
    expect(readdirSync(system.path('/var/tmp')).filter((name) => name.startsWith('halite-'))).toEqual([]);
  });

  it('keep nothing of the way to the background for jobs, which may restart daemons', async () => {
    expect(await ok('salt web1 cmd.run env --out=txt')).not.toContain('HALITE_BACKGROUND');
  });

  it('upgrade during a job, which goes on', async () => {
    const before = [pid('salt-master'), pid('salt-minion')];
    await ok(
      `salt --async web1 cmd.run 'touch /tmp/begun; while ! test -e /tmp/go; do sleep 0.1; done; echo through' python_shell=True`,
    );
    await eventually('the job to begin', () => readdirSync(system.path('/tmp')).includes('begun'));
    const said = await ok(bootstrap(newer, 'master minion'));
    expect(said).toContain('ready');
    expect(await ok('dpkg -s halite-master halite-minion halite-runtime | grep ^Version:')).toBe(
      `Version: ${newer}\n`.repeat(3),
    );
    expect([pid('salt-master'), pid('salt-minion')].filter((each) => before.includes(each))).toEqual([]);
    await ok('touch /tmp/go');
    await eventually(
      'the result',
      async () => (await sh('salt-run jobs.last_run --out=json')).stdout.includes('through'),
      {
        timeoutMs: 120_000,
        describe: () => log('minion'),
      },
    );
  });

  it('rotate logs, which the daemons open again, and say at a reload what needs a restart', async () => {
    await ok("echo 'worker_threads: 7' >/etc/salt/master.d/more.conf; mv /var/log/salt/master /var/log/salt/master.1");
    // What logrotate does then: the script for this file that the package gives it.
    await ok(
      "sed -n '/postrotate/,/endscript/p' /etc/logrotate.d/halite | sed '1d;$d' >/root/rotated; sh -e /root/rotated",
    );
    const fresh = async (): Promise<string> => (await sh('cat /var/log/salt/master')).stdout;
    await eventually('the new log', async () => /need a restart.*worker_threads/.test(await fresh()));
  });

  it('accept no other key for the id of the new minion than the one that was seen', async () => {
    const pki = '/etc/salt/pki/master';
    await ok(`mkdir -p ${pki}/minions_pre; cp ${pki}/master.pub ${pki}/minions_pre/web2`);
    const { status, stderr } = await sh(putMinion().replace('id=web1', 'id=web2'));
    expect([status === 0, stderr]).toEqual([false, expect.stringContaining('Another minion uses the id web2')]);
    expect(readdirSync(system.path(`${pki}/minions`))).toEqual(['web1']);
  });

  it('leave configuration and keys when they are removed and purged, unless they are told to', async () => {
    await ok('apt-get remove -y halite-master halite-minion');
    expect(await ok('ls /etc/init.d')).not.toContain('salt-');
    expect(await ok('for p in /proc/[0-9]*; do tr "\\0" " " <$p/cmdline || true; echo; done 2>/dev/null')).not.toMatch(
      /bin\/salt-(master|minion)/,
    );
    await ok('mkdir -p /var/cache/salt/master/backup/master; touch /var/log/salt/key /var/log/salt/master.2.gz');
    await ok('apt-get purge -y halite-master');
    expect(await ok('ls /etc/salt/pki/master/master.pem /etc/salt/master')).toContain('master.pem');
    // Backups hold the keys, and stay with them.
    expect(await ok('ls -A /var/cache/salt/master')).toBe('backup\n');
    expect(await ok('ls /var/log/salt')).not.toMatch(/master|key/);
    expect(await ok('ls /etc/salt/pki/minion/minion.pem')).toContain('minion.pem');
    await ok('HALITE_PURGE_KEYS=yes apt-get purge -y halite-minion');
    expect(await ok('ls /etc/salt /etc/salt/pki')).not.toContain('minion');
  });

  it('start nothing when they are told so, and find what a package of Salt hid: its service, its keys', async () => {
    // A system with systemd, as far as the scripts of packages look at it; scripts/try-packages.mjs has a real one.
    system.write({ '/usr/bin/systemctl': '#!/bin/sh\necho "$*" >>/root/asked\n' });
    await ok('chmod 755 /usr/bin/systemctl; mkdir -p /run/systemd/system');
    await ok('DPKG_MAINTSCRIPT_PACKAGE=salt-minion deb-systemd-helper mask salt-minion.service');
    // Where the package that a distribution made has its keys.
    system.write({ '/var/lib/salt/pki/minion/minion.pem': 'a key' });
    expect(await ok('readlink /etc/systemd/system/salt-minion.service')).toBe('/dev/null\n');
    await ok(bootstrap(older, '--no-start minion'));
    expect((await sh('test -L /etc/systemd/system/salt-minion.service')).status).toBe(1);
    expect(await ok('cat /etc/salt/minion.d/distribution.conf')).toBe(
      'pki_dir: /var/lib/salt/pki/minion\nuser: root\n',
    );
    expect(await ok('grep -E "^enable|start" /root/asked')).toBe('enable salt-minion.service\n');
    await ok(bootstrap(newer, '--no-start minion'));
    expect(await ok('cat /root/asked')).not.toMatch(/start/);
    await ok(bootstrap(older, 'minion'));
    expect(await ok('cat /root/asked')).toContain('try-restart salt-minion.service\n');
    // Salt's package takes its place back: nothing of it goes with what is left of ours.
    await ok('apt-get remove -y halite-minion');
    expect(await ok('cat /root/asked')).not.toContain('disable');
    await ok('mkdir -p /lib/systemd/system /var/cache/salt/minion; touch /lib/systemd/system/salt-minion.service');
    await ok('HALITE_PURGE_KEYS=yes apt-get purge -y halite-minion');
    expect(await ok('ls -d /var/cache/salt/minion /etc/salt/minion')).toBe(
      '/etc/salt/minion\n/var/cache/salt/minion\n',
    );
  });
});
