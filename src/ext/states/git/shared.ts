// Shared code of the state module `git`: calls as a user, comments, failures.
import { type PlainDict, p, pyStr, type StateContext, type StateResult, type Value } from 'halite/sdk';
import { expandUser } from 'halite/sdk/fs';
import { failureOf } from '../shared/calls.ts';

export const who = {
  user: p.scalar({ default: null, doc: 'run git as this user' }),
  password: p.ignored({ default: null, doc: 'Windows only' }),
};
export const identity = p.any({
  default: null,
  doc: 'private key for ssh: a path, salt://…, or a list',
});
export const https = {
  https_user: p.scalar({ default: null, doc: 'user name for HTTPS' }),
  https_pass: p.scalar({ default: null, doc: 'password for HTTPS' }),
};
export const output_encoding = p.scalar({ default: null, doc: 'encoding of git’s output' });

/** Sentences joined as Salt does. */
export const sentences = (comments: readonly string[]): string =>
  comments.join('. ') + (comments.length > 1 ? '.' : '');
export const short = (sha: string | null): string => (sha === null ? 'None' : sha.slice(0, 7));

/** Git's message, without the command line before it. */
export const gitError = (error: unknown): string =>
  failureOf(error).message.replace(/^Command ['"].+['"] failed: /s, '');

export function failed(
  message: string,
  comments: readonly string[],
  ctx: StateContext,
  changes?: PlainDict,
): StateResult {
  const made = comments.length > 0 ? `\n\nChanges already made: ${sentences(comments)}` : '';
  return ctx.fail(message + made, changes ? { changes } : {});
}

/** Calls of git functions for one checkout. */
export class Checkout {
  readonly target: string;
  readonly #common: PlainDict;
  readonly #ctx: StateContext;

  constructor(target: string, common: PlainDict, ctx: StateContext) {
    this.target = target;
    this.#common = common;
    this.#ctx = ctx;
  }

  call(fun: string, args: readonly Value[] = [], kwargs: PlainDict = {}): Promise<Value> {
    return this.#ctx.callWith(`git.${fun}`, [this.target, ...args], { ...this.#common, ...kwargs });
  }
  async text(fun: string, args: readonly Value[] = [], kwargs: PlainDict = {}): Promise<string> {
    return pyStr(await this.call(fun, args, kwargs));
  }
  /** The answer, or null when git fails. */
  async attempt(fun: string, args: readonly Value[] = [], kwargs: PlainDict = {}): Promise<string | null> {
    try {
      return await this.text(fun, args, { ...kwargs, ignore_retcode: true });
    } catch {
      return null;
    }
  }
  async list(fun: string): Promise<string[]> {
    const found = await this.call(fun);
    return Array.isArray(found) ? found.map(pyStr) : [];
  }
}

/** Keys as list of paths; a text when they are invalid. */
export async function identities(
  value: Value,
  word: string,
  ctx: StateContext,
): Promise<string[] | null | { problem: string }> {
  if (value === null) return null;
  if (typeof value !== 'string' && !Array.isArray(value))
    return { problem: `${word} must be either a list or a string` };
  const list = (Array.isArray(value) ? value : [value]).map((item) => expandUser(pyStr(item)));
  for (const path of list) {
    if (path.includes('salt://')) {
      if (!(await ctx.files.cacheFile(path, { saltenv: ctx.saltenv })))
        return { problem: `${word} '${path}' does not exist.` };
    } else if (!path.startsWith('/')) return { problem: `${word} '${path}' is not an absolute path` };
  }
  return list;
}

/** The branch, tag or SHA1 of a revision in the remote repository. */
export interface RemoteRev {
  readonly rev: string;
  readonly sha: string | null;
  readonly kind: 'branch' | 'tag' | 'sha1' | null;
  /** `origin/main`; false: none, null: does not matter. */
  readonly upstream: string | false | null;
  /** The description for comments. */
  readonly place: string;
}

export function resolveRev(rev: string, remote: string, refs: PlainDict, bare: boolean): RemoteRev {
  const sha = (name: string): string | undefined => (refs[name] === undefined ? undefined : pyStr(refs[name] as Value));
  const none: RemoteRev = { rev, sha: null, kind: null, upstream: false, place: '' };
  if (bare) return none;
  const made = (kind: RemoteRev['kind'], value: string, upstream: RemoteRev['upstream']): RemoteRev => {
    const place =
      kind === 'sha1'
        ? rev === 'HEAD'
          ? `remote HEAD (${value.slice(0, 7)})`
          : value.slice(0, 7)
        : `${kind === 'branch' ? upstream : rev} (${value.slice(0, 7)})`;
    return { rev: kind === 'sha1' && rev !== 'HEAD' ? value : rev, sha: value, kind, upstream, place };
  };
  if (rev === 'HEAD') {
    const head = sha('HEAD');
    return head === undefined ? none : made('sha1', head, null);
  }
  const branch = sha(`refs/heads/${rev}`);
  if (branch !== undefined) return made('branch', branch, `${remote}/${rev}`);
  const tag = sha(`refs/tags/${rev}^{}`) ?? sha(`refs/tags/${rev}`);
  if (tag !== undefined) return made('tag', tag, false);
  return rev.length <= 40 && /^[0-9a-fA-F]+$/.test(rev) ? made('sha1', rev.toLowerCase(), false) : none;
}

/** Whether two revisions are the same; a SHA1 may be shortened. */
export function sameRev(one: string | null, other: string | null, kind: RemoteRev['kind']): boolean {
  if (one === null || other === null) return one === other;
  return kind === 'sha1' ? one.startsWith(other) : one === other;
}

/** Options of `git branch` that set the upstream of a branch. */
export function trackingChange(
  upstream: string | null,
  wanted: RemoteRev['upstream'],
  branch: string | null,
  branches: readonly string[],
): { opts: string[]; done: string } | undefined {
  if (upstream && wanted === false) return { opts: ['--unset-upstream'], done: 'unset' };
  if (!wanted || upstream === wanted) return undefined;
  // A new branch tracks its starting point automatically.
  if (branch !== null && !branches.includes(branch)) return undefined;
  return { opts: ['--set-upstream-to', wanted], done: upstream ? `updated to ${wanted}` : `set to ${wanted}` };
}
