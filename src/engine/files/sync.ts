// Copies the extensions of users from the file server (`salt://_modules`, `_states`, …) to the folders of the loader.
import { mkdir, readdir, readFile, rm, rmdir, unlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { dictGet, isDict, type Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import { stripTypes } from '../../base/util/strip-types.ts';
import type { FileClient, SyncOptions, SyncReport } from '../../extend/sdk/index.ts';
import { placeFile } from './client/place.ts';
import { cleanRelative } from './paths.ts';

export interface SyncParts {
  readonly client: FileClient;
  readonly opts: Readonly<Record<string, Value>>;
  readonly log: { warn(message: string, fields?: Readonly<Record<string, unknown>>): void };
}

interface Source {
  /** `folder.name`, as Salt reports it. */
  readonly name: string;
  readonly path: string;
  readonly url: string;
}

/** The files of the file server, requested once for all kinds. */
interface Listed extends SyncParts {
  list(saltenv: string): Promise<readonly string[]>;
}

/** What Python or an editor left beside the sources. Everything else is fetched, as by Salt: packages need their data. */
const leftover = /(?:\.pyc|\.pyo|\.d\.ts|~)$|(?:^|\/)__pycache__\//;

/** Updates `kinds` (`modules`, `states`, `output`, …); files that are no longer on the file server are removed. */
export async function syncExtensions(
  parts: SyncParts,
  kinds: readonly string[],
  options: SyncOptions = {},
): Promise<SyncReport> {
  const synced: Record<string, readonly string[]> = Object.create(null);
  const problems: string[] = [];
  const lists = new Map<string, Promise<readonly string[]>>();
  const list = (saltenv: string): Promise<readonly string[]> => {
    const known = lists.get(saltenv) ?? parts.client.list('files', saltenv, '_');
    lists.set(saltenv, known);
    return known;
  };
  let touched = false;
  for (const kind of kinds) {
    const result = await syncKind({ ...parts, list }, kind, options, problems);
    synced[kind] = result.synced;
    touched ||= result.touched;
  }
  for (const problem of problems) parts.log.warn('extension not synced', { problem });
  return { synced, touched, problems };
}

async function syncKind(
  parts: Listed,
  kind: string,
  options: SyncOptions,
  problems: string[],
): Promise<{ synced: string[]; touched: boolean }> {
  if (cleanRelative(kind) !== kind || kind.includes('/')) {
    problems.push(`${kind} is not a kind of extension`);
    return { synced: [], touched: false };
  }
  const folder = join(String(parts.opts['extension_modules'] ?? ''), kind);
  const sources = await findSources(parts, kind, options);
  const synced: string[] = [];
  let broken = false;
  for (const [rel, source] of sources) {
    try {
      if (await copyIfNew(source, join(folder, rel))) synced.push(`${kind}.${source.name}`);
    } catch (error) {
      const problem = `${source.url}: ${messageOf(error)}`;
      problems.push(problem);
      // Where the disk is the reason, it cannot be left there either.
      broken = (await saveReason(join(folder, rel), problem).catch(() => false)) || broken;
    }
  }
  const clean = parts.opts['clean_dynamic_modules'] !== false;
  const removed = clean && (await removeOthers(folder, new Set(sources.keys())));
  return { synced, touched: synced.length > 0 || broken || removed };
}

/** The destination and source of each extension; a later environment takes precedence over an earlier one. */
async function findSources(parts: Listed, kind: string, options: SyncOptions): Promise<Map<string, Source>> {
  const sources = new Map<string, Source>();
  const allowed = nameTest(kind, options.whitelist ?? parts.opts['extmod_whitelist'] ?? null, true);
  const denied = nameTest(kind, options.blacklist ?? parts.opts['extmod_blacklist'] ?? null, false);
  for (const saltenv of options.saltenv ?? ['base']) {
    for (const path of await parts.list(saltenv)) {
      if (!path.startsWith(`_${kind}/`) || leftover.test(path)) continue;
      const rel = path.slice(kind.length + 2);
      const name = rel.replace(/\.\w+$/, '').replaceAll('/', '.');
      if (!allowed(name) || denied(name)) continue;
      const url = `salt://${path}`;
      const cached = await parts.client.cacheFile(url, { saltenv });
      if (cached !== '') sources.set(rel.replace(/\.ts$/, '.mjs'), { name, path: cached, url });
    }
  }
  return sources;
}

/** `{modules: [a, b]}` or, for the one kind that is synced, `a,b`. */
function nameTest(kind: string, list: Value, otherwise: boolean): (name: string) => boolean {
  const named = isDict(list) ? dictGet(list, kind) : list || undefined;
  if (named === undefined) return () => otherwise;
  const names = Array.isArray(named) ? named.map(String) : String(named).split(',');
  return (name) => names.includes(name);
}

const reasonMark = 'Could not be synced.';

/**
 * Instead of a file that cannot be used, one that throws the reason: a call of one of its functions says it then. An
 * earlier version that works stays. True when the file changed.
 */
async function saveReason(dest: string, problem: string): Promise<boolean> {
  const existing = await readFile(dest, 'utf8').catch(() => undefined);
  const [mark, throws] = dest.endsWith('.py') ? ['# ', 'raise ImportError'] : ['// ', 'throw new Error'];
  const content = `${mark}${reasonMark}\n${throws}(${JSON.stringify(problem)})\n`;
  if (existing === content || (existing !== undefined && !existing.includes(reasonMark))) return false;
  return write(dest, Buffer.from(content), existing !== undefined);
}

async function copyIfNew(source: Source, dest: string): Promise<boolean> {
  const bytes = await readFile(source.path);
  const content = source.path.endsWith('.ts') ? Buffer.from(await stripTypes(bytes.toString('utf8'))) : bytes;
  const existing = await readFile(dest).catch(() => undefined);
  if (existing?.equals(content)) return false;
  return write(dest, content, existing !== undefined);
}

async function write(dest: string, content: Buffer, exists: boolean): Promise<true> {
  await mkdir(dirname(dest), { recursive: true, mode: 0o700 });
  if (!exists) await rm(dest, { recursive: true, force: true });
  await placeFile({ dest, mode: 0o600, resumable: false }, async ({ handle }) => handle.writeFile(content));
  return true;
}

/** Removes files that are not on the file server, and folders that are then empty. */
async function removeOthers(folder: string, keep: ReadonlySet<string>): Promise<boolean> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  let removed = false;
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    // What Python compiled is of no use without its source, but does no harm: removing it would count as a change.
    if (entry.isDirectory() || entry.parentPath.endsWith('/__pycache__') || keep.has(relative(folder, path))) continue;
    await unlink(path);
    removed = true;
  }
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  // Deepest first; a folder that is not empty stays.
  for (const path of folders.sort((a, b) => b.length - a.length)) await rmdir(path).catch(() => undefined);
  return removed;
}
