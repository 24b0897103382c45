// The `git` backend: branches and tags of remote repositories as environments, served from memory and local files.

import { constants } from 'node:fs';
import { mkdir, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { compareText } from '../../../base/codec/json/compare-text.ts';
import { newDict, type PlainDict } from '../../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import { matchesGlob } from '../../../base/util/fnmatch.ts';
import { withTimeout } from '../../../base/util/with-timeout.ts';
import { emptyLists, type FileBackend, type FileLists, type FoundFile, type Report } from '../backend.ts';
import type { Ignored } from '../ignore.ts';
import { ListCache } from '../list-cache.ts';
import { cleanRelative, isEnvironmentName } from '../paths.ts';
import type { RemoteConfig } from './config.ts';
import { commitOf, environmentsOf, isExposed, isHex, mountpointOf, type Refs, refOf, rootOf } from './environments.ts';
import { GitRepository } from './repository.ts';
import { belowRoot, isLink, type TreeIndex } from './tree.ts';

export interface GitBackendOptions {
  readonly name: string;
  readonly remotes: readonly RemoteConfig[];
  /** Folder of the local copies of all remotes. */
  readonly folder: string;
  readonly ignored: Ignored;
  readonly log: { warn(message: string, fields?: Readonly<Record<string, unknown>>): void };
}

interface Remote {
  readonly config: RemoteConfig;
  readonly repository: GitRepository;
  readonly lockFile: string;
  updating: Promise<boolean> | undefined;
  /** Requested environments: their files are prepared before a new commit becomes visible. */
  readonly used: Set<string>;
}

/** One remote's part of an environment. */
interface View {
  readonly remote: Remote;
  readonly index: TreeIndex;
  readonly root: string;
  readonly mountpoint: string;
}

const gitFile = 0o100644;
/** How long the first requests wait for a remote that was never fetched. */
const firstWaitMs = 30_000;

export class GitBackend implements FileBackend {
  readonly name: string;
  readonly #options: GitBackendOptions;
  readonly #remotes: readonly Remote[];
  readonly #lists = new ListCache(Number.POSITIVE_INFINITY);
  #ready: Promise<unknown> | undefined;
  #known: ReadonlySet<string> | undefined;

  constructor(options: GitBackendOptions) {
    this.name = options.name;
    this.#options = options;
    this.#remotes = options.remotes.map((config) => {
      const folder = join(options.folder, config.folder);
      return {
        config,
        repository: new GitRepository({ ...config, folder }),
        lockFile: join(options.folder, `${config.folder}.update.lk`),
        updating: undefined,
        used: new Set(['base']),
      };
    });
  }

  get schedule(): readonly { readonly seconds: number; readonly remotes: readonly string[] }[] {
    return this.#remotes.map(({ config }) => ({ seconds: config.updateSeconds, remotes: [config.id] }));
  }

  async envs(): Promise<readonly string[]> {
    await this.#loaded();
    return [...this.#environments()].sort(compareText);
  }

  async find(path: string, saltenv: string): Promise<FoundFile | undefined> {
    const rel = cleanRelative(path);
    if (rel === undefined || !isEnvironmentName(saltenv)) return undefined;
    for await (const view of this.#views(saltenv)) {
      const found = this.#findIn(view, rel);
      if (found) return found;
    }
    return undefined;
  }

  async lists(saltenv: string): Promise<FileLists> {
    if (!isEnvironmentName(saltenv)) return emptyLists;
    await this.#loaded();
    if (!isHex(saltenv) && !this.#serves(saltenv)) return emptyLists;
    return this.#lists.get(saltenv, () => this.#list(saltenv));
  }

  /** Fetches; an unreachable remote keeps its data, and the others are still updated. */
  async update(remotes?: readonly string[]): Promise<PlainDict | undefined> {
    await this.#loaded();
    const named = (config: RemoteConfig): boolean =>
      !remotes || remotes.includes(config.id) || (config.name !== undefined && remotes.includes(config.name));
    const chosen = this.#remotes.filter(({ config }) => named(config));
    const results = await Promise.allSettled(chosen.map((remote) => this.#updateOne(remote)));
    const changed = results.some((result) => result.status === 'fulfilled' && result.value);
    const failed = results.flatMap((result, at) =>
      result.status === 'rejected' ? [`${chosen[at]!.config.id}: ${messageOf(result.reason)}`] : [],
    );
    if (failed.length > 0) throw new HaliteError('call.failed', failed.join('; '));
    return changed ? newDict(Object.entries({ changed: true, backend: 'gitfs' })) : undefined;
  }

  forgetLists(saltenvs?: readonly string[]): string[] {
    return this.#lists.forget(saltenvs);
  }

  async clearCache(): Promise<readonly string[]> {
    const failed: string[] = [];
    this.#lists.forget();
    this.#known = undefined;
    for (const { repository, config } of this.#remotes) {
      await repository.clear().catch((error: unknown) => {
        failed.push(`Unable to delete ${join(this.#options.folder, config.folder)}: ${messageOf(error)}`);
      });
    }
    return failed;
  }

  /** Prevents updates of a remote until the lock is cleared. */
  async lock(pattern?: string): Promise<Report> {
    return this.#eachLock(pattern, async ({ lockFile, config }) => {
      await mkdir(this.#options.folder, { recursive: true, mode: 0o700 });
      const handle = await open(lockFile, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY).catch(
        (error: NodeJS.ErrnoException) => {
          if (error.code !== 'EEXIST') throw error;
        },
      );
      if (!handle) return undefined;
      await handle.close();
      return `Set update lock for gitfs remote '${config.id}'`;
    });
  }

  async clearLock(pattern?: string): Promise<Report> {
    return this.#eachLock(pattern, async ({ lockFile, config }) => {
      if (!(await isThere(lockFile))) return undefined;
      await rm(lockFile);
      return `Removed update lock for gitfs remote '${config.id}'`;
    });
  }

  async #eachLock(pattern: string | undefined, act: (remote: Remote) => Promise<string | undefined>): Promise<Report> {
    const done: string[] = [];
    const errors: string[] = [];
    for (const remote of this.#remotes) {
      if (pattern && !matchesGlob(remote.config.url, pattern)) continue;
      try {
        const text = await act(remote);
        if (text) done.push(text);
      } catch (error) {
        errors.push(`${remote.config.url}: ${messageOf(error)}`);
      }
    }
    return { done, errors };
  }

  /** Before the first answer: uses what is on disk; a remote that was never fetched is awaited once. */
  #loaded(): Promise<unknown> {
    this.#ready ??= Promise.all(
      this.#remotes.map(async (remote) => {
        const known = await remote.repository.load().catch(() => false);
        this.#known = undefined;
        if (!known)
          await withTimeout(this.#updateOne(remote), firstWaitMs, () => undefined).catch((error) =>
            this.#say(remote, error),
          );
      }),
    );
    return this.#ready;
  }

  #say(remote: Remote, error: unknown): void {
    this.#options.log.warn('git remote cannot be fetched', { remote: remote.config.id, error: messageOf(error) });
  }

  #updateOne(remote: Remote): Promise<boolean> {
    remote.updating ??= this.#fetch(remote).finally(() => {
      remote.updating = undefined;
    });
    return remote.updating;
  }

  async #fetch(remote: Remote): Promise<boolean> {
    if (await isThere(remote.lockFile)) {
      this.#options.log.warn('git remote is locked and not updated', {
        remote: remote.config.id,
        lock: remote.lockFile,
      });
      return false;
    }
    const { repository, config } = remote;
    const refs = await repository.fetch();
    if (sameRefs(refs, repository.refs)) return false;
    // Everything in use is prepared first; then all requests see the new commits at once.
    const live = new Set([...refs.branches.values(), ...refs.tags.values()]);
    for (const saltenv of remote.used) {
      const commit = this.#namedCommit(config, refs, saltenv);
      if (commit) await repository.prepare(commit, rootOf(config, saltenv));
    }
    repository.use(refs);
    this.#known = undefined;
    this.#lists.forget();
    await repository.prune(live);
    return true;
  }

  /** Computed once for each state of the references. */
  #environments(): ReadonlySet<string> {
    this.#known ??= new Set(
      this.#remotes.flatMap(({ config, repository }) => [...environmentsOf(config, repository.refs)]),
    );
    return this.#known;
  }

  #serves(saltenv: string): boolean {
    return this.#remotes.some(({ config }) => config.fallback !== '') || this.#environments().has(saltenv);
  }

  /** The remotes' parts of an environment in order, each prepared when it is reached. */
  async *#views(saltenv: string): AsyncGenerator<View> {
    await this.#loaded();
    const known = isHex(saltenv) || this.#environments().has(saltenv);
    for (const remote of this.#remotes) {
      const { config, repository } = remote;
      if ((!known && config.fallback === '') || !isExposed(config, saltenv)) continue;
      const commit = await this.#commit(remote, saltenv);
      if (commit === undefined) continue;
      if (remote.used.size < 1000) remote.used.add(saltenv);
      const root = rootOf(config, saltenv);
      yield { remote, root, mountpoint: mountpointOf(config, saltenv), index: await repository.prepare(commit, root) };
    }
  }

  async #commit({ config, repository }: Remote, saltenv: string): Promise<string | undefined> {
    const ref = refOf(config, saltenv);
    for (const name of ref === undefined ? [] : [ref, config.fallback]) {
      if (name === '') continue;
      for (const type of config.refTypes) {
        const commit = type === 'sha' ? await repository.commit(name) : commitOf(repository.refs, type, name);
        if (commit !== undefined) return commit;
      }
    }
    return undefined;
  }

  /** Like #commit, by branches and tags alone: what an update can change. */
  #namedCommit(config: RemoteConfig, refs: Refs, saltenv: string): string | undefined {
    const ref = refOf(config, saltenv);
    for (const name of ref === undefined ? [] : [ref, config.fallback]) {
      for (const type of config.refTypes) {
        const commit = commitOf(refs, type, name);
        if (commit !== undefined) return commit;
      }
    }
    return undefined;
  }

  #findIn({ remote, index, root, mountpoint }: View, rel: string): FoundFile | undefined {
    const inside = belowRoot(rel, mountpoint);
    if (inside === undefined || this.#options.ignored(rel)) return undefined;
    const entry = remote.repository.resolve(index, root === '' ? inside : `${root}/${inside}`);
    if (!entry) return undefined;
    const path = remote.repository.blobs.path(entry.sha);
    // Git stores the mode and the size of a file, and nothing else of os.stat().
    const stat = [entry.mode || gitFile, 0, 0, 1, 0, 0, entry.size, 0, 0, 0];
    return { path, rel, stat, version: entry.sha };
  }

  async #list(saltenv: string): Promise<FileLists> {
    const files = new Set<string>();
    const dirs = new Set<string>();
    const links: Record<string, string> = Object.create(null);
    for await (const { remote, index, root, mountpoint } of this.#views(saltenv)) {
      const mounted = (path: string): string | undefined => {
        const inside = belowRoot(path, root);
        const rel = inside === undefined || mountpoint === '' ? inside : `${mountpoint}/${inside}`;
        return rel === undefined || this.#options.ignored(rel) ? undefined : rel;
      };
      for (const [path, entry] of index.blobs) {
        const rel = mounted(path);
        if (rel === undefined) continue;
        files.add(rel);
        if (isLink(entry)) links[rel] ??= remote.repository.linkTarget(entry) ?? '';
      }
      for (const path of index.folders) {
        const rel = mounted(path);
        if (rel !== undefined) dirs.add(rel);
      }
      if (mountpoint !== '') dirs.add(mountpoint);
    }
    const sorted = (names: Set<string>): string[] => [...names].sort(compareText);
    return { files: sorted(files), dirs: sorted(dirs), emptyDirs: [], links };
  }
}

function sameRefs(a: Refs, b: Refs): boolean {
  const same = (left: ReadonlyMap<string, string>, right: ReadonlyMap<string, string>): boolean =>
    left.size === right.size && [...left].every(([name, commit]) => right.get(name) === commit);
  return same(a.branches, b.branches) && same(a.tags, b.tags);
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
