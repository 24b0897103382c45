// Real Salt releases as peers: installed once from PyPI into a virtual environment, then shared by all test runs.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Implementation } from './deployment.ts';

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

const cache = process.env['HALITE_TEST_CACHE'] ?? join(homedir(), '.cache', 'halite-test');

/** The commands of a release; installs it when it is not there. Throws with the installer's words when that fails. */
export function saltRelease(version: SaltVersion): Implementation {
  const folder = join(cache, `salt-${version}`);
  const marker = join(folder, '.complete');
  if (!existsSync(marker)) {
    if (!works(folder)) install(folder, version);
    writeFileSync(marker, '');
  }
  return { name: `salt ${version}`, bin: join(folder, 'bin') };
}

function works(folder: string): boolean {
  const command = join(folder, 'bin', 'salt-call');
  return existsSync(command) && spawnSync(command, ['--version']).status === 0;
}

function install(folder: string, version: SaltVersion): void {
  mkdirSync(cache, { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  run('python3', ['-m', 'venv', folder]);
  run(join(folder, 'bin', 'pip'), [
    'install',
    '--quiet',
    '--disable-pip-version-check',
    `salt==${version}`,
    ...(undeclared[version] ?? []),
  ]);
}

function run(file: string, args: readonly string[]): void {
  const done = spawnSync(file, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  if (done.status !== 0)
    throw new Error(
      `${file} ${args.join(' ')} failed:\n${done.stdout ?? ''}${done.stderr ?? done.error?.message ?? ''}`,
    );
}
