// The operating system: `os`, `osrelease`, `osfinger` and related grains from os-release and LSB files.
import { asText, newDict, type PlainDict } from 'halite/sdk';
import { isFile, readText } from 'halite/sdk/fs';
import { capitalize, lines, words } from 'halite/sdk/text';
import { familyByOs, osByIdAndName, osByShortName } from './os-names.ts';

export type OsRelease = Readonly<Record<string, string>>;

/** Parses os-release text: `KEY=value`, optionally quoted, with shell escapes. */
export function parseOsRelease(text: string): OsRelease {
  const found: Record<string, string> = Object.assign(Object.create(null), {
    NAME: 'Linux',
    ID: 'linux',
    PRETTY_NAME: 'Linux',
  });
  for (const line of lines(text)) {
    const match = /^([a-zA-Z0-9_]+)=('|")?(.*)\2\s*$/.exec(line.trim());
    if (match) found[match[1] as string] = (match[3] ?? '').replace(/\\([$"'\\`])/g, '$1');
  }
  return found;
}

/** Parses /etc/lsb-release into `lsb_distrib_*`. */
export function parseLsbRelease(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const line of lines(text)) {
    const match = /^(DISTRIB_(?:ID|RELEASE|CODENAME|DESCRIPTION))=(?:'|")?([\w\s.\-_]+)(?:'|")?/.exec(line);
    if (match) found[`lsb_${(match[1] as string).toLowerCase()}`] = (match[2] as string).trimEnd();
  }
  return found;
}

/** The `os` grain for a distribution's full name. */
export function deriveOs(fullName: string, id?: string): string {
  const known = id === undefined ? undefined : osByIdAndName[`${id}/${fullName}`];
  if (known) return known;
  const name = fullName.replace(/\W(?:gnu\/)?linux/gi, '').trim();
  const short = name.replaceAll(' ', '').toLowerCase().slice(0, 10);
  return Object.hasOwn(osByShortName, short) ? (osByShortName[short] as string) : name;
}

function familyOf(release: OsRelease): string {
  const id = release['ID'] ?? '';
  const like = release['ID_LIKE'] ? words(release['ID_LIKE']) : [];
  const chain = [id, ...like];
  const oldest =
    like.length === 0 ? id : chain.includes('debian') || chain.includes('ubuntu') ? 'debian' : chain.at(-1);
  return oldest === 'fedora' ? 'RedHat' : capitalize(oldest ?? '');
}

function codenameOf(release: OsRelease): string | null {
  if (release['VERSION_CODENAME']) return release['VERSION_CODENAME'];
  const id = release['ID'] ?? '';
  if (id === 'astra') return release['VARIANT_ID'] ?? null;
  // These two have the code name only in parentheses.
  if (id === 'almalinux' || id === 'rocky')
    return /^\d[\d.+\-a-z]* \((.+)\)/.exec(release['VERSION'] ?? '')?.[1] ?? null;
  return null;
}

function releaseOf(release: OsRelease): string | null {
  if (release['VERSION_ID']) return release['VERSION_ID'];
  return release['ID'] === 'mendel' ? (words(release['PRETTY_NAME'] ?? '')[2] ?? null) : null;
}

/** Parts of a CPE name as SUSE publishes it. */
function cpeParts(cpe: string): { vendor: string; version: string } {
  const parts = cpe.split(':');
  if (parts[1]?.startsWith('/')) return { vendor: parts[2] ?? '', version: parts[4] ?? '' };
  return { vendor: parts[3] ?? '', version: parts[5] === '*' ? '' : (parts[5] ?? '') };
}

function lsbFromOsRelease(grains: PlainDict, release: OsRelease): void {
  grains['lsb_distrib_id'] = (release['NAME'] ?? '').trim();
  if (release['VERSION_ID'] !== undefined) grains['lsb_distrib_release'] = release['VERSION_ID'];
  grains['lsb_distrib_codename'] = release['VERSION_CODENAME'] ?? release['PRETTY_NAME'] ?? '';
  const cpe = release['CPE_NAME'] ? cpeParts(release['CPE_NAME']) : undefined;
  if (cpe && ['suse', 'opensuse'].includes(cpe.vendor.toLowerCase())) {
    grains['os'] = 'SUSE';
    if (release['NAME'] === 'openSUSE Leap') grains['osfullname'] = 'Leap';
    else if (release['VERSION'] === 'Tumbleweed') grains['osfullname'] = 'Tumbleweed';
    if (cpe.version && cpe.vendor === 'opensuse') grains['lsb_distrib_release'] = cpe.version;
  }
  if (release['ID'] === 'mendel') grains['lsb_distrib_release'] = words(release['PRETTY_NAME'] ?? '')[2] ?? '';
}

/** CentOS omits the minor release in os-release; it is in CentOS's own file. */
function centosRelease(codename: string): string | undefined {
  if (!codename.includes('CentOS Linux 7') && !codename.includes('CentOS Linux 8')) return undefined;
  return /\d+\.\d+(?:\.\d+)?/.exec(readText('/etc/centos-release') ?? '')?.[0];
}

const text = (value: unknown): string => asText(value) ?? '';

/**
 * The distribution grains. Salt reads LSB data first and os-release for the rest; the same files
 * are read here so that both give the same names, except that no Python `lsb_release` module is used.
 */
export function distributionGrains(release: OsRelease | undefined, lsb: Record<string, string>): PlainDict {
  const grains = newDict(Object.entries(lsb));
  if (release) {
    grains['os'] = deriveOs(release['NAME'] ?? '', release['ID']);
    grains['os_family'] = familyOf(release);
    grains['oscodename'] = codenameOf(release);
    grains['osfullname'] = (release['NAME'] ?? '').trim();
  }
  if (text(lsb['lsb_distrib_description']).toLowerCase().startsWith('antergos'))
    grains['osfullname'] = 'Antergos Linux';
  else if (!lsb['lsb_distrib_id'] && release) lsbFromOsRelease(grains, release);
  if (!('osfullname' in grains)) {
    const id = text(grains['lsb_distrib_id']);
    grains['osfullname'] = id.toLowerCase().startsWith('nilrt') ? 'nilrt' : id.trim();
  }
  const codename = text(grains['lsb_distrib_codename']);
  const centos = isFile('/etc/centos-release') ? centosRelease(codename) : undefined;
  if (centos) delete grains['lsb_distrib_release'];
  grains['osrelease'] = centos ?? (text(grains['lsb_distrib_release']).trim() || (release && releaseOf(release)) || '');
  bracketedCodename(grains);
  const own = grains['oscodename'];
  grains['oscodename'] = text(grains['lsb_distrib_codename']).trim() || text(own);
  if (text(grains['oscodename']).includes('Red Hat')) grains['oscodename'] = redHatCodename(release);
  grains['os'] ??= deriveOs(text(grains['osfullname']));
  grains['os_family'] = familyByOs.get(text(grains['os'])) ?? grains['os'] ?? '';
  return grains;
}

function bracketedCodename(grains: PlainDict): void {
  const os = text(grains['os']);
  if (!['Rocky', 'AlmaLinux', 'AstraLinuxSE'].some((name) => os.includes(name))) return;
  const inside = /\(([^)]*)\)?/.exec(text(grains['lsb_distrib_codename']))?.[1];
  if (inside === undefined) return;
  grains['lsb_distrib_codename'] = os === 'AstraLinuxSE' ? (words(inside)[0] ?? '').toLowerCase() : inside;
}

function redHatCodename(release: OsRelease | undefined): string {
  return /\(([^)]+)\)/.exec(release?.['VERSION'] ?? '')?.[1] ?? '';
}

/** Derives `osrelease_info`, `osmajorrelease` and `osfinger` from the other grains. */
export function releaseGrains(os: string, fullName: string, release: string): PlainDict {
  const info = release.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  const grains = newDict([['osrelease_info', info]]);
  if (/^\d+$/.test(String(info[0]))) grains['osmajorrelease'] = Number(info[0]);
  const name = ['Debian', 'FreeBSD', 'OpenBSD', 'NetBSD', 'Mac', 'Raspbian'].includes(os) ? os : fullName;
  grains['osfinger'] = `${name}-${os === 'Ubuntu' || os === 'Pop' ? release : info[0]}`;
  return grains;
}

/** Reads this machine's files. */
export function readDistribution(): PlainDict {
  const source = readText('/etc/os-release') ?? readText('/usr/lib/os-release');
  const grains = distributionGrains(
    source === undefined ? undefined : parseOsRelease(source),
    parseLsbRelease(readText('/etc/lsb-release') ?? ''),
  );
  return grains;
}
