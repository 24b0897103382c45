// Real Salt releases of the protocol generations below P3: which Python each needs, and how it is installed.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { buildOnce, type Command, testCache } from './build-once.ts';
import type { Implementation } from './deployment.ts';

interface OldRelease {
  /** What its minions send as `version` of a request; none is 0. */
  readonly generation: 0 | 2;
  /** The first of these that is found is taken. */
  readonly pythons: readonly string[];
  /** Installed beside Salt, whose own lists fit no package index of today. */
  readonly packages: readonly string[];
  /** Debian packages without which the installation fails. */
  readonly apt: readonly string[];
}

const compiler = ['build-essential', 'python3-venv'];
const python2 = ['pycrypto', 'pyzmq==16.0.4', 'tornado==4.5.3', 'jinja2<3', 'markupsafe<2', 'pyyaml<5', 'requests'];
const python3 = ['requests', 'pycryptodomex', 'distro', 'psutil'];
const jinja30 = ['jinja2<3.1', 'markupsafe<2.1', 'pyyaml<6'];
const current = ['jinja2', 'markupsafe', 'pyyaml', 'jmespath', 'packaging', 'looseversion', 'contextvars'];

export const oldReleases = {
  '2015.5.11': {
    generation: 0,
    pythons: ['2.7'],
    packages: [...python2, 'futures', 'msgpack-python==0.5.6', 'M2Crypto==0.38.0'],
    apt: [...compiler, 'swig', 'libssl-dev'],
  },
  '2016.11.10': {
    generation: 0,
    pythons: ['2.7'],
    packages: [...python2, 'futures', 'msgpack==0.5.6'],
    apt: compiler,
  },
  '2019.2.8': {
    generation: 0,
    pythons: ['2.7'],
    packages: [...python2, 'futures', 'msgpack==0.5.6'],
    apt: compiler,
  },
  '3000.9': {
    generation: 0,
    pythons: ['3.7'],
    packages: [...python3, ...jinja30, 'msgpack<1', 'pyzmq<20', 'tornado<5'],
    apt: compiler,
  },
  '3002.9': {
    generation: 2,
    pythons: ['3.8'],
    packages: [...python3, ...jinja30, 'msgpack<1.1', 'pyzmq<23', 'contextvars'],
    apt: compiler,
  },
  '3004.2': {
    generation: 2,
    pythons: ['3.8'],
    packages: [...python3, ...jinja30, 'msgpack<1.1', 'pyzmq<23', 'contextvars'],
    apt: compiler,
  },
  '3005.5': {
    generation: 2,
    pythons: ['3.9'],
    packages: [...python3, ...current, 'msgpack<1.1', 'pyzmq<24'],
    apt: compiler,
  },
  '3006.9': {
    generation: 2,
    pythons: ['3.9', '3.10', '3.11'],
    packages: [...python3, ...current, 'msgpack<1.1', 'pyzmq<26', 'cryptography'],
    apt: compiler,
  },
} as const satisfies Record<string, OldRelease>;

export type OldVersion = keyof typeof oldReleases;
export const oldVersions = Object.keys(oldReleases) as OldVersion[];

const cache = join(testCache, 'old-salt');

/** The commands of an old release, installed when they are not there; a sentence when they cannot be had. */
export function prepareRelease(version: OldVersion): Implementation | { readonly missing: string } {
  const release: OldRelease = oldReleases[version];
  const folder = join(cache, version);
  if (!existsSync(join(folder, '.complete'))) {
    const python = release.pythons.map(findPython).find((found) => found !== undefined);
    if (!python) {
      const wanted = release.pythons.join(' or ');
      return { missing: `Salt ${version} needs Python ${wanted}, which is neither on PATH nor in pyenv's folder.` };
    }
    try {
      buildOnce(folder, [...environment(folder, python, release), ...installation(folder, version, release)]);
    } catch (error) {
      const words = (error as Error).message.trim().split('\n').slice(-3).join(' / ').slice(0, 500);
      return {
        missing: `Salt ${version} could not be installed (Debian packages: ${release.apt.join(' ')}): ${words}`,
      };
    }
  }
  return { name: `salt ${version}`, bin: join(folder, 'bin') };
}

/** Python 2 has no `venv`: a virtualenv that still knew it makes the folder. */
function environment(folder: string, python: string, { pythons }: OldRelease): Command[] {
  if (pythons[0] !== '2.7') return [[python, '-m', 'venv', folder]];
  const tool = `${folder}.tool`;
  return [
    ['python3', '-m', 'venv', '--clear', tool],
    [join(tool, 'bin/pip'), ...install, 'virtualenv<20.22'],
    [join(tool, 'bin/virtualenv'), '-q', '-p', python, folder],
    ['rm', '-rf', tool],
  ];
}

const install = ['install', '--quiet', '--disable-pip-version-check'];

function installation(folder: string, version: string, { packages, pythons }: OldRelease): Command[] {
  const pip = join(folder, 'bin/pip');
  // Salt's setup.py of these years fails with a newer setuptools, and needs to find the older one.
  const tools: Command[] = pythons[0] === '2.7' ? [] : [[pip, ...install, 'setuptools<58', 'wheel']];
  return [
    ...tools,
    [pip, ...install, ...packages],
    [pip, ...install, '--no-deps', '--no-build-isolation', `salt==${version}`],
    [join(folder, 'bin/salt-minion'), '--version'],
  ];
}

/** A Python of this version that runs: a name on PATH may be a stand-in for one that is not there. */
function findPython(version: string): string | undefined {
  const pyenv = join(process.env['PYENV_ROOT'] ?? join(homedir(), '.pyenv'), 'versions');
  const kept = existsSync(pyenv) ? readdirSync(pyenv).filter((name) => name.startsWith(`${version}.`)) : [];
  const places = [
    ...(process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, `python${version}`)),
    ...kept.map((name) => join(pyenv, name, 'bin', `python${version}`)),
  ];
  for (const place of places.filter((file) => existsSync(file))) {
    const { status, stdout } = spawnSync(place, ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' });
    if (status === 0) return stdout.trim();
  }
  return undefined;
}
