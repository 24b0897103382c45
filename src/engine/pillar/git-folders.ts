// Repositories for `git` pillars: fetched periodically, read as folders, and used unchanged while a remote is
// unreachable.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { withTimeout } from '../../base/util/with-timeout.ts';
import type { ExtensionLog, GitFolderRequest } from '../../extend/sdk/index.ts';
import { commitOf, isHex } from '../files/git/environments.ts';
import { GitRepository } from '../files/git/repository.ts';

interface Remote {
  readonly repository: GitRepository;
  /** When it was last fetched, or a fetch was attempted. */
  triedAt: number;
  updating: Promise<void> | undefined;
  loaded: Promise<boolean> | undefined;
}

/** How long a compilation waits for a fetch when there is an older copy. */
const firstWaitMs = 10_000;
const defaultRefspecs = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'];

export class GitFolders {
  readonly #folder: string;
  readonly #log: ExtensionLog;
  readonly #now: () => number;
  readonly #remotes = new Map<string, Remote>();

  constructor(folder: string, log: ExtensionLog, now: () => number = Date.now) {
    this.#folder = folder;
    this.#log = log;
    this.#now = now;
  }

  /** The folder of the first reference that exists. */
  async get(request: GitFolderRequest): Promise<string | undefined> {
    checkUrl(request);
    const remote = this.#remote(request);
    await this.#refresh(remote, request);
    for (const ref of request.refs) {
      const commit = await find(remote.repository, ref);
      if (commit !== undefined) return remote.repository.checkout(commit, request.root ?? '');
    }
    return undefined;
  }

  /** Fetches now: true when a reference changed, null when none did, false when it could not be fetched. */
  async update(request: GitFolderRequest): Promise<boolean | null> {
    checkUrl(request);
    const remote = this.#remote(request);
    const shown = (): string => JSON.stringify([...remote.repository.refs.branches, ...remote.repository.refs.tags]);
    await remote.repository.load().catch(() => false);
    const before = shown();
    try {
      remote.repository.use(await remote.repository.fetch());
    } catch (error) {
      this.#log.error('a git_pillar remote cannot be fetched', { remote: request.url, error: messageOf(error) });
      return false;
    }
    remote.triedAt = this.#now();
    remote.loaded = Promise.resolve(true);
    return shown() === before ? null : true;
  }

  #remote(request: GitFolderRequest): Remote {
    const key = createHash('sha256')
      .update([request.name, request.url, request.root].join('\0'))
      .digest('hex')
      .slice(0, 32);
    let remote = this.#remotes.get(key);
    if (!remote) {
      const { user = '', password = '', privkey = '', insecureAuth = false, sslVerify = true } = request;
      const repository = new GitRepository({
        folder: join(this.#folder, key),
        url: request.url,
        refspecs: request.refspecs && request.refspecs.length > 0 ? request.refspecs : defaultRefspecs,
        access: { user, password, privkey, insecure: insecureAuth, sslVerify },
      });
      remote = { repository, triedAt: Number.NEGATIVE_INFINITY, updating: undefined, loaded: undefined };
      this.#remotes.set(key, remote);
    }
    return remote;
  }

  /**
   * The first fetch in a process is awaited, only for a limited time when there is an older copy. Later fetches run in
   * the background: the next compilation sees the new commits.
   */
  async #refresh(remote: Remote, request: GitFolderRequest): Promise<void> {
    const isFirst = remote.triedAt === Number.NEGATIVE_INFINITY;
    remote.loaded ??= remote.repository.load().catch(() => false);
    const known = await remote.loaded;
    if (this.#now() - remote.triedAt >= request.updateSeconds * 1000) {
      remote.updating ??= this.#fetch(remote, request).finally(() => {
        remote.updating = undefined;
      });
    }
    const { updating } = remote;
    if (!updating) return;
    // No caller may be waiting any more when it fails.
    updating.catch(() => undefined);
    if (!known) await updating;
    else if (isFirst) await withTimeout(updating, firstWaitMs, () => undefined);
  }

  async #fetch(remote: Remote, request: GitFolderRequest): Promise<void> {
    remote.triedAt = this.#now();
    try {
      const refs = await remote.repository.fetch();
      remote.repository.use(refs);
      remote.loaded = Promise.resolve(true);
      await remote.repository.prune(new Set([...refs.branches.values(), ...refs.tags.values()]));
    } catch (error) {
      this.#log.error('a git_pillar remote cannot be fetched', { remote: request.url, error: messageOf(error) });
      if (!(await remote.repository.load().catch(() => false))) throw error;
    }
  }
}

async function find(repository: GitRepository, ref: string): Promise<string | undefined> {
  const { refs } = repository;
  const named = commitOf(refs, 'branch', ref) ?? commitOf(refs, 'tag', ref);
  if (named !== undefined || !isHex(ref)) return named;
  return repository.commit(ref);
}

/** A URL that begins with a hyphen would be an option for git, and one with `::` a program to run. */
function checkUrl({ url, password, insecureAuth }: GitFolderRequest): void {
  if (url === '' || url.startsWith('-') || /^[\w.+-]+::/.test(url) || /[\0\n\r]/.test(url)) {
    throw new HaliteError('config.value', `${JSON.stringify(url)} is not the address of a repository`);
  }
  if (password && /^http:/i.test(url) && !insecureAuth) {
    throw new HaliteError(
      'config.value',
      `${url}: a password would be sent in the clear; use https, or set insecure_auth`,
    );
  }
}
