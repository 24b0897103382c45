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
import { openStdio, type Stdio, type Streams } from './stdio.ts';

const defaultOutputLimit = 64 * 1024 * 1024;

/** Called for every running command, so that it can be ended reliably with its job. */
export interface ExecWatcher {
  started(pid: number): void;
  ended(pid: number): void;
}

export interface OwnExecOptions extends ExecOptions {
  /** The program does not open /dev/stdout and similar paths by name: Node's cheaper sockets are sufficient. */
  readonly sockets?: boolean;
}

interface Invocation {
  readonly file: string;
  readonly args: readonly string[];
  readonly argv0: string | undefined;
  readonly uid: number | undefined;
  readonly gid: number | undefined;
}

/** Runs a program to its end. Rejects only when it cannot be started or the job is aborted. */
export async function execProgram(
  file: string,
  args: readonly string[],
  options: OwnExecOptions,
  signal?: AbortSignal,
  watcher?: ExecWatcher,
): Promise<ExecResult> {
  signal?.throwIfAborted();
  const stdio = await openStdio(options);
  const child = await wrap(file, args, options, options.mergeStderr === true && !stdio.merged)
    .then((invocation) => start(invocation, options, stdio))
    .catch((error: unknown) => {
      stdio.abandon();
      throw error;
    });
  const streams = stdio.attach(child);
  const ended = endOf(child, streams, (error) => startFailure(file, options, error));
  const { pid } = child;
  if (pid === undefined) {
    await ended;
    throw new CommandNotFoundError(file);
  }
  watcher?.started(pid);
  const limit = options.maxOutputBytes ?? defaultOutputLimit;
  const { onOutput } = options;
  const stdout = collect(streams.stdout, limit, onOutput && ((text) => onOutput(text, 'stdout')));
  const stderr = collect(streams.stderr, limit, onOutput && ((text) => onOutput(text, 'stderr')));
  const stop = limitTime(streams, pid, options.timeoutMs, signal);
  try {
    const { code, signalName } = await ended;
    await stop.killed();
    signal?.throwIfAborted();
    const endedBy = signalName ? osConstants.signals[signalName] : undefined;
    const retcode = code ?? 128 + (endedBy ?? 0);
    return {
      pid,
      retcode,
      signal: endedBy,
      stdout: stdout.text(options.encoding),
      stderr: stderr.text(options.encoding),
      timedOut: stop.timedOut(),
    };
  } finally {
    stop.cancel();
    watcher?.ended(pid);
  }
}

interface Ended {
  readonly code: number | null;
  readonly signalName: NodeJS.Signals | null;
}

/** Resolves when the command has ended and its pipes are closed. */
function endOf(
  child: ChildProcess,
  { stdout, stderr }: Streams,
  failure: (error: NodeJS.ErrnoException) => HaliteError,
): Promise<Ended> {
  const closed = [stdout, stderr].map((stream) => stream && new Promise((resolve) => stream.once('close', resolve)));
  return new Promise((resolve, reject) => {
    child.once('error', (error) => {
      for (const stream of [stdout, stderr]) stream?.destroy();
      reject(failure(error));
    });
    child.once('exit', (code, signalName) => {
      void Promise.all(closed).then(() => resolve({ code, signalName }));
    });
  });
}

function start(invocation: Invocation, options: ExecOptions, stdio: Stdio): ChildProcess {
  const env = options.cleanEnv ? { ...options.env } : { ...process.env, ...options.env };
  const before = options.umask === undefined ? undefined : process.umask(options.umask);
  try {
    return spawn(invocation.file, [...invocation.args], {
      cwd: options.cwd,
      env,
      argv0: invocation.argv0,
      uid: invocation.uid,
      gid: invocation.gid,
      stdio: stdio.forSpawn,
      // A separate session: background processes are found again when the job has to be ended.
      detached: true,
      shell: false,
    });
  } finally {
    // The child exists when spawn returns, so the umask was changed only for that moment.
    if (before !== undefined) process.umask(before);
  }
}

/** Kills the tree at the deadline or when the job is aborted. */
function limitTime(streams: Streams, pid: number, timeoutMs: number | undefined, signal: AbortSignal | undefined) {
  let timedOut = false;
  let killing: Promise<unknown> | undefined;
  const kill = () => {
    killing ??= killTree([pid]).then(() => {
      // A process outside the tree may still hold the pipes; they are no longer awaited.
      streams.stdout?.destroy();
      streams.stderr?.destroy();
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

/**
 * Prepends small helper programs where Node lacks a feature: supplementary groups, and (with sockets) stderr into
 * stdout.
 */
async function wrap(
  file: string,
  args: readonly string[],
  options: ExecOptions,
  mergeByShell: boolean,
): Promise<Invocation> {
  let command: readonly string[] = [file, ...args];
  let { uid, gid } = options;
  if (options.groups && uid !== undefined && existsSync('/usr/bin/setpriv')) {
    const groups = options.groups.length > 0 ? `--groups=${options.groups.join(',')}` : '--clear-groups';
    await requireExecutable(file, options);
    command = ['/usr/bin/setpriv', `--reuid=${uid}`, `--regid=${gid ?? uid}`, groups, '--', ...command];
    uid = undefined;
    gid = undefined;
  }
  if (mergeByShell) {
    await requireExecutable(file, options);
    // The script is fixed; the program and its arguments are its parameters, never part of its text.
    command = ['/bin/sh', '-c', 'exec "$@" 2>&1', 'sh', ...command];
  }
  // A helper is called by its own name, and the program by its path.
  const argv0 = command[0] === file ? options.argv0 : undefined;
  return { file: command[0]!, args: command.slice(1), argv0, uid, gid };
}

/** The helpers report a missing program only by exit status, so it is checked first. */
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
