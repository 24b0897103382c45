// Runs git: as another user, with a key for ssh, and with Salt's error messages.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandError, type ModuleContext, type PlainDict, p, pyStr, type Value } from 'halite/sdk';
import { chmodSync, chownSync, copyFileSync, expandUser, isFile, joinPath, mkdtempSync, rmSync } from 'halite/sdk/fs';
import { userByName } from 'halite/sdk/system';
import { shellQuote, shellSplit } from 'halite/sdk/text';

/** Arguments every function has. */
export const who = {
  user: p.string({ default: null, doc: 'run as this user' }),
  password: p.ignored({ default: null, doc: 'Windows only' }),
};
export const ignore = p.truthy({ default: false, doc: 'a failure does not make the job fail' });
export const encoding = p.string({ default: null, doc: 'encoding of the output' });
export const options = {
  opts: p.oneOf(['string', 'list'], { default: '', doc: 'options of the command' }),
  git_opts: p.oneOf(['string', 'list'], { default: '', doc: 'options of git itself' }),
};
export const https = {
  https_user: p.string({ default: null, doc: 'user name for HTTPS' }),
  https_pass: p.string({ default: null, doc: 'password for HTTPS' }),
};
export const identityParam = p.oneOf(['string', 'list'], {
  default: null,
  doc: 'private key for ssh: a path, salt://…, or a list',
});
export const saltenv = p.string({ default: 'base', doc: 'environment of keys on the file server' });

export interface GitOptions {
  readonly cwd?: string | null;
  readonly user?: Value;
  readonly identity?: Value;
  readonly saltenv?: string;
  readonly output_encoding?: Value;
  /** Return failures instead of throwing them. */
  readonly lenient?: boolean;
  /** stderr goes into stdout. */
  readonly merge?: boolean;
}

export interface GitResult {
  readonly retcode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export const redacted = (text: string): string => text.replace(/(https?):\/\/.*@/gi, '$1://<redacted>@');

/** A path relative to the user's home folder; absolute paths are unchanged. */
export function expandPath(cwd: Value, user: Value): string {
  return joinPath(expandUser(user ? `~${pyStr(user)}` : '~'), pyStr(cwd));
}

export function words(opts: Value): string[] {
  if (opts === null || opts === '') return [];
  if (Array.isArray(opts)) return opts.map(pyStr);
  const list = typeof opts === 'string' ? shellSplit(opts) : [pyStr(opts)];
  return list.at(-1) === '--' ? list.slice(0, -1) : list;
}

async function call(command: string[], request: GitOptions, env: PlainDict, ctx: ModuleContext): Promise<GitResult> {
  const out = (await ctx.callWith('cmd.run_all', [command], {
    cwd: request.cwd ?? null,
    runas: request.user ?? null,
    env: { LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', ...env },
    python_shell: false,
    ignore_retcode: true,
    redirect_stderr: request.merge ?? false,
    output_encoding: request.output_encoding ?? null,
  })) as unknown as GitResult;
  return { retcode: out.retcode, stdout: pyStr(out.stdout ?? ''), stderr: pyStr(out.stderr ?? '') };
}

/** A key that ssh accepts: readable only by the user. */
async function keyFile(
  identity: string,
  folder: string,
  request: GitOptions,
  ctx: ModuleContext,
): Promise<string | undefined> {
  const source = identity.includes('salt://')
    ? await ctx.files.cacheFile(identity, { saltenv: request.saltenv ?? 'base' })
    : expandUser(identity);
  if (!source || !isFile(source)) return undefined;
  if (!identity.includes('salt://')) return source;
  const copy = join(folder, 'identity');
  copyFileSync(source, copy);
  chmodSync(copy, 0o600);
  const account = request.user ? userByName(pyStr(request.user)) : undefined;
  if (account) {
    chownSync(copy, account.uid, account.gid);
    chownSync(folder, account.uid, account.gid);
  }
  return copy;
}

const sshOptions =
  '-oBatchMode=yes -oStrictHostKeyChecking=no -oKbdInteractiveAuthentication=no -oChallengeResponseAuthentication=no -oPasswordAuthentication=no';

/** Tries one key after another. */
async function runWithIdentity(command: string[], request: GitOptions, ctx: ModuleContext): Promise<GitResult> {
  const keys = (Array.isArray(request.identity) ? request.identity : [request.identity ?? null]).map((key) =>
    pyStr(key as Value),
  );
  const [errors, missing]: [string[], string[]] = [[], []];
  let last: GitResult = { retcode: 1, stdout: '', stderr: '' };
  for (const key of keys) {
    const folder = mkdtempSync(join(tmpdir(), 'halite-git-'));
    try {
      const path = await keyFile(key, folder, request, ctx);
      if (!path) {
        missing.push(key);
        continue;
      }
      last = await call(command, request, { GIT_SSH_COMMAND: `ssh ${sshOptions} -i ${shellQuote(path)}` }, ctx);
      if (last.retcode === 0) return last;
      const said = request.merge ? last.stdout : last.stderr;
      if (said) errors.push(redacted(said));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  if (request.lenient) return last;
  const lost =
    missing.length > 0
      ? `${errors.length > 0 ? '\n\n' : ''}The following identity file(s) were not found: ${missing.join(', ')}`
      : '';
  throw commandError(`Unable to authenticate using identity file:\n\n${errors.join('\n')}${lost}`);
}

/** Runs `git …`; a failure throws `Command 'git …' failed: …` unless the options say otherwise. */
export async function git(args: readonly string[], request: GitOptions, ctx: ModuleContext): Promise<GitResult> {
  const command = ['git', ...args];
  if (request.identity) return runWithIdentity(command, request, ctx);
  const result = await call(command, request, {}, ctx);
  if (result.retcode === 0 || request.lenient) return result;
  const said = request.merge ? result.stdout : result.stderr;
  throw commandError(`Command '${redacted(command.join(' '))}' failed${said ? `: ${redacted(said)}` : ''}`);
}

export async function gitText(args: readonly string[], request: GitOptions, ctx: ModuleContext): Promise<string> {
  return (await git(args, request, ctx)).stdout;
}

export const lineList = (text: string): string[] => (text === '' ? [] : text.split('\n'));
