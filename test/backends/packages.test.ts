// Packages of a small tree: the same bytes each time, readable by the programs of the distributions, and a bootstrap that
// trusts only what it should.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { preparedProgram } from '../support/servers/server.ts';

interface Plan {
  readonly app: string;
  readonly base: string;
  readonly arch: string;
  readonly out: string;
  readonly seconds: number;
  readonly level: number;
  readonly version: string;
}
type Maker = (plan: Plan) => string | string[];

const root = resolve(import.meta.dirname, '../..');
const work = mkdtempSync(join(tmpdir(), 'halite-packages-test-'));
const rpm = preparedProgram('rpm', 'rpm');
const run = (program: string, ...args: string[]): string => execFileSync(program, args, { encoding: 'utf8' });
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const file = (out: string, name: string): string => join(work, out, name);

/** What is packed: not Node and libraries, which take a minute, but the same kinds of files. */
function makeTrees(name: string, umask: number): { app: string; base: string } {
  const before = process.umask(umask);
  try {
    const [app, base] = [join(work, name, 'app'), join(work, name, 'base')];
    for (const folder of [join(app, 'bin'), join(app, 'app/dist'), join(base, 'etc'), join(base, 'dev')])
      mkdirSync(folder, { recursive: true });
    copyFileSync('/bin/true', join(app, 'bin/node'));
    chmodSync(join(app, 'bin/node'), 0o755);
    writeFileSync(join(app, 'app/dist/odd'), 'x'.repeat(1001));
    symlinkSync('odd', join(app, 'app/dist/link'));
    writeFileSync(join(base, 'etc/os-release'), 'ID=none\n');
    chmodSync(join(base, 'etc/os-release'), 0o640);
    for (const folder of [base, join(base, 'etc'), join(base, 'dev')]) chmodSync(folder, 0o755);
    // Other times of files.
    utimesSync(join(app, 'app/dist/odd'), umask, umask);
    return { app, base };
  } finally {
    process.umask(before);
  }
}

async function make(out: string, umask: number): Promise<void> {
  mkdirSync(join(work, out));
  const makers: Maker[] = [];
  for (const [module, name] of [
    ['debian', 'debianPackages'],
    ['rpm', 'rpmPackages'],
    ['movable', 'movableArchive'],
    ['oci', 'ociImage'],
  ])
    makers.push((await import(join(root, `scripts/package/${module}.mjs`)))[name as string] as Maker);
  const trees = makeTrees(`tree-${out}`, umask);
  const plan = { ...trees, arch: 'x64', out: join(work, out), seconds: 1_700_000_000, level: 0, version: '1.2.3' };
  for (const maker of makers) maker(plan);
  const names = readdirSync(plan.out).sort();
  writeFileSync(
    join(plan.out, 'SHA256SUMS'),
    names.map((name) => `${sha256(readFileSync(join(plan.out, name)))}  ${name}\n`).join(''),
  );
}

beforeAll(async () => {
  await make('one', 0o022);
  await make('two', 0o077);
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

it('has the same bytes, whoever makes it and when', () => {
  const sums = readFileSync(file('one', 'SHA256SUMS'), 'utf8');
  expect(sums.trim().split('\n')).toHaveLength(10);
  expect(readFileSync(file('two', 'SHA256SUMS'), 'utf8')).toBe(sums);
});

it('packs programs, not what else lies in a build that was used', async () => {
  const { placePrograms } = (await import(join(root, 'scripts/package/stage.mjs'))) as {
    placePrograms(from: string, to: string): void;
  };
  const [from, to] = [join(work, 'dist'), join(work, 'placed')];
  for (const name of ['salt.cjs', 'salt.cjs.cache', '.stamp', 'python/worker.py', 'python/__pycache__/worker.pyc']) {
    mkdirSync(join(from, name, '..'), { recursive: true });
    writeFileSync(join(from, name), name);
  }
  for (const name of ['site/index.html', 'man/salt.1', 'types/index.d.ts', 'program-x1/a.mjs', 'sdk/site/x.js']) {
    mkdirSync(join(from, name, '..'), { recursive: true });
    writeFileSync(join(from, name), name);
  }
  placePrograms(from, to);
  const placed = readdirSync(to, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(placed.map(({ name }) => name).sort()).toEqual(['salt.cjs', 'worker.py', 'x.js']);
});

it('makes Debian packages that replace those of Salt, except the runtime, which stands beside them', () => {
  const field = (name: string, key: string): string =>
    run('dpkg-deb', '--field', file('one', `halite-${name}_1.2.3_amd64.deb`), key).trim();
  expect(field('master', 'Conflicts')).toBe('salt-master, salt-api, salt-syndic');
  expect(field('master', 'Provides')).toBe(field('master', 'Replaces'));
  expect(field('minion', 'Depends')).toBe('halite-common (= 1.2.3)');
  expect(field('runtime', 'Conflicts')).toBe('');
  const files = run('dpkg-deb', '--contents', file('one', 'halite-runtime_1.2.3_amd64.deb'));
  expect(files).toMatch(/lrwxrwxrwx .* \.\/usr\/lib\/halite\/app\/dist\/link -> odd/);
  expect(files).not.toMatch(/ \.\/usr\/bin\/salt/);
});

it('has scripts that a plain shell can read', () => {
  for (const name of ['runtime', 'common', 'master', 'minion']) {
    const out = join(work, `control-${name}`);
    run('dpkg-deb', '--control', file('one', `halite-${name}_1.2.3_amd64.deb`), out);
    for (const script of readdirSync(out).filter((each) => /^(post|pre)/.test(each))) {
      run('dash', '-n', join(out, script));
      expect(readFileSync(join(out, script), 'utf8')).not.toMatch(/@\w+@|undefined/);
    }
  }
});

describe.skipIf(!rpm)('RPM packages', () => {
  const query = (name: string, ...what: string[]): string =>
    run('rpm', '-qp', ...what, file('one', `halite-${name}-1.2.3-1.x86_64.rpm`));

  it('are complete and replace those of Salt', () => {
    for (const name of ['runtime', 'common', 'master', 'minion'])
      expect(run('rpmkeys', '--checksig', file('one', `halite-${name}-1.2.3-1.x86_64.rpm`))).toMatch(/digests OK/);
    expect(query('master', '--provides')).toContain('salt-master');
    expect(query('master', '--obsoletes').trim().split('\n')).toEqual(['salt-master', 'salt-api', 'salt-syndic']);
    expect(query('common', '--requires')).toContain('halite-runtime = 1.2.3-1');
    expect(query('common', '--configfiles').trim()).toBe('/etc/logrotate.d/halite');
    expect(query('minion', '--scripts')).toContain('salt-minion.service');
    // The package of Salt is removed after the first, and stops its service then.
    const [, first = '', last = ''] = query('minion', '--scripts').split(/^(?:postinstall|posttrans) scriptlet/m);
    expect(first).toContain('exit 0; }\n');
    expect(last).toMatch(/\.rpmsave[\s\S]*systemctl start/);
    expect(query('runtime', '--scripts')).not.toContain('posttrans');
  });

  it('unpack to what was packed', () => {
    const into = join(work, 'rpm-root');
    mkdirSync(into);
    const name = file('one', 'halite-runtime-1.2.3-1.x86_64.rpm');
    const options = ['--nodeps', '--noscripts', '--ignorearch', '--ignoreos'];
    run('rpm', '--root', into, ...options, '-i', name);
    expect(readFileSync(join(into, 'usr/lib/halite/app/dist/odd'), 'utf8')).toBe('x'.repeat(1001));
    expect(run('rpm', '--root', into, '-V', '--nodeps', 'halite-runtime')).toBe('');
    // A file that changed is found, so the check above can fail.
    writeFileSync(join(into, 'usr/lib/halite/app/dist/odd'), 'y');
    const changed = spawnSync('rpm', ['--root', into, '-V', '--nodeps', 'halite-runtime'], { encoding: 'utf8' });
    expect(changed.stdout).toMatch(/^S.5.* {4}\/usr\/lib\/halite\/app\/dist\/odd$/m);
    run('rpm', '--root', into, '--nodeps', '--noscripts', '-e', 'halite-runtime');
    expect(readdirSync(join(into, 'usr/lib'))).not.toContain('halite');
  });
});

it('makes an image in which all sums are right', () => {
  const image = join(work, 'image');
  mkdirSync(image);
  run('tar', '-xf', file('one', 'halite-1.2.3-linux-x64.oci.tar'), '-C', image);
  const blob = (digest: string): Buffer => {
    const bytes = readFileSync(join(image, 'blobs', digest.replace(':', '/')));
    expect(`sha256:${sha256(bytes)}`).toBe(digest);
    return bytes;
  };
  const read = (bytes: Buffer) => JSON.parse(bytes.toString('utf8'));
  const [named] = read(readFileSync(join(image, 'index.json'))).manifests;
  const manifest = read(blob(named.digest));
  const config = read(blob(manifest.config.digest));
  const layers = manifest.layers.map(({ digest }: { digest: string }) => gunzipSync(blob(digest)));
  expect(layers.map((tar: Buffer) => `sha256:${sha256(tar)}`)).toEqual(config.rootfs.diff_ids);
  const listed = spawnSync('tar', ['-tvf', '-'], { input: layers[0], encoding: 'utf8' }).stdout;
  expect(listed).toMatch(/^-rw-r----- .* \.\/etc\/os-release$/m);
});

describe('bootstrap.sh', () => {
  const bootstrap = (...args: string[]) => bootstrapIn(work, ...args);
  const bootstrapIn = (cwd: string, ...args: string[]) => {
    const words = [join(root, 'packaging/bootstrap.sh'), ...args];
    const { status, stdout, stderr } = spawnSync('dash', words, { encoding: 'utf8', cwd });
    return { status, said: `${stdout}${stderr}` };
  };
  const from = (out: string): string[] => ['--from', join(work, out), '--format', 'deb'];

  it('chooses packages, and shows without doing anything', () => {
    const listed = bootstrap(...from('one'), '--list', 'minion');
    expect(listed).toEqual({
      status: 0,
      said: ['runtime', 'common', 'minion'].map((name) => `halite-${name}_1.2.3_amd64.deb\n`).join(''),
    });
    const finger = 'ab:cd:01';
    const shown = bootstrap(...from('one'), '--dry-run', '--master', 'm', '--finger', finger, 'minion');
    expect(shown.said).toContain(`master_finger: '${finger}'`);
    expect(shown.said).toContain('would run: apt-get install');
    expect(shown.status).toBe(0);
  });

  it('chooses the same wherever it is called', () => {
    const elsewhere = join(work, 'elsewhere');
    mkdirSync(elsewhere);
    for (const version of ['1.1.0', '1.2.0'])
      writeFileSync(join(elsewhere, `halite-runtime_${version}_amd64.deb`), 'of another release');
    const listed = bootstrapIn(elsewhere, ...from('one'), '--list', 'commands');
    expect(listed.said).toBe('halite-runtime_1.2.3_amd64.deb\nhalite-common_1.2.3_amd64.deb\n');
  });

  it('takes the version of the file that is named, and checks an archive too', () => {
    makeCopy('several');
    const sums = readFileSync(file('one', 'SHA256SUMS'), 'utf8');
    writeFileSync(file('several', 'SHA256SUMS'), sums + sums.replaceAll('1.2.3', '1.9.0'));
    for (const [name, last] of [
      ['halite-minion_1.2.3_amd64.deb', 'halite-minion_1.2.3_amd64.deb'],
      ['halite-runtime-1.2.3-1.x86_64.rpm', 'halite-minion-1.2.3-1.x86_64.rpm'],
      ['halite-1.2.3-linux-x64.tar.xz', 'halite-1.2.3-linux-x64.tar.xz'],
    ])
      expect(bootstrap('--from', file('several', name!), '--list', 'minion').said.trim().split('\n').at(-1)).toBe(last);
    const archive = 'halite-1.2.3-linux-x64.tar.xz';
    const other = bootstrap('--from', file('one', archive), '--sum', '0'.repeat(64), '--dry-run', 'minion');
    expect([other.status, other.said]).toEqual([1, expect.stringContaining('not the file that --sum names')]);
    writeFileSync(file('several', archive), 'another one');
    const changed = bootstrap('--from', file('several', archive), '--dry-run', 'minion');
    expect([changed.status, changed.said]).toEqual([1, expect.stringContaining('is not the file that SHA256SUMS')]);
    rmSync(file('several', 'SHA256SUMS'));
    expect(bootstrap('--from', file('several', archive), '--dry-run', 'minion').status).toBe(0);
    expect(bootstrap('--from', file('several', archive), '--sum', '0'.repeat(64), '--list', 'minion').status).toBe(1);
  });

  it('refuses a package that is not the one in the list', () => {
    makeCopy('changed');
    writeFileSync(file('changed', 'halite-common_1.2.3_amd64.deb'), 'another one');
    const { status, said } = bootstrap(...from('changed'), '--dry-run', 'minion');
    expect([status, said]).toEqual([1, expect.stringContaining('is not the file that SHA256SUMS names')]);
  });

  it('refuses a list with another sum, or without the signature of the key', () => {
    const sum = sha256(readFileSync(file('one', 'SHA256SUMS')));
    expect(bootstrap(...from('one'), '--list', '--sum', sum, 'master').status).toBe(0);
    const other = bootstrap(...from('one'), '--list', '--sum', sum.replace(/./g, '0'), 'master');
    expect([other.status, other.said]).toEqual([1, expect.stringContaining('not the file that --sum names')]);
    makeCopy('signed');
    const [good, bad] = ['good', 'bad'].map((name) => {
      const home = join(work, name);
      mkdirSync(home, { mode: 0o700 });
      const gpg = ['--homedir', home, '--batch', '--quiet', '--passphrase', ''];
      run('gpg', ...gpg, '--quick-generate-key', name, 'ed25519', 'sign');
      if (name === 'good') run('gpg', ...gpg, '--armor', '--detach-sign', file('signed', 'SHA256SUMS'));
      run('gpg', ...gpg, '--output', `${home}.pub`, '--export');
      run('gpgconf', '--homedir', home, '--kill', 'gpg-agent');
      return `${home}.pub`;
    });
    expect(bootstrap(...from('signed'), '--list', '--key', good!, 'master').status).toBe(0);
    expect(bootstrap(...from('signed'), '--list', '--key', bad!, 'master').said).toContain('the signature');
    expect(bootstrap(...from('one'), '--list', '--key', good!, 'master').status).toBe(1);
  });

  it('refuses words that mean something else than they should', () => {
    const refused = [
      ['--mirror', 'http://example.invalid', 'minion'],
      ['--mirror', 'ftp://example.invalid', 'minion'],
      [...from('one'), '--master', "x'\nid: y", 'minion'],
      [...from('one'), '--finger', 'not hex', 'minion'],
      [...from('one'), '--version', '$(touch x)', 'minion'],
      [...from('one'), '--id', 'x', 'master'],
      ['--from', join(work, 'one'), '--format', 'zip', 'minion'],
      [...from('one'), '--prefix', 'relative', 'minion'],
      ['--from', file('one', 'halite-minion_1.2.3_amd64.deb'), '--version', '1.2.4', 'minion'],
      [...from('one'), 'minions'],
      [...from('one')],
    ];
    for (const words of refused) expect(bootstrap('--dry-run', ...words).status, words.join(' ')).toBe(2);
    expect(bootstrap('--help').said).toContain('Usage: bootstrap.sh');
  });

  function makeCopy(name: string): void {
    run('cp', '-a', join(work, 'one'), join(work, name));
  }
});
