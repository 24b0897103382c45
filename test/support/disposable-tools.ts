// Tools that states drive and a small machine lacks: taken from Debian's packages once, kept as a layer for test runs.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testCache } from './build-once.ts';
import type { Item } from './prepared.ts';

/** Counts up when the list changes. */
const edition = 2;
const packages = [
  'cron',
  'acl',
  'iptables',
  'nftables',
  'at',
  'apache2-utils',
  'parted',
  'patch',
  'debconf-utils',
  'util-linux-extra',
];

const folder = join(testCache, `tools-${edition}`);
const isThere = (): boolean => existsSync(join(folder, '.complete'));

/** The folder of the layer; undefined where the packages cannot be had. */
export const disposableTools = (): string | undefined => (isThere() ? folder : undefined);

export const disposableToolsItem: Item = {
  name: 'tools for disposable systems',
  tiers: ['backends', 'interop'],
  need: 'required',
  isThere,
  make() {
    const work = `${folder}.new`;
    rmSync(work, { recursive: true, force: true });
    try {
      for (const file of download(join(work, 'packages'))) run('dpkg', ['-x', file, work]);
      rmSync(join(work, 'packages'), { recursive: true });
      arrange(work);
      writeFileSync(join(work, '.complete'), '');
      rmSync(folder, { recursive: true, force: true });
      renameSync(work, folder);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  },
};

/** The packages with what they need that is not installed. */
function download(to: string): string[] {
  mkdirSync(join(to, 'partial'), { recursive: true });
  // Into a folder of ours: that needs no lock of the system's.
  const where = ['-o', `Dir::Cache::archives=${to}`, '-o', 'Debug::NoLocking=1', '-o', 'Acquire::Retries=3'];
  run('apt-get', [
    'install',
    ...where,
    '--download-only',
    '--reinstall',
    '-y',
    '-q',
    '--no-install-recommends',
    ...packages,
  ]);
  return readdirSync(to)
    .filter((name) => name.endsWith('.deb'))
    .map((name) => join(to, name));
}

function run(file: string, args: readonly string[]): void {
  const done = spawnSync(file, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  if (done.status !== 0) throw new Error(`${file} failed:\n${done.stdout ?? ''}${done.stderr ?? done.error?.message}`);
}

/** What the packages' own scripts would have done, and `/bin` inside `/usr`. */
function arrange(root: string): void {
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) {
    if (!existsSync(join(root, name))) continue;
    spawnSync('cp', ['-a', `${join(root, name)}/.`, join(root, 'usr', name)]);
    rmSync(join(root, name), { recursive: true });
  }
  for (const name of ['iptables', 'ip6tables']) {
    for (const suffix of ['', '-save', '-restore']) {
      const link = join(root, 'usr/sbin', `${name}${suffix}`);
      rmSync(link, { force: true });
      symlinkSync(`${name}-nft${suffix}`, link);
    }
  }
  mkdirSync(join(root, 'var/spool/cron/crontabs'), { recursive: true });
}
