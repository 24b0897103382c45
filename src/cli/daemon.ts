// What both daemons do around their work: options, configuration, log, pid file, background, user, signals.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type LoadedConfig, type LoadRequest, prepareDirs } from '../base/config/index.ts';
import { HaliteError, messageOf } from '../base/errors/index.ts';
import { createLoggerFromOpts, type Logger, type LogOpts, type RootLogger } from '../base/log/index.ts';
import { exitCodes } from '../base/util/exit-codes.ts';
import { type CommandSpec, type ParsedCommandLine, parseCommandLine } from './optparse.ts';
import { helpText } from './optparse-help.ts';
import { versionLine, versionsReport } from './versions.ts';

interface Running {
  stop(): Promise<void>;
  /** Settles when the daemon cannot go on. */
  readonly ended?: Promise<Error>;
}
type DaemonOpts = LogOpts & Parameters<typeof prepareDirs>[0] & { readonly pidfile: string };

export interface DaemonProgram<O extends DaemonOpts> {
  readonly spec: CommandSpec;
  load(request: LoadRequest): LoadedConfig<O> | Promise<LoadedConfig<O>>;
  run(opts: O, log: Logger): Promise<Running>;
}

/** Set in the environment of the background process, so that it does not go to the background again. */
const backgroundMark = 'HALITE_BACKGROUND';

/** Runs a daemon command from argv to exit; the promise ends with the process. */
export async function runDaemon<O extends DaemonOpts>(
  program: DaemonProgram<O>,
  argv = process.argv.slice(2),
): Promise<void> {
  try {
    const parsed = parseCommandLine(program.spec, argv);
    if (parsed.wants === 'help') return print(helpText(program.spec));
    if (parsed.wants === 'version') return print(versionLine(program.spec.prog));
    if (parsed.values['versions_report']) return print(await versionsReport());
    if (parsed.values['daemon'] && !process.env[backgroundMark]) return background(parsed);
    await serve(program, parsed);
  } catch (error) {
    complain(program.spec.prog, error);
  }
}

function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** Message, then what to do; the stack only for bugs. */
function complain(prog: string, error: unknown): void {
  const known = error instanceof HaliteError;
  process.stderr.write(
    `${prog}: ${known ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  if (known && error.hint) process.stderr.write(`${error.hint}\n`);
  const given = known ? Number(error.details['exitCode']) : Number.NaN;
  if (Number.isInteger(given) && given > 0) process.exitCode = given;
  else process.exitCode = known && error.code === 'cli.usage' ? exitCodes.EX_USAGE : 1;
}

/** Starts the same command again, detached from terminal and session, and leaves. */
function background(parsed: ParsedCommandLine): void {
  const sink = openSync('/dev/null', 'r+');
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    detached: true,
    stdio: ['ignore', sink, sink],
    env: { ...process.env, [backgroundMark]: String(parsed.values['daemon']) },
    cwd: '/',
  });
  child.unref();
}

function requestOf(parsed: ParsedCommandLine): LoadRequest {
  const { values, explicit } = parsed;
  const cli: Record<string, string> = {};
  for (const name of ['log_level', 'log_level_logfile', 'log_file', 'user', 'pidfile']) {
    const source = name === 'log_level_logfile' ? 'log_file_level' : name;
    const value = explicit.has(name) ? values[name] : explicit.has(source) ? values[source] : undefined;
    if (typeof value === 'string') cli[name] = value;
  }
  return {
    ...(explicit.has('config_dir') && typeof values['config_dir'] === 'string'
      ? { configDir: values['config_dir'] }
      : {}),
    cli,
  };
}

async function serve<O extends DaemonOpts>(program: DaemonProgram<O>, parsed: ParsedCommandLine): Promise<void> {
  const { prog } = program.spec;
  const { opts, problems, notes } = await program.load(requestOf(parsed));
  const { warnings } = prepareDirs(opts);
  const log = createLoggerFromOpts(opts, { name: prog.replace('-', '.') });
  for (const note of notes) log.debug(note);
  for (const problem of problems) log.log(problem.level === 'info' ? 'info' : 'warn', problem.message);
  for (const warning of warnings) log.critical(warning);
  const release = claimPidFile(opts.pidfile, prog);
  let running: Running;
  try {
    running = await program.run(opts, log);
  } catch (error) {
    release();
    await log.close();
    throw error;
  }
  stopOnSignals(running, log, release);
}

/** One daemon per pid file: a live process of the same kind is named, a stale file is taken over. */
function claimPidFile(path: string, prog: string): () => void {
  mkdirSync(dirname(path), { recursive: true });
  if (existsSync(path)) {
    const pid = Number(readFileSync(path, 'utf8').trim());
    if (pid > 0 && pid !== process.pid && commandLineOf(pid).includes(prog)) {
      throw new HaliteError('daemon.running', `${prog} already runs as process ${pid} (${path})`, {
        hint: `Stop it first: kill ${pid}`,
      });
    }
  }
  writeFileSync(path, `${process.pid}`, { mode: 0o644 });
  return () => {
    try {
      if (readFileSync(path, 'utf8').trim() === String(process.pid)) rmSync(path);
    } catch {
      // Already gone.
    }
  };
}

function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function stopOnSignals(running: Running, log: RootLogger, release: () => void): void {
  let stopping = false;
  const stop = (code: number): void => {
    if (stopping) return;
    stopping = true;
    // Whatever hangs must not keep the process: service managers would kill it anyway, without cleaning up.
    setTimeout(() => process.exit(code || 1), 8_000).unref();
    running
      .stop()
      .catch((error: unknown) => log.error('stopping failed', { error: messageOf(error) }))
      .finally(async () => {
        release();
        await log.close();
        process.exit(code);
      });
  };
  process.on('SIGTERM', () => stop(0));
  process.on('SIGINT', () => stop(0));
  running.ended?.then((error) => {
    log.critical(error.message);
    stop(exitCodes.EX_NOPERM);
  });
  process.on('uncaughtException', (error) => {
    log.critical('unexpected error, the daemon goes on', { error: error.stack ?? error.message });
  });
  process.on('unhandledRejection', (error) => {
    log.critical('unexpected error, the daemon goes on', {
      error: error instanceof Error ? (error.stack ?? '') : String(error),
    });
  });
}
