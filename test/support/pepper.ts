// Salt's own client of the API, pepper, from PyPI: the newest release, and the one that Debian 12 has.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildOnce, testCache } from './build-once.ts';
import type { Item } from './prepared.ts';

export const pepperVersions = ['0.7.6', '0.5.5'] as const;
type PepperVersion = (typeof pepperVersions)[number];

const folderOf = (version: PepperVersion): string => join(testCache, `pepper-${version}`);

export const pepperItems: readonly Item[] = pepperVersions.map((version) => ({
  name: `pepper ${version}`,
  tiers: ['interop'],
  need: 'required',
  isThere: () => existsSync(join(folderOf(version), '.complete')),
  make() {
    const folder = folderOf(version);
    buildOnce(folder, [
      ['python3', '-m', 'venv', folder],
      [
        join(folder, 'bin/pip'),
        'install',
        '--quiet',
        '--disable-pip-version-check',
        'setuptools<80',
        'requests',
        `salt-pepper==${version}`,
      ],
      [join(folder, 'bin/pepper'), '--version'],
    ]);
  },
}));

/** The folder of its commands; undefined when it was not prepared. */
export function pepperBin(version: PepperVersion): string | undefined {
  const bin = join(folderOf(version), 'bin');
  return existsSync(join(bin, '../.complete')) ? bin : undefined;
}
