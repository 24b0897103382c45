// Beacon `watchdog`: changes in folders, with fewer kinds of events than `inotify`.
import { defineBeacon, fieldOf, isDict, newDict, type PlainDict, type Value } from 'halite/sdk';
import type { FileChange } from './shared/file-changes.ts';
import { PathWatch } from './shared/path-watch.ts';
import { entriesOf } from './shared/settings.ts';

const words = { create: 'created', modify: 'modified', delete: 'deleted', move: 'moved' } as const;
type Mask = keyof typeof words;
const seen: Readonly<Partial<Record<FileChange['name'], Mask>>> = {
  create: 'create',
  moved_to: 'create',
  modify: 'modify',
  attrib: 'modify',
  delete: 'delete',
  moved_from: 'move',
};

const maskOf = (settings: Value): Mask[] => {
  const mask = fieldOf(settings, 'mask');
  return Array.isArray(mask) ? (mask as Mask[]) : (Object.keys(words) as Mask[]);
};

function validate({ directories }: PlainDict): string | undefined {
  if (directories === undefined) return 'Configuration for watchdog beacon must include directories.';
  if (!isDict(directories)) return 'Configuration for watchdog beacon directories must be a dictionary.';
  for (const [, settings] of entriesOf(directories)) {
    if (!isDict(settings)) return 'Configuration for watchdog beacon directory path must be a dictionary.';
    const mask = fieldOf(settings, 'mask');
    if (mask === undefined) continue;
    if (!Array.isArray(mask)) return 'Configuration for watchdog beacon mask must be list.';
    if (mask.some((item) => typeof item !== 'string' || !Object.hasOwn(words, item)))
      return 'Configuration for watchdog beacon contains invalid mask';
  }
  return undefined;
}

const event = (path: string, mask: Mask): PlainDict =>
  newDict(Object.entries({ tag: 'watchdog', path, change: words[mask] }));

/** A moved file is reported once, with its old path; a change in a folder also modifies the folder. */
function told(changes: readonly FileChange[], mask: readonly Mask[]): PlainDict[] {
  const moves = changes.filter(({ name }) => name === 'moved_from').length;
  let arrivals = moves;
  const found: PlainDict[] = [];
  for (const { folder, path, name } of changes) {
    if (name === 'moved_to' && arrivals-- > 0) continue;
    const what = seen[name];
    if (!what) continue;
    if (mask.includes(what)) found.push(event(path, what));
    if (what !== 'modify' && mask.includes('modify')) found.push(event(folder, 'modify'));
  }
  return found;
}

export default defineBeacon({
  name: 'watchdog',
  doc: 'Sends an event when something is created, modified, deleted or moved in a folder; sub-folders are not watched.',
  examples: ['watchdog:\n  - directories:\n      /path/to/dir:\n        mask: [create, modify, delete, move]'],
  validate,
  async open(settings) {
    const watches = entriesOf(settings['directories']).map(([path, of]) => ({
      mask: maskOf(of),
      watch: new PathWatch(path.replace(/(?<=.)\/+$/, ''), {
        wanted: new Set(Object.keys(seen)),
        ...{ recurse: false, autoAdd: false, onlyFolders: true, skips: () => false },
      }),
    }));
    await Promise.all(watches.map(({ watch }) => watch.start()));
    return {
      async read() {
        const found: PlainDict[] = [];
        for (const { mask, watch } of watches) found.push(...told(await watch.take(), mask));
        return found;
      },
      close() {
        for (const { watch } of watches) watch.close();
      },
    };
  },
});
