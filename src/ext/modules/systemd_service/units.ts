// Units on disk: systemd's folders, init scripts, links.

import { join } from 'node:path';
import { compareText } from 'halite/sdk/codec';
import { accessSync, constants, listDir, lstatSync, readdirSync, readlinkSync, readText } from 'halite/sdk/fs';

const unitTypes = ['service', 'socket', 'device', 'mount', 'automount', 'swap', 'target', 'path', 'timer'];
const unitFolders = ['/lib/systemd/system', '/usr/lib/systemd/system', '/etc/systemd/system'];

const under = (root: string | null, path: string): string => (root ? join(root, path) : path);

/** `nginx` → `nginx.service`; names with a type stay. */
export function unitName(name: string): string {
  return unitTypes.some((type) => name.endsWith(type)) ? name : `${name}.service`;
}

/** How Salt names a unit: services without their ending; undefined for other things. */
export function shortName(unit: string): string | undefined {
  const dot = unit.lastIndexOf('.');
  const type = unit.slice(dot + 1);
  if (dot < 0 || !unitTypes.includes(type)) return undefined;
  return type === 'service' ? unit.slice(0, dot) : unit;
}

function isPlainFolder(path: string): boolean {
  try {
    return !lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

function systemdUnits(root: string | null): Set<string> {
  const found = new Set<string>();
  for (const folder of unitFolders.map((path) => under(root, path)).filter(isPlainFolder)) {
    for (const name of listDir(folder).map(shortName)) if (name !== undefined) found.add(name);
  }
  return found;
}

/** Init scripts that no unit replaces. */
export function initScripts(root: string | null, units = systemdUnits(root)): string[] {
  const folder = under(root, '/etc/init.d');
  return listDir(folder).filter((name) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return !units.has(name);
    } catch {
      return false;
    }
  });
}

export const sorted = (names: Iterable<string>): string[] => [...new Set(names)].sort(compareText);

export const allServices = (root: string | null): string[] => {
  const units = systemdUnits(root);
  return sorted([...units, ...initScripts(root, units)]);
};

function runlevel(): string {
  return /^[^#\n]*:(\d):initdefault/m.exec(readText('/etc/inittab') ?? '')?.[1] ?? '2';
}

/** Whether an init script starts in the default run level. */
export function scriptEnabled(name: string, root: string | null, level = runlevel()): boolean {
  return listDir(under(root, `/etc/rc${level}.d`)).some(
    (link) => /^S\d{0,2}/.test(link) && link.replace(/^S\d{0,2}/, '') === name,
  );
}

export function isMasked(name: string, runtime: boolean, root: string | null): boolean {
  try {
    return readlinkSync(join(under(root, runtime ? '/run' : '/etc'), 'systemd/system', unitName(name))) === '/dev/null';
  } catch {
    return false;
  }
}

/** Whether a link of that name exists anywhere below systemd's local folder (instances of templates). */
export function isLinked(name: string): boolean {
  try {
    return readdirSync('/etc/systemd/system', { recursive: true, withFileTypes: true }).some(
      (entry) => entry.name === name && entry.isSymbolicLink(),
    );
  } catch {
    return false;
  }
}
