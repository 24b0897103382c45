// Beacon `inotify`: changes of files and folders.
import {
  asList,
  type BeaconContext,
  defineBeacon,
  fieldOf,
  isDict,
  newDict,
  type PlainDict,
  pyStr,
  type Value,
} from 'halite/sdk';
import { matchesGlob, pyRegex, pyRegexSearch } from 'halite/sdk/text';
import type { FileChange } from './shared/file-changes.ts';
import { PathWatch } from './shared/path-watch.ts';
import { entriesOf } from './shared/settings.ts';

const masks = [
  ...['access', 'attrib', 'close_nowrite', 'close_write', 'create', 'delete', 'delete_self', 'excl_unlink', 'ignored'],
  ...['modify', 'moved_from', 'moved_to', 'move_self', 'oneshot', 'onlydir', 'open', 'unmount'],
];
const usualMask = ['create', 'delete', 'modify'];
/** Node reports changes of files, but not read access. */
const unseen = ['access', 'close_nowrite', 'open'];

function maskOf(settings: Value): string[] {
  const mask = fieldOf(settings, 'mask');
  return Array.isArray(mask) ? mask.map((item) => pyStr(item)) : usualMask;
}

/** Texts of `exclude`, and whether they are regular expressions. */
function excludesOf(settings: Value): [text: string, isRegex: boolean][] {
  const list = fieldOf(settings, 'exclude');
  return (asList(list) ?? []).map((item): [string, boolean] => {
    const [named] = entriesOf(item);
    return named ? [named[0], fieldOf(named[1], 'regex') === true] : [pyStr(item), false];
  });
}

function pathProblem(path: string, settings: Value): string | undefined {
  if (!isDict(settings)) return 'Configuration for inotify beacon must be a list of dictionaries.';
  const given = entriesOf(settings).map(([key]) => key);
  if (!given.some((key) => ['mask', 'recurse', 'auto_add'].includes(key)))
    return 'Configuration for inotify beacon must contain mask, recurse or auto_add items.';
  for (const key of ['auto_add', 'recurse']) {
    const value = fieldOf(settings, key);
    if (value !== undefined && typeof value !== 'boolean')
      return `Configuration for inotify beacon ${key} must be boolean.`;
  }
  const mask = fieldOf(settings, 'mask');
  if (mask !== undefined && !Array.isArray(mask)) return 'Configuration for inotify beacon mask must be list.';
  const bad = maskOf(settings).find((item) => !masks.includes(item));
  if (bad !== undefined) return `Configuration for inotify beacon invalid mask option ${bad}.`;
  if (maskOf(settings).every((item) => unseen.includes(item)))
    return `Configuration for inotify beacon mask of ${path}: ${unseen.join(', ')} cannot be observed.`;
  try {
    for (const [text, isRegex] of excludesOf(settings)) if (isRegex) pyRegexSearch(text);
  } catch {
    return `Configuration for inotify beacon exclude of ${path} holds a regular expression that is not valid.`;
  }
  return undefined;
}

function validate({ files }: PlainDict): string | undefined {
  if (files === undefined) return 'Configuration for inotify beacon must include files.';
  if (!isDict(files)) return 'Configuration for inotify beacon invalid, files must be a dict.';
  for (const [path, settings] of entriesOf(files)) {
    const problem = pathProblem(path, settings);
    if (problem) return problem;
  }
  return undefined;
}

function isExcluded(path: string, settings: Value): boolean {
  return excludesOf(settings).some(([text, isRegex]) => {
    if (isRegex) return pyRegexSearch(text).test(path);
    return text.includes('*') ? matchesGlob(path, text) : path.startsWith(text);
  });
}

/** The same patterns exclude folders, as regular expressions where they are ones. */
function skips(settings: Value): (path: string) => boolean {
  const patterns = excludesOf(settings).flatMap(([text]) => {
    try {
      return [pyRegex(text)];
    } catch {
      return [];
    }
  });
  return (path) => patterns.some((pattern) => pattern.test(path));
}

function watchOf(path: string, settings: Value): PathWatch {
  const mask = maskOf(settings);
  return new PathWatch(path, {
    wanted: new Set(mask),
    recurse: fieldOf(settings, 'recurse') === true,
    autoAdd: fieldOf(settings, 'auto_add') === true,
    onlyFolders: mask.includes('onlydir'),
    skips: skips(settings),
  });
}

const told = ({ folder, path, name, isDir }: FileChange): PlainDict =>
  newDict(Object.entries({ tag: folder, path, change: `IN_${name.toUpperCase()}${isDir ? '|IN_ISDIR' : ''}` }));

/** Removes duplicate events of a batch. */
function coalesced(events: PlainDict[]): PlainDict[] {
  const keys = events.map((event) => `${pyStr(event['path'] ?? '')}\0${pyStr(event['change'] ?? '')}`);
  return events.filter((_, at) => keys.indexOf(keys[at] as string) === at);
}

async function open(settings: PlainDict, ctx: BeaconContext) {
  // A folder's name is the same with and without a slash at its end.
  const files = entriesOf(settings['files']).map(([path, of]) => [path.replace(/(?<=.)\/+$/, ''), of] as const);
  const hidden = unseen.filter((mask) => files.some(([, of]) => maskOf(of).includes(mask)));
  if (hidden.length > 0)
    ctx.log.warn(`The beacon ${ctx.name} tells changes only, and nothing about ${hidden.join(', ')}`);
  const watches = files.map(([path, of]) => ({ of, watch: watchOf(path, of) }));
  await Promise.all(watches.map(({ watch }) => watch.start()));
  return {
    async read(): Promise<PlainDict[]> {
      const found: PlainDict[] = [];
      for (const { of, watch } of watches)
        found.push(...(await watch.take()).filter(({ path }) => !isExcluded(path, of)).map(told));
      return settings['coalesce'] === true ? coalesced(found) : found;
    },
    close() {
      for (const { watch } of watches) watch.close();
    },
  };
}

export default defineBeacon({
  name: 'inotify',
  doc: 'Sends an event when files and folders are created, deleted, modified, moved or closed after writing, or change attributes.',
  examples: [
    'inotify:\n  - files:\n      /etc/important_file:\n        mask: [modify]\n      /opt:\n        mask: [create, close_write]\n        recurse: True\n        auto_add: True\n        exclude:\n          - /opt/cache\n          - /opt/.*~$:\n              regex: True\n  - disable_during_state_run: True',
  ],
  validate,
  open,
});
