// Which release of Salt's Python library is installed here: it decides how the event socket frames its events.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { EventFraming } from '../../protocol/wire/event-socket/frames.ts';

/** Where packages of Salt and of the distribution put their libraries; below each is a folder per Python version. */
const places = ['/opt/saltstack/salt/lib', '/usr/lib', '/usr/local/lib'];
const mostPythons = 50;
const release = /^salt-(\d{4})\.(\d+)(?:\.\d+)*(?:[a-z0-9.+-]*)\.(?:dist-info|egg-info)$/;

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The versions found, each once. */
export function installedVersions(roots: readonly string[] = places): string[] {
  const found = new Set<string>();
  for (const root of roots) {
    const pythons = namesIn(root).filter((name) => /^python3(\.\d+)?$/.test(name));
    for (const python of pythons.slice(0, mostPythons)) {
      for (const kind of ['site-packages', 'dist-packages']) {
        const folder = join(root, python, kind);
        if (!existsSync(join(folder, 'salt'))) continue;
        for (const name of namesIn(folder)) {
          const [, major, minor] = release.exec(name) ?? [];
          if (major !== undefined) found.add(`${major}.${minor}`);
        }
      }
    }
  }
  return [...found].sort();
}

/** 3006.26 and later 3006 releases put a length before each event; no other release does. */
export function framingOf(version: string): EventFraming {
  const [major, minor] = version.split('.').map(Number);
  return major === 3006 && (minor ?? 0) >= 26 ? 'length' : 'stream';
}
