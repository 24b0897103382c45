// Tools that states drive and a small machine lacks: taken from Debian's packages once, kept as a layer for test runs.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

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

const cache = process.env['HALITE_TEST_CACHE'] ?? join(homedir(), '.cache', 'halite-test');

let made: string | undefined | false = false;

/** The folder of the layer; undefined where the packages cannot be had. */
export function disposableTools(): string | undefined {
  if (made === false) made = layer();
  return made;
}

function layer(): string | undefined {
  const folder = join(cache, `tools-${edition}`);
  const marker = join(folder, '.complete');
  if (existsSync(marker)) return folder;
  const work = join(cache, `tools-${edition}.${process.pid}`);
  const files = join(work, 'packages');
  mkdirSync(files, { recursive: true });
  try {
    if (!download(files)) return undefined;
    for (const name of readdirSync(files)) {
      if (spawnSync('dpkg', ['-x', join(files, name), work]).status !== 0) return undefined;
    }
    rmSync(files, { recursive: true });
    arrange(work);
    writeFileSync(join(work, '.complete'), '');
    rmSync(folder, { recursive: true, force: true });
    renameSync(work, folder);
    return folder;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The packages with what they need that is not installed. */
function download(folder: string): boolean {
  const ask = ['install', '--print-uris', '--reinstall', '-y', '-qq', '--no-install-recommends', ...packages];
  const listed = spawnSync('apt-get', ask, { encoding: 'utf8' });
  if (listed.status !== 0) return false;
  const urls = [...listed.stdout.matchAll(/^'([^']+)'/gm)].map((match) => match[1] ?? '');
  const got = spawnSync('curl', ['-fsS', '--max-time', '120', '--remote-name-all', ...urls], { cwd: folder });
  return got.status === 0 && readdirSync(folder).length === urls.length;
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
