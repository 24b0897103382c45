// A master is cloned from a folder and from an archive, compared and restored; what a hostile source sends stays outside.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite, runProgram, startProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/ports.ts';

const run = (command: string, ...args: string[]) => runProgram(join(halite.bin, command), args, { timeoutMs: 120_000 });

/** Everything that a clone could have changed, as text. */
function picture(folder: string): string {
  if (!existsSync(folder)) return '';
  return execFileSync(
    'sh',
    [
      '-c',
      'cd "$1" && find . -path ./cache/master/backup -prune -o -path ./cache/master/moving -prune -o -type f -exec sha256sum {} + | sort -k2',
      'sh',
      folder,
    ],
    { encoding: 'utf8' },
  );
}

describe('a master on a folder', () => {
  let old: Deployment;
  let here: string;
  let ports: number[];
  const etc = (): string => join(here, 'etc');
  const clone = (...more: string[]) =>
    run(
      'salt-run',
      '-c',
      etc(),
      'master.clone',
      old.masterConfigDir,
      `place=${old.root}:${here}`,
      `publish_port=${ports[0]}`,
      `ret_port=${ports[1]}`,
      ...more,
    );

  beforeAll(async () => {
    here = mkdtempSync(join(tmpdir(), 'halite-clone-'));
    mkdirSync(etc());
    ports = await freePorts(2);
    old = await Deployment.create({ masterConfig: 'nodegroups: {web: "L@m1"}\nmaster_sign_pubkey: False' });
    writeFileSync(old.path('srv/salt/top.sls'), 'base: {"*": [motd]}\n');
    writeFileSync(old.path('srv/salt/motd.sls'), '/dev/null:\n  file.exists: []\n');
    mkdirSync(old.path('srv/pillar/a/b'), { recursive: true });
    writeFileSync(old.path('srv/pillar/a/b/ünicode näme.sls'), 'x: 1\n');
    symlinkSync(old.path('srv/salt/motd.sls'), old.path('srv/salt/linked.sls'));
    chmodSync(old.path('etc/master'), 0o600);
    await old.startMaster();
    old.startMinion('m1');
    await old.answering('m1');
    expect((await old.salt('m1', 'test.echo', 'remembered')).code).toBe(0);
  });
  afterAll(async () => {
    await old?.destroy();
    rmSync(here, { recursive: true, force: true });
  });

  it('shows a plan and changes nothing with --dry-run', async () => {
    const before = picture(here);
    const { stdout, code } = await clone('--dry-run');
    expect(code).toBe(0);
    expect(stdout).toContain('1 accepted, 0 pending, 0 rejected, 0 denied');
    expect(stdout).toMatch(/files of base +3 files/);
    expect(stdout).toMatch(/pillar of base +1 file,/);
    expect(stdout).toContain(`ret_port: ${old.ports.requests} becomes ${ports[1]}, as you said`);
    expect(stdout).toContain('Nothing was changed');
    expect(picture(here)).toBe(before);
  });

  it('becomes the same master, also while the old one runs, and a minion that is pointed to it answers', async () => {
    const cloned = await clone();
    expect(cloned, cloned.stderr).toMatchObject({ code: 0 });
    expect(cloned.stdout).toContain('are the same on both ends');
    const same = (path: string): void =>
      expect(readFileSync(join(here, path)).equals(readFileSync(old.path(path)))).toBe(true);
    for (const path of [
      'etc/master',
      'etc/pki/master/master.pem',
      'etc/pki/master/minions/m1',
      'srv/pillar/a/b/ünicode näme.sls',
      'srv/salt/linked.sls',
    ])
      same(path);
    expect(statSync(join(here, 'etc/pki/master/master.pem')).mode & 0o777).toBe(0o400);
    expect(statSync(join(here, 'etc/pki/master')).mode & 0o077).toBe(0);
    // Options with paths may have secrets beside them: they stay as private as they were.
    expect(statSync(join(here, 'etc/master.d/zz-moved.conf')).mode & 0o777).toBe(0o600);
    // Again: nothing to do. Only the history may have grown meanwhile.
    const again = await clone('history=False');
    expect(again.stdout).toContain('Everything is in place already');
    const compared = await run('salt-run', '-c', etc(), 'master.compare', old.masterConfigDir);
    expect(compared.stdout).toMatch(/option publish_port differs\n {2}option ret_port differs\n$/);
    expect(compared.code).toBe(1);
    const log = join(here, 'out');
    const daemon = startProgram(
      '/bin/sh',
      ['-c', `exec "$0" -c "$1" -l info >"${log}" 2>&1`, join(halite.bin, 'salt-master'), etc()],
      { timeoutMs: 120_000 },
    );
    try {
      await eventually(
        'the clone to be ready',
        () => existsSync(log) && readFileSync(log, 'utf8').includes('master is ready'),
        { describe: () => readFileSync(log, 'utf8') },
      );
      // The same ports belong to somebody now.
      const refused = await clone();
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toContain(`(process id ${daemon.pid})`);
      const jobs = await run('salt-run', '-c', etc(), 'jobs.list_jobs', '--out=json');
      expect(jobs.stdout).toContain('remembered');
      await old.minion('m1').stop();
      writeFileSync(old.path('m1/etc/minion.d/moved.conf'), `master_port: ${ports[1]}\n`);
      old.startMinion('m1');
      await eventually(
        'the minion to answer its new master',
        async () => (await run('salt', '-c', etc(), 'm1', 'test.ping', '-t', '2')).stdout.includes('True'),
        { timeoutMs: 120_000 },
      );
    } finally {
      process.kill(daemon.pid, 'SIGTERM');
      await daemon.done;
    }
  });

  it('names the differences of keys, options and files', async () => {
    writeFileSync(old.path('srv/salt/motd.sls'), 'changed: {}\n');
    mkdirSync(join(here, 'etc/pki/master/minions_rejected'), { recursive: true });
    writeFileSync(join(here, 'etc/pki/master/minions_rejected/m9'), 'no key');
    const { stdout, code } = await run('halite', '-c', etc(), 'compare', old.masterConfigDir);
    expect(code).toBe(1);
    expect(stdout).toMatch(/minion m9: here rejected [0-9a-f]{12}, there no key/);
    expect(stdout).toContain('files of base: 2 files differ: linked.sls, motd.sls');
  });

  it('takes what changed at the next run, and everything comes back with master.restore', async () => {
    const before = picture(join(here, 'srv')) + picture(join(here, 'etc'));
    const { stdout, stderr } = await clone('history=False');
    expect(stdout, stderr).toContain('0 files added, 3 replaced, 1 removed');
    expect(readFileSync(join(here, 'srv/salt/motd.sls'), 'utf8')).toBe('changed: {}\n');
    expect(existsSync(join(here, 'etc/pki/master/minions_rejected/m9'))).toBe(false);
    const name = /master\.restore (\S+)/.exec(stdout)?.[1] ?? '';
    const restored = await run('salt-run', '-c', etc(), 'master.restore', name);
    expect(restored, restored.stderr).toMatchObject({ code: 0 });
    expect(picture(join(here, 'srv')) + picture(join(here, 'etc'))).toBe(before);
    const list = await run('salt-run', '-c', etc(), 'master.restore');
    expect(list.stdout).toContain(`restore of ${name}, 4 files`);
    const unknown = await run('salt-run', '-c', etc(), 'master.restore', '../../etc');
    expect(unknown.stderr).toContain('There is no backup ../../etc');
    if (process.geteuid?.() !== 0) return;
    // Whoever owns the cachedir could put a list there that names any file of the system.
    const planted = join(here, 'cache/master/backup', name);
    chownSync(planted, 65_534, 65_534);
    const refused = await run('salt-run', '-c', etc(), 'master.restore', name);
    chownSync(planted, 0, 0);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('belongs to the user with the id 65534');
    expect(picture(join(here, 'srv')) + picture(join(here, 'etc'))).toBe(before);
  });

  it('continues after kill -9 with the same backup', async () => {
    for (let number = 0; number < 400; number++)
      writeFileSync(old.path(`srv/salt/many-${number}.sls`), `# ${number}\n`);
    writeFileSync(join(here, 'srv/salt/many-399.sls'), 'mine\n');
    const backups = join(here, 'cache/master/backup');
    const known = new Set(readdirSync(backups));
    const placing = once(watch(join(here, 'srv/salt')), 'change');
    const first = startProgram(join(halite.bin, 'salt-run'), [
      '-c',
      etc(),
      'master.clone',
      old.masterConfigDir,
      `place=${old.root}:${here}`,
      `publish_port=${ports[0]}`,
      `ret_port=${ports[1]}`,
      'history=False',
    ]);
    // Killed as soon as the first of them is in place.
    await placing;
    process.kill(first.pid, 'SIGKILL');
    await first.done;
    const { stdout, stderr } = await clone('history=False');
    expect(stdout, stderr).toMatch(/files? added|in place already/);
    const fresh = readdirSync(backups).filter((name) => !known.has(name));
    expect(fresh).toHaveLength(1);
    const list = JSON.parse(readFileSync(join(backups, fresh[0] ?? '', 'list.json'), 'utf8')) as {
      state: string;
      files: { path: string; before: { copy: string } | null }[];
    };
    expect(list.state).toBe('done');
    const mine = list.files.find(({ path }) => path.endsWith('many-399.sls'));
    expect(readFileSync(join(backups, fresh[0] ?? '', mine?.before?.copy ?? ''), 'utf8')).toBe('mine\n');
    expect(readFileSync(join(here, 'srv/salt/many-399.sls'), 'utf8')).toBe('# 399\n');
  });

  it('refuses folders that the operator did not allow, before it writes anything', async () => {
    const before = picture(here);
    const other = mkdtempSync(join(tmpdir(), 'halite-clone-evil-'));
    try {
      mkdirSync(join(other, 'etc'));
      writeFileSync(
        join(other, 'etc/master'),
        `pki_dir: ${join(other, 'pki')}\nfile_roots: {base: [/etc/cron.d, ${old.path('srv/salt')}]}\n`,
      );
      execFileSync('cp', ['-r', old.path('etc/pki/master'), join(other, 'pki')]);
      const { stderr, code } = await run('salt-run', '-c', etc(), 'master.clone', join(other, 'etc'));
      expect(code).not.toBe(0);
      expect(stderr).toContain('files of base would be written to /etc/cron.d: say allow=/etc/cron.d');
      expect(picture(here)).toBe(before);
      // The folder of the history and of backups counts too, also when no file of a group goes there.
      const cache = join(other, 'cache');
      writeFileSync(join(other, 'etc/master'), `pki_dir: ${join(other, 'pki')}\ncachedir: ${cache}\n`);
      const cached = await run('salt-run', '-c', etc(), 'master.clone', join(other, 'etc'), `allow=${other}/pki`);
      expect(cached.code).not.toBe(0);
      expect(cached.stderr).toContain(`the cachedir would be ${cache}: say allow=${cache}`);
      expect(existsSync(cache)).toBe(false);
    } finally {
      rmSync(other, { recursive: true, force: true });
    }
  });

  it('clones from an archive; entries that lead outside take nothing with them', async () => {
    const work = mkdtempSync(join(tmpdir(), 'halite-archive-'));
    try {
      const archive = join(work, 'old.tar.gz');
      linkSync(old.path('srv/salt/top.sls'), old.path('srv/salt/again.sls'));
      execFileSync('tar', ['czf', archive, '-C', '/', ...['etc', 'srv'].map((name) => old.path(name).slice(1))]);
      const target = join(work, 'new');
      mkdirSync(target);
      const { stdout, stderr, code } = await run(
        'salt-run',
        '-c',
        target,
        'master.clone',
        archive,
        `config=${old.masterConfigDir}`,
        `place=${old.root}:${target}`,
        `publish_port=${ports[0]}`,
        `ret_port=${ports[1]}`,
      );
      expect(code, stderr).toBe(0);
      expect(stdout).toContain('are the same on both ends');
      expect(existsSync(join(target, 'pki')) || existsSync(join(target, 'etc/pki/master/master.pem'))).toBe(true);
      // The second name of a file is only a reference in the archive.
      for (const name of ['top.sls', 'again.sls'])
        expect(readFileSync(join(target, 'srv/salt', name), 'utf8')).toContain('motd');
      for (const [name, script] of [
        [
          'dots',
          `t=tarfile.TarInfo('../../../${join(work, 'pwned').slice(1)}'); t.size=2; a.addfile(t, io.BytesIO(b'hi'))`,
        ],
        [
          'through a link',
          `t=tarfile.TarInfo('d'); t.type=tarfile.SYMTYPE; t.linkname='${work}'; a.addfile(t); t=tarfile.TarInfo('d/pwned'); t.size=2; a.addfile(t, io.BytesIO(b'hi'))`,
        ],
        [
          'a link through a link',
          `t=tarfile.TarInfo('d'); t.type=tarfile.SYMTYPE; t.linkname='${work}'; a.addfile(t); t=tarfile.TarInfo('d/deep/pwned'); t.type=tarfile.SYMTYPE; t.linkname='/'; a.addfile(t)`,
        ],
        ['a hard link', `t=tarfile.TarInfo('h'); t.type=tarfile.LNKTYPE; t.linkname='/etc/shadow'; a.addfile(t)`],
        ['a device', `t=tarfile.TarInfo('n'); t.type=tarfile.CHRTYPE; a.addfile(t)`],
        [
          'a link to a secret',
          `t=tarfile.TarInfo('etc/salt/master'); t.type=tarfile.SYMTYPE; t.linkname='/etc/shadow'; a.addfile(t)`,
        ],
      ] as const) {
        const file = join(work, 'evil.tar');
        execFileSync('python3', ['-c', `import tarfile, io\na=tarfile.open('${file}','w')\n${script}\na.close()`]);
        const evil = join(work, 'evil-target');
        mkdirSync(evil, { recursive: true });
        const result = await run('salt-run', '-c', evil, 'master.clone', file);
        expect(result.code, name).not.toBe(0);
        expect(`${result.stdout}${result.stderr}`, name).not.toContain('root:');
        expect(existsSync(join(work, 'pwned')) || existsSync(join(work, 'deep')), name).toBe(false);
        expect(readdirSync(evil), name).toEqual([]);
      }
      writeFileSync(join(work, 'cut.tar.gz'), readFileSync(archive).subarray(0, 900));
      const cut = await run('salt-run', '-c', target, 'master.clone', join(work, 'cut.tar.gz'));
      expect(cut.code).not.toBe(0);
      expect(cut.stderr).not.toContain('defect in Halite');
    } finally {
      chmodSync(work, 0o700);
      rmSync(work, { recursive: true, force: true });
    }
  });
});
