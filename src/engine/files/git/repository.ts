// A local copy of one remote repository: fetched, read by reference, and extracted as files by commit.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import { BlobStore } from './blobs.ts';
import { runGit } from './cli.ts';
import type { RemoteAccess } from './config.ts';
import { isHex, noRefs, type Refs } from './environments.ts';
import { withFolderLock } from './folder-lock.ts';
import { belowRoot, folderBehind, isLink, parseTree, resolveEntry, type TreeEntry, type TreeIndex } from './tree.ts';

export interface RepositoryOptions {
  /** Its own folder, created when it is missing. */
  readonly folder: string;
  readonly url: string;
  readonly refspecs: readonly string[];
  readonly access: RemoteAccess;
}

const fetchTimeoutMs = 600_000;
const treeGraceMs = 600_000;
const maxRemembered = 500;

export class GitRepository {
  readonly blobs: BlobStore;
  readonly #options: RepositoryOptions;
  readonly #gitDir: string;
  readonly #indexes = new Map<string, Promise<TreeIndex>>();
  readonly #prepared = new Map<string, Promise<TreeIndex>>();
  #commits: Promise<readonly string[]> | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  readonly #links = new Map<string, string>();
  refs: Refs = noRefs;

  constructor(options: RepositoryOptions) {
    this.#options = options;
    this.#gitDir = join(options.folder, 'repository.git');
    this.blobs = new BlobStore(join(options.folder, 'blobs'), this.#gitDir);
  }

  /** Reads the data of earlier fetches. False when there is none. */
  async load(): Promise<boolean> {
    if (!existsSync(join(this.#gitDir, 'HEAD'))) return false;
    this.refs = await this.#readRefs();
    return this.refs.branches.size + this.refs.tags.size > 0;
  }

  /** Fetches from the remote and returns its references; `use` makes them visible to requests. */
  fetch(): Promise<Refs> {
    return withFolderLock(join(this.#options.folder, 'fetch.lock'), fetchTimeoutMs, () => this.#fetch());
  }

  /** Makes these the references that requests see. */
  use(refs: Refs): void {
    this.refs = refs;
    this.#commits = undefined;
  }

  /**
   * The commit of an abbreviated or full id. All ids are read at once: a minion that guesses ids does not start git.
   */
  async commit(id: string): Promise<string | undefined> {
    if (!isHex(id) || id.length < 4 || id.length > 64) return undefined;
    this.#commits ??= this.#readCommits();
    return onlyMatch(await this.#commits, id.toLowerCase());
  }

  index(commit: string): Promise<TreeIndex> {
    return remembered(this.#indexes, commit, async () => {
      const args = ['ls-tree', '-r', '-t', '-z', '-l', '--full-tree', commit];
      return parseTree(commit, await runGit(args, { gitDir: this.#gitDir }));
    });
  }

  /** The index of a commit after every file below a folder of it is on disk: done once, then requests are reads. */
  prepare(commit: string, root: string): Promise<TreeIndex> {
    return remembered(this.#prepared, `${commit}/${root}`, () => {
      // One at a time, for any number of callers.
      const made = this.#turn.then(() => this.#prepare(commit, root));
      this.#turn = made.catch(() => undefined);
      return made;
    });
  }

  /** The file behind a path of a prepared commit. */
  resolve(index: TreeIndex, path: string): TreeEntry | undefined {
    return resolveEntry(index, path, (entry) => this.linkTarget(entry));
  }

  linkTarget(entry: TreeEntry): string | undefined {
    return this.#links.get(entry.sha);
  }

  /** A commit as a folder of files, for callers that need one (pillar). Created atomically. */
  async checkout(commit: string, root = ''): Promise<string> {
    const index = await this.prepare(commit, root);
    const name = root === '' ? commit : `${commit}-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`;
    const folder = join(this.#options.folder, 'trees', name);
    if (!existsSync(folder)) await this.#writeTree(index, root, folder);
    const now = new Date();
    await utimes(folder, now, now);
    return join(folder, root);
  }

  /** Drops unused commits and removes their files. */
  async prune(live: ReadonlySet<string>): Promise<void> {
    const shas = new Set<string>();
    for (const [commit, index] of this.#indexes) {
      if (live.has(commit)) for (const entry of (await index).blobs.values()) shas.add(entry.sha);
      else this.#indexes.delete(commit);
    }
    for (const key of this.#prepared.keys()) if (!live.has(key.split('/', 1)[0]!)) this.#prepared.delete(key);
    await this.blobs.prune(shas);
    const trees = join(this.#options.folder, 'trees');
    for (const name of await readdir(trees).catch(() => [])) {
      if (live.has(name.split('-', 1)[0]!)) continue;
      const found = await stat(join(trees, name)).catch(() => undefined);
      // It may be in use: every checkout renews its time.
      if (found && Date.now() - found.mtimeMs > treeGraceMs)
        await rm(join(trees, name), { recursive: true, force: true });
    }
  }

  async clear(): Promise<void> {
    this.use(noRefs);
    for (const map of [this.#indexes, this.#prepared, this.#links]) map.clear();
    await this.blobs.clear();
    await rm(this.#options.folder, { recursive: true, force: true });
  }

  async #fetch(): Promise<Refs> {
    await this.#init();
    const { access, url, refspecs } = this.#options;
    const args = [
      'fetch',
      '--quiet',
      '--prune',
      '--force',
      '--no-tags',
      '--no-write-fetch-head',
      '--',
      url,
      ...refspecs,
    ];
    await runGit(args, { gitDir: this.#gitDir, access, timeoutMs: fetchTimeoutMs });
    return this.#readRefs();
  }

  async #init(): Promise<void> {
    if (existsSync(join(this.#gitDir, 'HEAD'))) return;
    await mkdir(this.#options.folder, { recursive: true, mode: 0o700 });
    await runGit(['init', '--quiet', '--bare', '--template=', '--', this.#gitDir]);
    await writeFile(join(this.#options.folder, 'url'), `${withoutPassword(this.#options.url)}\n`);
  }

  async #prepare(commit: string, root: string): Promise<TreeIndex> {
    const index = await this.index(commit);
    const inside = [...index.blobs].filter(([path]) => belowRoot(path, root) !== undefined);
    await this.blobs.ensure(inside.map(([, entry]) => entry.sha));
    await this.#readLinks(index);
    const targets = inside.flatMap(([path, entry]) => (isLink(entry) ? this.#behindLink(index, path) : []));
    await this.blobs.ensure(targets.map(([, { sha }]) => sha));
    return index;
  }

  async #readCommits(): Promise<string[]> {
    const output = await runGit(['rev-list', '--all'], { gitDir: this.#gitDir }).catch(() => Buffer.alloc(0));
    return output.toString('latin1').split('\n').filter(Boolean).sort();
  }

  async #readRefs(): Promise<Refs> {
    const format = '--format=%(objecttype) %(objectname) %(*objecttype) %(*objectname) %(refname)';
    const output = await runGit(['for-each-ref', format, 'refs/remotes/origin', 'refs/tags'], { gitDir: this.#gitDir });
    const branches = new Map<string, string>();
    const tags = new Map<string, string>();
    for (const line of output.toString('utf8').split('\n')) {
      const [type, sha, peeledType, peeledSha, name] = line.split(' ');
      const commit = type === 'commit' ? sha : peeledType === 'commit' ? peeledSha : undefined;
      if (!commit || !name) continue;
      if (name.startsWith('refs/tags/')) tags.set(name.slice(10), commit);
      else if (name !== 'refs/remotes/origin/HEAD') branches.set(name.slice(20), commit);
    }
    return { branches, tags };
  }

  async #readLinks(index: TreeIndex): Promise<void> {
    const links = [...index.blobs.values()].filter((entry) => isLink(entry) && !this.#links.has(entry.sha));
    await this.blobs.ensure(links.map((entry) => entry.sha));
    for (const { sha } of links) this.#links.set(sha, await readFile(this.blobs.path(sha), 'utf8'));
  }

  async #writeTree(index: TreeIndex, root: string, folder: string): Promise<void> {
    const temporary = `${folder}.${randomBytes(6).toString('hex')}.tmp`;
    try {
      await mkdir(join(temporary, root), { recursive: true, mode: 0o700 });
      for (const [path, entry] of index.blobs) {
        if (belowRoot(path, root) === undefined) continue;
        await mkdir(dirname(join(temporary, path)), { recursive: true, mode: 0o700 });
        await this.#place(index, path, entry, join(temporary, path));
      }
      await rename(temporary, folder);
    } catch (error) {
      await rm(temporary, { recursive: true, force: true });
      if (!existsSync(folder)) throw new HaliteError('call.failed', `cannot write a checkout: ${messageOf(error)}`);
    }
  }

  /**
   * Links are not created as links: a chain of them could lead out of the folder. Their targets are written instead.
   */
  async #place(index: TreeIndex, path: string, entry: TreeEntry, target: string): Promise<void> {
    if (!isLink(entry)) return link(this.blobs.path(entry.sha), target);
    for (const [rest, file] of this.#behindLink(index, path)) {
      const place = rest === '' ? target : join(target, rest);
      await mkdir(dirname(place), { recursive: true, mode: 0o700 });
      await link(this.blobs.path(file.sha), place);
    }
  }

  /** The target file of a link, or the files of the target folder by their path in it. */
  #behindLink(index: TreeIndex, path: string): [string, TreeEntry][] {
    const file = this.resolve(index, path);
    if (file) return [['', file]];
    const folder = folderBehind(index, path, (entry) => this.linkTarget(entry));
    if (folder === undefined || path.startsWith(`${folder}/`)) return [];
    const files = [...index.blobs].flatMap(([name, entry]): [string, TreeEntry][] => {
      const rest = belowRoot(name, folder);
      return rest === undefined || isLink(entry) ? [] : [[rest, entry]];
    });
    return files;
  }
}

/** The only commit that begins with an id; the list is sorted. */
function onlyMatch(commits: readonly string[], id: string): string | undefined {
  let low = 0;
  for (let high = commits.length; low < high; ) {
    const middle = (low + high) >> 1;
    if (commits[middle]! < id) low = middle + 1;
    else high = middle;
  }
  const found = commits[low];
  return found?.startsWith(id) && !commits[low + 1]?.startsWith(id) ? found : undefined;
}

function withoutPassword(url: string): string {
  return url.replace(/^(\w+:\/\/)[^@/]*@/, '$1');
}

/** The promise for a key, created once; a failed one is created again next time. */
function remembered<T>(map: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const known = map.get(key);
  if (known) return known;
  if (map.size >= maxRemembered) map.delete(map.keys().next().value as string);
  const made = make();
  map.set(key, made);
  made.catch(() => {
    if (map.get(key) === made) map.delete(key);
  });
  return made;
}
