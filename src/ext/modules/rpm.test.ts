// Packages of RPM, with scripts instead of the tools; their output has the documented form.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Module, newDict, type PlainDict, type Value } from 'halite/sdk';
import { testContext } from 'halite/testing';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { compareRpm, fitsRpm } from './shared/rpm.ts';
import yumpkg from './yumpkg.ts';
import zypperpkg from './zypperpkg.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-rpm-'));
const path = process.env['PATH'];
const rpms = (...list: string[]): string => `${list.join('\n')}\n`;
const bash = 'bash_|-(none)_|-5.1.8_|-9.el9_|-x86_64_|-1700000000';
const libc = 'glibc_|-(none)_|-2.34_|-83.el9_|-i686_|-1700000000';
const zsh = 'zsh_|-1_|-5.8_|-9.el9_|-x86_64_|-1700000000';

/** A fake tool that chooses its answer by the second last word, and installs or removes by writing rpm's list. */
const tool = (answers: Record<string, string>): string => `#!/bin/sh
echo "$(basename "$0") $*" >> ${folder}/asked
${Object.entries(answers)
  .map(([pattern, text]) => `case " $* " in *"${pattern}"*) cat <<'EOF'\n${text}EOF\n;; esac`)
  .join('\n')}
case " $* " in *" install "*) echo "${zsh}" >> ${folder}/rpms ;; *" remove "*) grep -v '^zsh_' ${folder}/rpms > ${folder}/new; mv ${folder}/new ${folder}/rpms ;; esac
exit 0
`;
const place = (name: string, text: string): void => {
  writeFileSync(join(folder, 'bin', name), text);
  chmodSync(join(folder, 'bin', name), 0o755);
};
beforeEach(() => {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'rpms'), rpms(bash, libc));
  place('rpm', `#!/bin/sh\ncase "$1" in -qf) printf bash ;; *) cat ${folder}/rpms ;; esac\n`);
  process.env['PATH'] = `${join(folder, 'bin')}${delimiter}${path}`;
});
afterAll(() => {
  process.env['PATH'] = path;
  rmSync(folder, { recursive: true, force: true });
});
const asked = (): string[] => readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n');
const caller =
  (module: Module) =>
  (fun: string, args: Value[] = [], kwargs: PlainDict = {}): Promise<Value> =>
    testContext({ modules: [module], grains: newDict([['osarch', 'x86_64']]) }).callWith(`pkg.${fun}`, args, kwargs);

describe('versions of RPM', () => {
  it.each([
    ['1.0', '1.0', 0],
    ['1.0-1', '1.0', 0],
    ['1.10', '1.9', 1],
    ['1.0~rc1', '1.0', -1],
    ['1:1.0', '2.0', 1],
    ['1.0a', '1.0', 1],
    ['1.0-2.el9', '1.0-10.el9', -1],
    ['2.0.1', '2.0', 1],
  ])('%s and %s', (a, b, wanted) => {
    expect(compareRpm(a, b)).toBe(wanted);
    expect(compareRpm(b, a)).toBe(wanted === 0 ? 0 : -wanted);
  });

  it('knows conditions', () => {
    expect([fitsRpm('1.5', '>=1.2'), fitsRpm('1.5', '<1.2'), fitsRpm('1.5', '1.5'), fitsRpm('1.5', '!=1.5')]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });
});

describe('dnf', () => {
  const call = caller(yumpkg);
  beforeEach(() => {
    place(
      'dnf5',
      tool({
        ' available ':
          'Available Packages\nzsh.x86_64      1:5.8-9.el9    baseos\nzsh.x86_64\n   1:5.8-10.el9  updates\n',
        ' --upgrades': 'Available Upgrades\nbash.x86_64 5.2-1.el9 baseos\n',
        'versionlock list': 'bash-0:5.1.8-9.el9.*\n',
      }),
    );
  });

  it('reads installed and available packages', async () => {
    expect(await call('list_pkgs')).toEqual({ bash: '5.1.8-9.el9', 'glibc.i686': '2.34-83.el9' });
    expect(await call('version', ['bash'])).toBe('5.1.8-9.el9');
    expect(await call('latest_version', ['zsh'], { refresh: false })).toBe('1:5.8-10.el9');
    expect(await call('list_upgrades', [], { refresh: false })).toEqual({ bash: '5.2-1.el9' });
    expect(await call('list_holds')).toEqual(['bash']);
    expect(await call('owner', ['/bin/bash'])).toBe('bash');
  });

  it('installs and removes', async () => {
    expect(await call('install', ['zsh'], { fromrepo: 'updates' })).toEqual({ zsh: { old: '', new: '1:5.8-9.el9' } });
    expect(asked().at(-1)).toBe('dnf5 -y --disablerepo=* --enablerepo=updates install zsh');
    expect(await call('install', [], { pkgs: [{ zsh: '>=5.8-10' }] })).toBeTruthy();
    expect(asked().at(-1)).toBe('dnf5 -y install zsh-1:5.8-10.el9');
    expect(await call('remove', ['zsh'])).toMatchObject({ zsh: { new: '' } });
    expect(await call('remove', ['nothing'])).toEqual({});
    expect(await call('hold', ['bash'])).toMatchObject({
      bash: { result: true, comment: 'Package bash is already set to be held.' },
    });
  });

  it('writes files of repositories', async () => {
    const basedir = join(folder, 'repos');
    mkdirSync(basedir);
    const settings = { name: 'My repo', baseurl: 'http://x/', gpgcheck: true, basedir };
    await call('mod_repo', ['mine'], settings);
    expect(readFileSync(join(basedir, 'mine.repo'), 'utf8')).toBe(
      '[mine]\nname=My repo\nbaseurl=http://x/\ngpgcheck=1\n',
    );
    await call('mod_repo', ['mine'], { mirrorlist: 'http://y/', enabled: 0, basedir });
    expect(await call('get_repo', ['mine'], { basedir })).toEqual({
      name: 'My repo',
      gpgcheck: '1',
      mirrorlist: 'http://y/',
      enabled: '0',
      file: join(basedir, 'mine.repo'),
    });
    expect(await call('del_repo', ['mine'], { basedir })).toContain('has been removed');
    expect(await call('list_repos', [], { basedir })).toEqual({});
    await expect(call('mod_repo', ['new'], { basedir, baseurl: 'http://x' })).rejects.toThrow('a name was not given');
  });
});

describe('zypper', () => {
  const call = caller(zypperpkg);
  beforeEach(() => {
    place(
      'zypper',
      tool({
        ' search ':
          '<?xml version="1.0"?>\n<stream><solvable status="not-installed" name="zsh" kind="package" edition="5.6-7.5" arch="x86_64" repository="OSS"/></stream>\n',
        'list-updates':
          '<stream><update name="bash" edition="5.2-1" arch="x86_64" kind="package" edition-old="5.1"></update></stream>\n',
        ' refresh ': "Repository 'OSS' is up to date.\nRetrieving repository 'Update' metadata ...\n",
        ' locks': '# | Name | Type\n--+------+-----\n1 | bash | package\n',
        ' info ':
          'Information for package zsh:\n----------\nRepository     : OSS\nName           : zsh\nVersion        : 5.6-7.5\nInstalled      : No\n',
      }),
    );
  });

  it('reads available packages', async () => {
    expect(await call('refresh_db')).toEqual({ OSS: false, Update: true });
    expect(await call('latest_version', ['zsh'], { refresh: false })).toBe('5.6-7.5');
    expect(await call('list_upgrades', [], { refresh: false })).toEqual({ bash: '5.2-1' });
    expect(await call('list_holds')).toEqual(['bash']);
    expect(await call('info_available', ['zsh'])).toEqual({
      zsh: { repository: 'OSS', version: '5.6-7.5', installed: false },
    });
  });

  it('installs and removes', async () => {
    expect(await call('install', [], { pkgs: [{ zsh: '5.8-9' }] })).toEqual({ zsh: { old: '', new: '1:5.8-9.el9' } });
    expect(asked().at(-1)).toBe('zypper --non-interactive install --auto-agree-with-licenses --name zsh=5.8-9');
    expect(await call('remove', [], { pkgs: ['zsh', 'other'] })).toMatchObject({ zsh: { new: '' } });
    expect(asked().at(-1)).toBe('zypper --non-interactive remove zsh');
  });
});
