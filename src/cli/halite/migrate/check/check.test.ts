// What the check says about an installation, and what a hostile one cannot make it do.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { tarEnd, tarHeader, tarPadding } from '../../../moving/bundle/tar.ts';
import { type CheckReport, checkInstallation } from './check.ts';
import { checkText } from './report.ts';

const base = mkdtempSync(join(tmpdir(), 'halite-check-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));
let at = 0;
let old = '';
const put = (path: string, text: string): void => {
  mkdirSync(dirname(join(old, path)), { recursive: true });
  writeFileSync(join(old, path), text);
};
const check = (name = old): Promise<CheckReport> =>
  checkInstallation({
    name,
    configDir: '/nowhere',
    inside: '/etc/salt',
    root: '/',
    scratch: join(base, `scratch-${at++}`),
  });
/** `verdict kind name places` of those that match. */
const said = ({ entries }: CheckReport, kind: RegExp): string[] =>
  entries
    .filter((entry) => kind.test(entry.kind))
    .map(({ verdict, name, places }) => `${verdict} ${name} ${places.join(' ')}`);

beforeEach(() => {
  old = join(base, `disk-${at++}`);
  put('etc/salt/master', 'file_roots: {base: [/srv/salt]}\npillar_roots: {base: [/srv/pillar]}\n');
  mkdirSync(join(old, 'srv/salt'), { recursive: true });
  mkdirSync(join(old, 'srv/pillar'), { recursive: true });
});

describe('an installation', () => {
  it('is told option by option, with the line of the last file that sets it', async () => {
    put('etc/salt/master', 'master_prot: 1\ncluster_id: a\nworker_threads: 7\npublisher_acl: {a: [test.ping]}\n');
    put('etc/salt/master.d/a.conf', '# first\nworker_threads: 8\nengines:\n  - slack: {}\n  - webhook: {}\n');
    expect(said(await check(), /^engine$/)).toEqual([
      'missing slack /etc/salt/master.d/a.conf:3',
      'works webhook /etc/salt/master.d/a.conf:3',
    ]);
    expect(said(await check(), /^option$/)).toEqual([
      'missing master: cluster_id /etc/salt/master:2',
      'differs master: publisher_acl /etc/salt/master:4',
      'unknown master: master_prot /etc/salt/master:1',
      'works master: engines /etc/salt/master.d/a.conf:3',
      'works master: worker_threads /etc/salt/master.d/a.conf:2',
    ]);
  });

  it('names the extensions of its options', async () => {
    put(
      'etc/salt/master',
      'ext_pillar: [{git: []}, {reclass: {}}]\nevent_return: [mysql, nix]\nmaster_tops: {ext_nodes: x}\n',
    );
    put('etc/salt/minion', 'beacons: {mine: [{beacon_module: load}], telegram_bot_msg: []}\nreturn: mysql\n');
    expect(said(await check(), /pillar|returner|beacon|top/)).toEqual([
      'missing telegram_bot_msg /etc/salt/minion:1',
      'missing reclass /etc/salt/master:1',
      'missing nix /etc/salt/master:2',
      'works load /etc/salt/minion:1',
      'works git /etc/salt/master:1',
      'works ext_nodes /etc/salt/master:3',
      'works mysql /etc/salt/master:2 /etc/salt/minion:2',
    ]);
  });

  it('is told by what its states call, with its own extensions', async () => {
    put('srv/salt/_modules/own.py', 'def f():\n    return __salt__["cmd.run"]("id")\n');
    put(
      'srv/salt/a.sls',
      "a:\n  pkg.installed: []\n  macpackage.installed: []\n{{ salt['own.f']() }}{{ salt['nova.boot']() }}\n",
    );
    const report = await check();
    expect(said(report, /^(state|function)$/)).toEqual([
      'missing nova.boot /srv/salt/a.sls:4',
      'missing macpackage.installed /srv/salt/a.sls:3',
      'works cmd.run /srv/salt/_modules/own.py:2',
      'works own.f /srv/salt/a.sls:4',
      'works pkg.installed /srv/salt/a.sls:2',
    ]);
    expect(checkText(report, false)).toContain('2 missing, 0 differs, 0 unknown');
  });

  it('is told file by file what its Python lacks, without running it', async () => {
    const marker = join(base, 'ran');
    put('srv/salt/_modules/ran.py', `open(${JSON.stringify(marker)}, "w").write("x")\n`);
    put('srv/salt/_states/old.py', 'def f():\n  pass\nprint "x"\n');
    put(
      'srv/salt/_grains/names.py',
      'import salt.utils.nix\ntry:\n  import boto\nexcept ImportError:\n  boto = None\nx = unicode\n',
    );
    put('srv/salt/_clouds/e.py', 'def create():\n  pass\n');
    put('srv/salt/_engines/runs.py', 'def start():\n  pass\n');
    expect(said(await check(), /^extension/)).toEqual([
      'missing e.py /srv/salt/_clouds/e.py',
      'missing names.py /srv/salt/_grains/names.py:1',
      'missing names.py /srv/salt/_grains/names.py:6',
      'missing old.py /srv/salt/_states/old.py:3',
      'works runs.py /srv/salt/_engines/runs.py',
      'works ran.py /srv/salt/_modules/ran.py',
    ]);
    expect(existsSync(marker)).toBe(false);
  });

  it('is told which formula lacks what, and which files cannot be read', async () => {
    put('srv/salt/web/map.jinja', '');
    put('srv/salt/web/init.sls', 'a:\n  chocolatey.installed: []\n');
    put('srv/salt/db/FORMULA', '');
    put('srv/salt/db/init.sls', 'a:\n  pkg.installed: []\n');
    put('srv/salt/bad.sls', 'a: 1\n b: 2\n');
    put('srv/salt/worse.sls', 'a: 1\n{% if %}\n');
    expect(said(await check(), /^(formula|file)$/)).toEqual([
      'missing bad.sls /srv/salt/bad.sls:2',
      'missing worse.sls /srv/salt/worse.sls:2',
      'missing /srv/salt/web /srv/salt/web',
      'works /srv/salt/db /srv/salt/db',
    ]);
  });

  it('is the same in an archive', async () => {
    put('srv/salt/a.sls', 'a:\n  pkg.installed: []\n');
    const file = join(base, 'old.tgz');
    execFileSync('tar', ['czf', file, '-C', old, 'etc', 'srv']);
    const [{ entries: packed }, { entries: plain }] = [await check(file), await check()];
    expect(packed).toEqual(plain);
  });

  it('has a configuration that cannot be read: its line is named, the rest is checked', async () => {
    put('etc/salt/master', 'a: 1\nb: [\n');
    put('etc/salt/minion', 'id: x\n');
    const report = await check();
    expect(said(report, /./)).toEqual(['missing master /etc/salt/master:3', 'works minion: id /etc/salt/minion:1']);
    expect(report.roles).toEqual(['master', 'minion']);
  });
});

describe('a hostile one', () => {
  it('does not lead outside by links', async () => {
    writeFileSync(join(base, 'secret.sls'), 'a:\n  pkg.installed: []\n');
    symlinkSync(join(base, 'secret.sls'), join(old, 'srv/salt/link.sls'));
    symlinkSync('/etc', join(old, 'srv/salt/etc'));
    symlinkSync('/srv/salt', join(old, 'srv/salt/self'));
    const report = await check();
    expect(said(report, /state|file/)).toEqual([]);
    expect(report.notes.join()).toContain('deeper than 32 folders');
  });

  it('does not fill memory: large files, pipes and devices are left out', async () => {
    put('srv/salt/large.sls', 'x');
    truncateSync(join(old, 'srv/salt/large.sls'), 8 * 1024 ** 3);
    execFileSync('mkfifo', [join(old, 'srv/salt/pipe.sls')]);
    expect((await check()).notes).toEqual(['/srv/salt/large.sls was not read: it is larger than 1 MiB']);
  });

  it('does not fill the disk from an archive', async () => {
    const bomb = join(base, 'bomb.tar');
    const entry = tarHeader({ name: 'etc/salt/master', size: 3 * 1024 ** 3, mode: 0o600, owner: 'root' });
    writeFileSync(bomb, Buffer.concat([entry, tarPadding(1), tarEnd]));
    await expect(check(bomb)).rejects.toThrow('more than 2147483648 bytes');
    const outside = join(base, 'outside.tar');
    writeFileSync(
      outside,
      Buffer.concat([tarHeader({ name: '../../x', size: 0, mode: 0o600, owner: 'root' }), tarEnd]),
    );
    await expect(check(outside)).rejects.toThrow('a name that is not acceptable');
    writeFileSync(join(base, 'no.tgz'), Buffer.from('1f8b0800000000000003ffff', 'hex'));
    await expect(check(join(base, 'no.tgz'))).rejects.toThrow('damaged or not complete');
  });

  it('does not hold it up: nested YAML, Python that no parser survives', async () => {
    put('srv/salt/deep.sls', `${'['.repeat(100_000)}\n`);
    put(
      'srv/salt/laughs.sls',
      `a: &a [x,x,x,x,x,x,x,x,x,x]\n${[...'bcdefghi'].map((name, n) => `${name}: &${name} [${`*${'abcdefghi'[n]},`.repeat(10)}]`).join('\n')}\n`,
    );
    put('srv/salt/_modules/deep.py', `x = ${'('.repeat(90_000)}${')'.repeat(90_000)}\n`);
    put('srv/salt/_modules/fine.py', 'x = 1\n');
    const found = said(await check(), /./);
    expect(found).toContain('works fine.py /srv/salt/_modules/fine.py');
    expect(found.filter((line) => /^missing (deep.sls|laughs.sls|deep.py) /.test(line))).toHaveLength(3);
  });

  it('does not write to the terminal', async () => {
    put('srv/salt/a\u001b[2J.sls', 'a: 1\n b: 2\n');
    put('etc/salt/minion', 'return: "\\e[31mred"\n');
    const text = checkText(await check(), true);
    expect(text).toContain('\\u001b[31mred');
    expect(text.includes('\u001b')).toBe(false);
  });
});
