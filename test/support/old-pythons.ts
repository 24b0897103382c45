// Pythons that old Salt releases need and no current distribution has: from pyenv where there is one, else from the
// packages of Debian 11, unpacked into a folder of their own. Nothing of the system is touched.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { testCache } from './build-once.ts';
import type { Item } from './prepared.ts';

const suite = 'bullseye';
const folder = join(testCache, `pythons-${suite}`);
const offered = ['2.7', '3.9'] as const;
/** What these Pythons link or import that other packages of that time hold. */
const more = ['libssl1.1', 'libffi7', 'python3-distutils', 'python3-lib2to3'];
const packagesOf = (version: string): string[] => [
  ...['', '-minimal'].map((part) => `python${version}${part}`),
  ...['', '-minimal', '-stdlib', '-dev'].map((part) => `libpython${version}${part}`),
];

/** A Python of this version that runs: a name on PATH may be a stand-in for one that is not there. */
export function findPython(version: string): string | undefined {
  const pyenv = join(process.env['PYENV_ROOT'] ?? join(homedir(), '.pyenv'), 'versions');
  const kept = existsSync(pyenv) ? readdirSync(pyenv).filter((name) => name.startsWith(`${version}.`)) : [];
  const places = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...kept.map((name) => join(pyenv, name, 'bin')),
    ...(existsSync(join(folder, '.complete')) ? [join(folder, 'usr/bin')] : []),
  ];
  const files = places.map((place) => join(place, `python${version}`)).filter((file) => existsSync(file));
  for (const file of files) {
    const { status, stdout } = spawnSync(file, ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' });
    if (status === 0) return stdout.trim();
  }
  return undefined;
}

/** Variables by which a compiler finds the headers of a Python that is not where it was made for. */
export function headerVariables(python: string): string[] {
  if (!python.startsWith(`${folder}/`)) return [];
  const include = join(folder, 'usr/include');
  const headers = offered
    .filter((version) => python.endsWith(version))
    .map((version) => join(include, `python${version}`));
  return [`CPATH=${[...headers, include].join(delimiter)}`];
}

function run(file: string, args: readonly string[], cwd?: string): string {
  const done = spawnSync(file, args, { encoding: 'utf8', maxBuffer: 1 << 26, cwd });
  if (done.status === 0) return done.stdout;
  throw new Error(`${file} ${args.join(' ')} failed:\n${done.stdout ?? ''}${done.stderr ?? done.error?.message ?? ''}`);
}

/** Apt's own tools with another list of sources, so that signatures are checked as ever. */
function download(to: string): void {
  const format = '$(ORIGIN) $(LABEL) $(REPO_URI) $(SIGNED_BY)';
  const targets = run('apt-get', ['indextargets', '--format', format, 'Created-By: Packages']).split('\n');
  const mirror = targets.find((line) => line.startsWith('Debian Debian '))?.split(' ')[2];
  if (!mirror) throw new Error('apt knows no mirror of Debian');
  const keys = '/usr/share/keyrings/debian-archive-keyring.gpg';
  for (const name of ['lists/partial', 'cache/archives/partial', 'packages'])
    mkdirSync(join(to, name), { recursive: true });
  writeFileSync(join(to, 'sources.list'), `deb [signed-by=${keys}] ${mirror} ${suite} main\n`);
  writeFileSync(join(to, 'status'), '');
  const settings = Object.entries({
    'Dir::Etc::sourcelist': join(to, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::State::lists': join(to, 'lists'),
    // Nothing is installed, as far as this goes: the versions of this system are not asked for.
    'Dir::State::status': join(to, 'status'),
    'Dir::Cache': join(to, 'cache'),
    'Acquire::Retries': '3',
    'APT::Sandbox::User': 'root',
  }).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  run('apt-get', [...settings, '-q', 'update']);
  const wanted = [...more, ...offered.flatMap(packagesOf)];
  run('apt-get', [...settings, '-q', 'download', ...wanted], join(to, 'packages'));
}

/** Modules look for the libraries that came with them. */
function link(root: string): void {
  const [triple] = readdirSync(join(root, 'usr/lib')).filter((name) => name.endsWith('-linux-gnu'));
  if (!triple) throw new Error('the packages hold no libraries');
  const place = join(folder, 'usr/lib', triple);
  const own = readdirSync(join(root, 'usr/lib', triple))
    .filter((name) => /^lib(ssl|crypto|ffi)\.so\./.test(name))
    .map((name) => join(root, 'usr/lib', triple, name));
  const modules = offered.flatMap((version) => {
    const loaded = join(root, `usr/lib/python${version}/lib-dynload`);
    return readdirSync(loaded)
      .filter((name) => /^_(ssl|hashlib|ctypes)\./.test(name))
      .map((name) => join(loaded, name));
  });
  for (const file of [...own, ...modules]) run('patchelf', ['--force-rpath', '--set-rpath', place, file]);
}

export const oldPythonsItem: Item = {
  name: `Python ${offered.join(' and ')}`,
  tiers: ['old-minions', 'stories'],
  need: 'where there is',
  isThere: () => offered.every((version) => findPython(version) !== undefined),
  make() {
    if (!existsSync('/usr/bin/apt-get')) throw new Error('this system is no Debian, and pyenv has none of them');
    const work = `${folder}.new`;
    rmSync(work, { recursive: true, force: true });
    try {
      const fetched = join(work, 'fetched');
      download(fetched);
      for (const name of readdirSync(join(fetched, 'packages')).filter((file) => file.endsWith('.deb')))
        run('dpkg', ['-x', join(fetched, 'packages', name), work]);
      rmSync(fetched, { recursive: true });
      link(work);
      writeFileSync(join(work, '.complete'), '');
      rmSync(folder, { recursive: true, force: true });
      renameSync(work, folder);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
    for (const version of offered) run(join(folder, `usr/bin/python${version}`), ['-c', 'import ssl, hashlib, ctypes']);
  },
};
