// Runs a program: no shell, bounded output, and a timeout that leaves no process behind.
import { type ChildProcess, spawn } from 'node:child_process';
import { constants, existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { constants as osConstants } from 'node:os';
import { delimiter, join } from 'node:path';
import { HaliteError } from '../../base/errors/index.ts';
import type { ExecOptions, ExecResult } from '../../extend/sdk/index.ts';
import { CommandNotFoundError } from './errors.ts';
import { collect } from './exec-output.ts';
import { killTree } from './process-tree.ts';

const defaultOutputLimit = 64 * 1024 * 1024;

/** Told about every running command, so that whoever ends the job can end it for certain. */
export interface ExecWatcher {
  started(pid: number): void;
  ended(pid: number): void;
}

interface Invocation {
  readonly file: string;
  readonly args: readonly string[];
  readonly uid: number | undefined;
  readonly gid: number | undefined;
}

/** Runs a program to its end. Rejects only when it cannot be started or the job is aborted. */
export async function execProgram(
  file: string,
  args: readonly string[],
  options: ExecOptions,
  signal?: AbortSignal,
  watcher?: ExecWatcher,
): Promise<ExecResult> {
  signal?.throwIfAborted();
  const invocation = await wrap(file, args, options);
  const child = start(invocation, options);
  const ended = new Promise<{ code: number | null; signalName: NodeJS.Signals | null }>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => reject(startFailure(file, options, error)));
    child.once('close', (code, signalName) => resolve({ code, signalName }));
  });
  const { pid } = child;
  if (pid === undefined) {
    await ended;
    throw new CommandNotFoundError(file);
  }
  watcher?.started(pid);
  const limit = options.maxOutputBytes ?? defaultOutputLimit;
  const { onOutput } = options;
  const stdout = collect(child.stdout, limit, onOutput && ((text) => onOutput(text, 'stdout')));
  const stderr = collect(child.stderr, limit, onOutput && ((text) => onOutput(text, 'stderr')));
  feed(child, options.input);
  const stop = limitTime(child, pid, options.timeoutMs, signal);
  try {
    const { code, signalName } = await ended;
    await stop.killed();
    signal?.throwIfAborted();
    const retcode = code ?? 128 + (signalName ? osConstants.signals[signalName] : 0);
    return { pid, retcode, stdout: stdout.text(), stderr: stderr.text(), timedOut: stop.timedOut() };
  } finally {
    stop.cancel();
    watcher?.ended(pid);
  }
}

function start(invocation: Invocation, options: ExecOptions): ChildProcess {
  const env = options.cleanEnv ? { ...options.env } : { ...process.env, ...options.env };
  const before = options.umask === undefined ? undefined : process.umask(options.umask);
  try {
    return spawn(invocation.file, [...invocation.args], {
      cwd: options.cwd,
      env,
      uid: invocation.uid,
      gid: invocation.gid,
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', options.mergeStderr ? 'ignore' : 'pipe'],
      // A session of its own: what it leaves in the background is found again when it has to be ended.
      detached: true,
      shell: false,
    });
  } finally {
    // The child exists when spawn returns, so the mask was ours only for that moment.
    if (before !== undefined) process.umask(before);
  }
}

function feed(child: ChildProcess, input: string | Uint8Array | undefined): void {
  if (input === undefined || !child.stdin) return;
  // A program that does not read its input closes the pipe; that is its right.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
}

/** Kills the tree at the deadline or when the job is aborted. */
function limitTime(child: ChildProcess, pid: number, timeoutMs: number | undefined, signal: AbortSignal | undefined) {
  let timedOut = false;
  let killing: Promise<unknown> | undefined;
  const kill = () => {
    killing ??= killTree([pid]).then(() => {
      // Somebody outside the tree may still hold the pipes; nobody waits for them any longer.
      child.stdout?.destroy();
      child.stderr?.destroy();
    });
  };
  const atDeadline = () => {
    timedOut = true;
    kill();
  };
  const timer = timeoutMs === undefined ? undefined : setTimeout(atDeadline, timeoutMs);
  signal?.addEventListener('abort', kill, { once: true });
  return {
    timedOut: () => timedOut,
    killed: async () => {
      await killing;
    },
    cancel() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', kill);
    },
  };
}

/** Puts small helpers in front where Node cannot do it: supplementary groups, and stderr in the same pipe as stdout. */
async function wrap(file: string, args: readonly string[], options: ExecOptions): Promise<Invocation> {
  let command: readonly string[] = [file, ...args];
  let { uid, gid } = options;
  if (options.groups && uid !== undefined && existsSync('/usr/bin/setpriv')) {
    const groups = options.groups.length > 0 ? `--groups=${options.groups.join(',')}` : '--clear-groups';
    await requireExecutable(file, options);
    command = ['/usr/bin/setpriv', `--reuid=${uid}`, `--regid=${gid ?? uid}`, groups, '--', ...command];
    uid = undefined;
    gid = undefined;
  }
  if (options.mergeStderr) {
    await requireExecutable(file, options);
    // The script is fixed; the program and its arguments are its parameters, never part of its text.
    command = ['/bin/sh', '-c', 'exec "$@" 2>&1', 'sh', ...command];
  }
  return { file: command[0]!, args: command.slice(1), uid, gid };
}

/** The helpers report a missing program only by exit status, so look first. */
async function requireExecutable(file: string, options: ExecOptions): Promise<void> {
  const path = options.env?.['PATH'] ?? process.env['PATH'] ?? '/usr/bin:/bin';
  const places = file.includes('/')
    ? [join(options.cwd ?? '.', file), file]
    : path.split(delimiter).map((dir) => join(dir, file));
  for (const place of places) {
    const usable = await access(place, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (usable) return;
  }
  throw new CommandNotFoundError(file);
}

function startFailure(file: string, options: ExecOptions, error: NodeJS.ErrnoException): HaliteError {
  // Node reports a missing working directory as if the program were missing.
  if (error.code === 'ENOENT' && options.cwd !== undefined && !existsSync(options.cwd)) {
    return new HaliteError('call.failed', `The directory ${options.cwd} does not exist`, { cause: error });
  }
  if (error.code === 'ENOENT') return new CommandNotFoundError(file);
  const why = error.code === 'EACCES' || error.code === 'EPERM' ? 'permission denied' : error.message;
  return new HaliteError('call.failed', `${file} cannot be started: ${why}`, { cause: error });
}
