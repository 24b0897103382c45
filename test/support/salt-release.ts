// Real Salt releases as peers: installed once from PyPI into a virtual environment, then shared by all test runs.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildOnce, testCache } from './build-once.ts';
import type { Implementation } from './deployment.ts';
import { type Item, whyMissing } from './prepared.ts';

export const saltVersions = ['3006.27', '3007.14', '3008.2'] as const;
export type SaltVersion = (typeof saltVersions)[number];

/** The source package of 3007.14 names no dependencies: these are what its own lists name. */
const undeclared: Partial<Record<SaltVersion, readonly string[]>> = {
  '3007.14': [
    'tornado',
    'PyYAML',
    'msgpack',
    'pyzmq',
    'Jinja2',
    'MarkupSafe',
    'distro',
    'psutil',
    'requests',
    'packaging==24.0',
    'looseversion',
    'jmespath',
    'cryptography',
    'pycryptodomex',
    'python-dateutil',
    'aiohttp',
    'croniter',
    'backports.tarfile',
    'certifi',
    'setproctitle',
    'GitPython',
  ],
};

const folderOf = (version: SaltVersion): string => join(testCache, `salt-${version}`);
const isThere = (version: SaltVersion): boolean => existsSync(join(folderOf(version), '.complete'));

/** The commands of a release that was prepared. */
export function saltRelease(version: SaltVersion): Implementation {
  if (!isThere(version)) throw new Error(`Salt ${version}: ${whyMissing(`Salt ${version}`)}`);
  return { name: `salt ${version}`, bin: join(folderOf(version), 'bin') };
}

function install(version: SaltVersion): void {
  const folder = folderOf(version);
  const pip = [join(folder, 'bin', 'pip'), 'install', '--quiet', '--disable-pip-version-check'] as const;
  buildOnce(folder, [
    ['python3', '-m', 'venv', folder],
    [...pip, `salt==${version}`, ...(undeclared[version] ?? [])],
    [join(folder, 'bin', 'salt-call'), '--version'],
  ]);
}

export const saltItems: readonly Item[] = saltVersions.map((version) => ({
  name: `Salt ${version}`,
  tiers: ['stories', 'interop'],
  need: 'required',
  isThere: () => isThere(version),
  make: () => install(version),
}));
