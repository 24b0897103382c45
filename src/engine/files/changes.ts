// Which files of the roots were added, removed or changed since the last check, for the event
// `salt/fileserver/roots/update`.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import type { Ignored } from './ignore.ts';

/** Full path → time of the last change. */
export type Times = ReadonlyMap<string, number>;

export async function readTimes(roots: Iterable<string>, ignored: Ignored): Promise<Times> {
  const times = new Map<string, number>();
  for (const root of roots) {
    const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isDirectory() || ignored(path.slice(root.length + 1), path)) continue;
      const found = await stat(path).catch(() => undefined);
      if (found) times.set(path, found.mtimeMs);
    }
  }
  return times;
}

export function describeChanges(before: Times, after: Times): PlainDict {
  const changed = [...after].filter(([path, time]) => before.has(path) && before.get(path) !== time);
  const added = [...after.keys()].filter((path) => !before.has(path));
  const removed = [...before.keys()].filter((path) => !after.has(path));
  const files = newDict(Object.entries({ changed: changed.map(([path]) => path), removed, added }));
  const any = changed.length + added.length + removed.length > 0;
  return newDict(Object.entries({ changed: any, files, backend: 'roots' }));
}
