// Runs the git command: without a shell, without prompts, with a deadline.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { HaliteError } from '../../../base/errors/index.ts';
import type { RemoteAccess } from './config.ts';

export interface GitOptions {
  readonly gitDir?: string;
  readonly access?: RemoteAccess;
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 120_000;
const keptErrorText = 4000;

// Variable data is passed in the environment; these texts are constant.
const sshCommand = 'ssh -i "$HALITE_GIT_KEY" -o IdentitiesOnly=yes -o BatchMode=yes';
const credentialHelper =
  '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$HALITE_GIT_USER" "$HALITE_GIT_PASSWORD"; }; f';

type GitProcess = ChildProcessByStdio<Writable, Readable, Readable>;

/** Runs git to its end and returns its output. Throws with git's own message when it fails. */
export async function runGit(args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await withGit(args, options, async (child) => {
    child.stdin.end();
    for await (const chunk of child.stdout) chunks.push(chunk as Buffer);
  });
  return Buffer.concat(chunks);
}

/** Starts git and lets `use` communicate with it; both must succeed. */
export async function withGit(
  args: readonly string[],
  options: GitOptions,
  use: (child: GitProcess) => Promise<void>,
): Promise<void> {
  const child = spawn('git', [...settings(options), ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: environment(options),
    detached: true,
  });
  let errorText = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errorText = (errorText + chunk.toString()).slice(-keptErrorText);
  });
  child.stdin.on('error', () => undefined);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    // git starts helper processes (ssh, git-remote-https); the whole process group is ended.
    if (child.pid) killGroup(child.pid);
  }, options.timeoutMs ?? defaultTimeoutMs);
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', (cause) => reject(failure(args, `git cannot be started: ${cause.message}`, cause)));
    child.on('close', (code) => resolve(code ?? -1));
  });
  try {
    const [code] = await Promise.all([ended, use(child)]);
    if (timedOut) throw failure(args, 'git took too long');
    if (code !== 0) throw failure(args, errorText.trim() || `git ended with status ${code}`);
  } finally {
    clearTimeout(timer);
    if (child.exitCode === null && child.signalCode === null && child.pid) killGroup(child.pid);
  }
}

function settings({ gitDir, access }: GitOptions): string[] {
  const found = gitDir ? ['--git-dir', gitDir] : [];
  if (access && !access.sslVerify) found.push('-c', 'http.sslVerify=false');
  if (access?.password) found.push('-c', 'credential.helper=', '-c', `credential.helper=${credentialHelper}`);
  // Nothing in a repository may run: no hooks, no maintenance in the background.
  return [...found, '-c', 'core.hooksPath=/dev/null', '-c', 'gc.auto=0', '-c', 'maintenance.auto=false'];
}

function environment({ access }: GitOptions): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh',
  };
  for (const name of ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_OBJECT_DIRECTORY']) delete env[name];
  env['HOME'] ??= '/';
  if (access?.privkey) Object.assign(env, { GIT_SSH_COMMAND: sshCommand, HALITE_GIT_KEY: access.privkey });
  else env['GIT_SSH_COMMAND'] ??= 'ssh -o BatchMode=yes';
  if (access?.password) Object.assign(env, { HALITE_GIT_USER: access.user, HALITE_GIT_PASSWORD: access.password });
  return env;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

function failure(args: readonly string[], why: string, cause?: unknown): HaliteError {
  return new HaliteError('call.failed', `git ${args[0] ?? ''}: ${why}`, { cause });
}
