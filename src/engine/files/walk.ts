// Lists the content of a folder as Salt's file server does: files, folders, empty folders and links.
import { type Dirent, realpathSync } from 'node:fs';
import { readdir, readlink, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { compareText } from '../../base/codec/json/compare-text.ts';
import type { FileLists } from './backend.ts';
import type { Ignored } from './ignore.ts';

export interface WalkRules {
  readonly ignored: Ignored;
  readonly followSymlinks: boolean;
  readonly ignoreSymlinks: boolean;
}

interface Collected {
  readonly files: Set<string>;
  readonly dirs: Set<string>;
  readonly emptyDirs: Set<string>;
  readonly links: Record<string, string>;
}

interface Step {
  readonly root: string;
  readonly realRoot: string;
  /** Below the root; '' is the root itself. */
  readonly rel: string;
  /** Real paths of the folders above, to notice a link that leads back. */
  readonly trail: readonly string[];
}

/** The combined lists of several roots; the same path in two of them counts once. */
export async function walkRoots(roots: readonly string[], rules: WalkRules): Promise<FileLists> {
  const into: Collected = { files: new Set(), dirs: new Set(), emptyDirs: new Set(), links: Object.create(null) };
  for (const root of roots) {
    const realRoot = await realpath(root).catch(() => undefined);
    if (realRoot !== undefined) await walk({ root, realRoot, rel: '', trail: [realRoot] }, rules, into);
  }
  const sorted = (names: Set<string>): string[] => [...names].sort(compareText);
  return { files: sorted(into.files), dirs: sorted(into.dirs), emptyDirs: sorted(into.emptyDirs), links: into.links };
}

async function walk(step: Step, rules: WalkRules, into: Collected): Promise<void> {
  const folder = join(step.root, step.rel);
  for (const entry of await entriesOf(folder)) {
    const rel = step.rel === '' ? entry.name : `${step.rel}/${entry.name}`;
    const full = join(folder, entry.name);
    const isLink = entry.isSymbolicLink();
    const isFolder = isLink ? await leadsToFolder(full) : entry.isDirectory();
    const hidden = (isLink && rules.ignoreSymlinks) || rules.ignored(rel, full);
    if (!hidden) await note({ step, rel, full, isLink, isFolder }, rules, into);
    // Hidden folders are still searched, as in Salt: a rule hides only what it names.
    if (isFolder && (!isLink || rules.followSymlinks)) {
      const real = isLink ? await realpath(full).catch(() => undefined) : join(step.trail.at(-1)!, entry.name);
      // Salt would follow a link to a folder above it forty times.
      if (real === undefined || step.trail.includes(real)) continue;
      await walk({ ...step, rel, trail: [...step.trail, real] }, rules, into);
    }
  }
}

interface Noted {
  readonly step: Step;
  readonly rel: string;
  readonly full: string;
  readonly isLink: boolean;
  readonly isFolder: boolean;
}

async function note({ step, rel, full, isLink, isFolder }: Noted, rules: WalkRules, into: Collected): Promise<void> {
  (isFolder ? into.dirs : into.files).add(rel);
  if (isFolder && (await isEmpty(full))) into.emptyDirs.add(rel);
  if (!isLink) return;
  const target = await readlink(full).catch(() => undefined);
  if (target === undefined) return;
  // Salt: a target that begins with `..` is taken from the link itself, not from its folder, when the check is made.
  const from = target.startsWith('..') ? full : dirname(full);
  const leads = relative(step.realRoot, deepestReal(resolve(from, target)));
  // A link out of the root is not a link for minions if its target is served in its place.
  if (!leads.startsWith('..') || !rules.followSymlinks) into.links[rel] = target;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  // Names that are not UTF-8 are decoded wrongly: they could not be requested.
  return entries.filter((entry) => !entry.name.includes('\uFFFD'));
}

async function leadsToFolder(path: string): Promise<boolean> {
  const target = await stat(path).catch(() => undefined);
  return target?.isDirectory() ?? false;
}

async function isEmpty(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch(() => undefined);
  return names?.length === 0;
}

/** Python's os.path.realpath(): links are followed as far as the path exists, the rest is unchanged. */
function deepestReal(path: string): string {
  const rest: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      return join(realpathSync(at), ...rest);
    } catch {
      if (at === dirname(at)) return path;
      rest.unshift(at.slice(at.lastIndexOf(sep) + 1));
    }
  }
}
