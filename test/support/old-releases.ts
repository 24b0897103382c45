// Real Salt releases of the protocol generations below P3: which Python each needs, and how it is installed.
// The Debian packages that compiling them needs are in scripts/prepare/packages.json.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildOnce, type Command, testCache } from './build-once.ts';
import type { Implementation } from './deployment.ts';
import { findPython, headerVariables } from './old-pythons.ts';
import { type Item, whyMissing } from './prepared.ts';

interface OldRelease {
  /** What its minions send as `version` of a request; none is 0. */
  readonly generation: 0 | 2;
  /** The first of these that is found is taken. */
  readonly pythons: readonly string[];
  /** Installed beside Salt, whose own lists fit no package index of today. */
  readonly packages: readonly string[];
  /** Instead of them under Python 2.7, for a release that runs on both. */
  readonly python2Packages?: readonly string[];
}

const python2 = ['pycrypto', 'pyzmq==16.0.4', 'tornado==4.5.3', 'jinja2<3', 'markupsafe<2', 'pyyaml<5', 'requests'];
const python3 = ['requests', 'pycryptodomex', 'distro', 'psutil'];
const jinja30 = ['jinja2<3.1', 'markupsafe<2.1', 'pyyaml<6'];
const current = ['jinja2', 'markupsafe', 'pyyaml', 'jmespath', 'packaging', 'looseversion', 'contextvars'];

export const oldReleases = {
  '2015.5.11': {
    generation: 0,
    pythons: ['2.7'],
    packages: [...python2, 'futures', 'msgpack-python==0.5.6', 'M2Crypto==0.38.0'],
  },
  '2016.11.10': {
    generation: 0,
    pythons: ['2.7'],
    packages: [...python2, 'futures', 'msgpack==0.5.6'],
  },
  '2019.2.8': {
    generation: 0,
    pythons: ['2.7'],
    packages: [...python2, 'futures', 'msgpack==0.5.6'],
  },
  '3000.9': {
    generation: 0,
    // The last one for Python 2; with 3.9 its grains fail.
    pythons: ['3.7', '2.7'],
    packages: [...python3, ...jinja30, 'msgpack<1', 'pyzmq<23', 'tornado<5'],
    python2Packages: [...python2, 'futures', 'msgpack==0.5.6', 'ipaddress'],
  },
  '3002.9': {
    generation: 2,
    pythons: ['3.8', '3.9'],
    packages: [...python3, ...jinja30, 'msgpack<1.1', 'pyzmq<23', 'contextvars'],
  },
  '3004.2': {
    generation: 2,
    pythons: ['3.8', '3.9'],
    packages: [...python3, ...jinja30, 'msgpack<1.1', 'pyzmq<23', 'contextvars'],
  },
  '3005.5': {
    generation: 2,
    pythons: ['3.9'],
    packages: [...python3, ...current, 'msgpack<1.1', 'pyzmq<24'],
  },
  '3006.9': {
    generation: 2,
    pythons: ['3.9', '3.10', '3.11'],
    packages: [...python3, ...current, 'msgpack<1.1', 'pyzmq<26', 'cryptography'],
  },
} as const satisfies Record<string, OldRelease>;

export type OldVersion = keyof typeof oldReleases;
export const oldVersions = Object.keys(oldReleases) as OldVersion[];

const folderOf = (version: OldVersion): string => join(testCache, 'old-salt', version);
const isThere = (version: OldVersion): boolean => existsSync(join(folderOf(version), '.complete'));
const itemName = (version: OldVersion): string => `Salt ${version}`;

/** The commands of an old release as they were prepared; a sentence when it could not be had. */
export function prepareRelease(version: OldVersion): Implementation | { readonly missing: string } {
  if (!isThere(version)) return { missing: `${itemName(version)}: ${whyMissing(itemName(version))}` };
  return { name: `salt ${version}`, bin: join(folderOf(version), 'bin') };
}

function make(version: OldVersion): void {
  const release: OldRelease = oldReleases[version];
  const folder = folderOf(version);
  const found = release.pythons
    .map((name) => ({ name, file: findPython(name) }))
    .find(({ file }) => file !== undefined);
  if (!found?.file)
    throw new Error(`no Python ${release.pythons.join(' or ')} here, nor to be had from the distribution`);
  buildOnce(folder, [
    ...environment(folder, found.file),
    ...installation(folder, version, packagesFor(release, found.name), headerVariables(found.file)),
  ]);
}

/** With the tools to install Salt: its setup.py of these years fails with a newer setuptools, and needs to find the older one. */
function packagesFor({ packages, python2Packages }: OldRelease, python: string): readonly (readonly string[])[] {
  if (python === '2.7') return [python2Packages ?? packages];
  return [['setuptools<58', 'wheel'], packages];
}

export const oldReleaseItems: readonly Item[] = oldVersions.map((version) => ({
  name: itemName(version),
  // The story of the nodegroup has a minion of the oldest.
  tiers: version === '2015.5.11' ? ['old-minions', 'stories'] : ['old-minions'],
  // Required where its Python can be had; see CONTRIBUTING.md.
  get need() {
    return oldReleases[version].pythons.some(findPython) ? 'required' : 'where there is';
  },
  isThere: () => isThere(version),
  make: () => make(version),
}));

const install = ['install', '--quiet', '--disable-pip-version-check'];

/** Not `venv`: Python 2 has none, and Debian's Pythons have it without pip. The last virtualenv that knew them all makes the folder. */
function environment(folder: string, python: string): Command[] {
  const tool = join(testCache, 'old-salt', 'virtualenv');
  buildOnce(tool, [
    ['python3', '-m', 'venv', tool],
    [join(tool, 'bin/pip'), ...install, 'virtualenv<20.22'],
  ]);
  return [[join(tool, 'bin/virtualenv'), '-q', '-p', python, folder]];
}

function installation(
  folder: string,
  version: string,
  packages: readonly (readonly string[])[],
  variables: readonly string[],
): Command[] {
  const pip = ['env', ...variables, join(folder, 'bin/pip')] as const;
  return [
    ...packages.map((names): Command => [...pip, ...install, ...names]),
    [...pip, ...install, '--no-deps', '--no-build-isolation', `salt==${version}`],
    [join(folder, 'bin/salt-minion'), '--version'],
  ];
}
