// Builds the wanted tree beside the served one, checks it, and puts it into its place by renaming. Whatever ends this, the
// served tree is the old one or the new one; what was fetched stays beside it for the next try.
import { constants, existsSync, renameSync } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, open, readdir, realpath, rename, rm, statfs, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import { isDigest, type Manifest, type TreeFile } from './manifest.ts';
import { changesOf, isUnchanged, type ReadTree, readFileFacts, readTree, type TreeChanges } from './tree.ts';

/** Left on the disk, whatever is fetched. */
const reserveBytes = 32 * 1024 * 1024;
/** What a folder entry and the rest of a block take. */
const bytesPerEntry = 4096;

/** Gives the content of files by their digests, each in its parts and in order. */
export type Fetch = (
  digests: readonly string[],
  part: (digest: string, bytes: Uint8Array) => Promise<void>,
) => Promise<void>;

const placesOf = (root: string) => {
  const at = (suffix: string): string => join(dirname(root), `.${basename(root)}.halite-${suffix}`);
  return { work: at('sync'), objects: join(at('sync'), 'objects'), tree: join(at('sync'), 'tree'), ready: at('ready') };
};
/** The tree as it was before the last change. */
export const beforeOf = (root: string): string => join(dirname(root), `.${basename(root)}.halite-before`);

/** A process that ended between the two renames left no tree in its place: it is put there. */
export function finishSwitch(root: string): 'new' | 'old' | undefined {
  const { work, ready } = placesOf(root);
  if (existsSync(root) || !existsSync(work)) return undefined;
  for (const [from, which] of [
    [ready, 'new'],
    [beforeOf(root), 'old'],
  ] as const) {
    if (!existsSync(from)) continue;
    renameSync(from, root);
    return which;
  }
  return undefined;
}

/** The folder itself, and not a link to it. */
export async function realRoot(folder: string): Promise<string> {
  const parent = (): Promise<string> => realpath(dirname(folder)).catch(() => dirname(folder));
  return realpath(folder).catch(async () => join(await parent(), basename(folder)));
}

/** Undefined when the folder may be replaced, otherwise why not. */
async function reasonAgainst(root: string, others: readonly string[]): Promise<string | undefined> {
  const parent = dirname(root);
  const around = others.find((other) => parent === other || parent.startsWith(`${other}/`));
  if (around !== undefined) return `it lies inside ${around}, which is served too`;
  const inside = others.find((other) => other.startsWith(`${root}/`));
  if (inside !== undefined) return `${inside}, which is served too, lies inside it`;
  const [own, above] = await Promise.all([lstat(root).catch(() => undefined), lstat(parent).catch(() => undefined)]);
  if (!own || !above) return undefined;
  if (!own.isDirectory()) return 'it is no folder';
  if (own.dev !== above.dev || own.ino === above.ino) return 'it is a mount point, which cannot be renamed';
  if (existsSync(join(root, '.git'))) return 'it is a checkout of git there: use git on it';
  return undefined;
}

export interface Wanted {
  readonly root: string;
  readonly manifest: Manifest;
  /** The other folders that are served. */
  readonly others: readonly string[];
  readonly dryRun: boolean;
  readonly fetch: Fetch;
  readonly signal: AbortSignal;
}

export async function replaceTree(wanted: Wanted): Promise<TreeChanges> {
  const { root, manifest, others, dryRun, signal } = wanted;
  const why = await reasonAgainst(root, others);
  if (why !== undefined) throw new HaliteError('cluster.refused', `${root} is not replaced: ${why}`);
  const now = await currentTree(root, signal);
  const changes = changesOf(now, manifest);
  if (dryRun || isUnchanged(changes)) return changes;
  try {
    await stage(wanted, now);
    await exchange(root, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    await rm(placesOf(root).work, { recursive: true, force: true });
    throw new HaliteError('cluster.refused', `${root} keeps its old content: the disk is full`, {
      hint: 'Make room there, and call this again.',
    });
  }
  return changes;
}

async function currentTree(root: string, signal: AbortSignal): Promise<ReadTree> {
  if (!existsSync(root)) return { files: [], folders: [], unfit: [] };
  return readTree(root, signal);
}

async function stage({ root, manifest, fetch, signal }: Wanted, now: ReadTree): Promise<void> {
  const { work, objects, tree, ready } = placesOf(root);
  await mkdir(dirname(root), { recursive: true });
  await mkdir(work, { recursive: true, mode: 0o700 });
  await mkdir(objects, { recursive: true, mode: 0o700 });
  for (const path of [tree, ready]) await rm(path, { recursive: true, force: true });
  const kept = await checkedObjects(objects, new Set(manifest.files.map(({ digest }) => digest)));
  const here = new Map(now.files.map(({ digest, path }) => [digest, join(root, path)]));
  const missing = new Map(manifest.files.filter((f) => !here.has(f.digest) && !kept.has(f.digest)).map(byDigest));
  await checkRoom(work, manifest, [...missing.values()]);
  await fetchObjects(objects, missing, fetch, signal);
  await build({ manifest, tree, source: (digest) => here.get(digest) ?? join(objects, digest), signal });
  await check(tree, manifest, signal);
  const mode = existsSync(root) ? (await lstat(root)).mode & 0o7777 : 0o755;
  await chmod(tree, mode);
  await rename(tree, ready);
}

const byDigest = (file: TreeFile): [string, TreeFile] => [file.digest, file];

/** What an earlier try fetched; the rest of it is removed. */
async function checkedObjects(objects: string, wanted: ReadonlySet<string>): Promise<Set<string>> {
  const kept = new Set<string>();
  for (const name of await readdir(objects)) {
    const path = join(objects, name);
    const fits = isDigest(name) && wanted.has(name) && (await readFileFacts(path)).digest === name;
    if (fits) kept.add(name);
    else await rm(path, { recursive: true, force: true });
  }
  return kept;
}

async function checkRoom(work: string, manifest: Manifest, missing: readonly TreeFile[]): Promise<void> {
  const sum = (files: readonly TreeFile[]): number =>
    files.reduce((bytes, { size }) => bytes + size + bytesPerEntry, 0);
  // The fetched ones exist twice until the tree is in its place.
  const needed = sum(manifest.files) + sum(missing) + manifest.folders.length * bytesPerEntry + reserveBytes;
  const { bavail, bsize } = await statfs(work);
  if (needed <= bavail * bsize) return;
  const mb = (bytes: number): string => `${Math.ceil(bytes / (1024 * 1024))} MB`;
  throw new HaliteError(
    'cluster.refused',
    `There is not enough room beside the tree: ${mb(needed)} are needed, ${mb(bavail * bsize)} are free`,
    { hint: 'Make room there, and call this again.' },
  );
}

async function fetchObjects(
  objects: string,
  missing: ReadonlyMap<string, TreeFile>,
  fetch: Fetch,
  signal: AbortSignal,
): Promise<void> {
  if (missing.size === 0) return;
  const got = new Map<string, number>();
  for (const batch of batchesOf([...missing.values()])) {
    signal.throwIfAborted();
    for (const { digest } of batch) await rm(join(objects, `${digest}.part`), { force: true });
    await fetch(
      batch.map(({ digest }) => digest),
      async (digest, bytes) => {
        const file = missing.get(digest);
        const sum = (got.get(digest) ?? 0) + bytes.length;
        got.set(digest, sum);
        if (!file || sum > file.size)
          throw new HaliteError('cluster.refused', 'The other master sends more than it said');
        const handle = await open(join(objects, `${digest}.part`), 'a', 0o600);
        await handle.writeFile(bytes).finally(() => handle.close());
      },
    );
    for (const { digest, path } of batch) {
      const part = join(objects, `${digest}.part`);
      const { digest: found } = await readFileFacts(part).catch(() => ({ digest: '' }));
      if (found !== digest)
        throw new HaliteError('cluster.refused', `The content of ${path} is not what was announced`);
      await rename(part, join(objects, digest));
    }
  }
}

const mostInBatch = 64;
const batchBytes = 32 * 1024 * 1024;

function batchesOf(files: readonly TreeFile[]): TreeFile[][] {
  const batches: TreeFile[][] = [];
  let [batch, bytes]: [TreeFile[], number] = [[], 0];
  for (const file of files) {
    if (batch.length > 0 && (batch.length >= mostInBatch || bytes + file.size > batchBytes)) {
      batches.push(batch);
      [batch, bytes] = [[], 0];
    }
    batch.push(file);
    bytes += file.size;
  }
  return batch.length > 0 ? [...batches, batch] : batches;
}

interface Plan {
  readonly manifest: Manifest;
  readonly tree: string;
  readonly signal: AbortSignal;
  source(digest: string): string;
}

/** Copies, so that the old tree stays what it was, whoever writes into the new one. */
async function build({ manifest, tree, source, signal }: Plan): Promise<void> {
  await mkdir(tree, { mode: 0o700 });
  for (const { path } of manifest.folders) await mkdir(join(tree, path), { recursive: true, mode: 0o700 });
  for (const { path, digest, mode, mtimeMs } of manifest.files) {
    signal.throwIfAborted();
    const target = join(tree, path);
    await copyFile(source(digest), target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    await utimes(target, mtimeMs / 1000, mtimeMs / 1000);
    await chmod(target, mode);
  }
  for (const { path, mode } of [...manifest.folders].reverse()) await chmod(join(tree, path), mode);
}

/** Every byte is read again, from what will be served. */
async function check(tree: string, manifest: Manifest, signal: AbortSignal): Promise<void> {
  for (const { path, digest } of manifest.files) {
    signal.throwIfAborted();
    const found = await readFileFacts(join(tree, path), { sync: true });
    if (found.digest !== digest) throw new HaliteError('cluster.refused', `${path} changed while it was copied`);
  }
}

async function exchange(root: string, signal: AbortSignal): Promise<void> {
  const { work, ready } = placesOf(root);
  const before = beforeOf(root);
  signal.throwIfAborted();
  await rm(before, { recursive: true, force: true });
  // From here on to the end without a pause: between these two there is no tree in its place.
  try {
    if (existsSync(root)) renameSync(root, before);
    renameSync(ready, root);
  } catch (error) {
    finishSwitch(root);
    throw new HaliteError('cluster.refused', `${root} cannot be replaced: ${messageOf(error)}`);
  }
  await rm(work, { recursive: true, force: true });
}
