// Common parts of both daemons: options, configuration, log, pid file, background, user, signals.
import { prepareDirs } from '../base/config/index.ts';
import type { OpenOpts } from '../base/config/opts.ts';
import type { LoadedConfig, LoadRequest } from '../base/config/request.ts';
import { createLoggerFromOpts, type Logger, type LogOpts, type RootLogger } from '../base/log/index.ts';
import { readCommandLine } from './command-line.ts';
import { announceReady, goToBackground, isBackground } from './daemon/background.ts';
import { live, type Running } from './daemon/life.ts';
import { claimPidFile } from './daemon/pid-file.ts';
import { Reload } from './daemon/reload.ts';
import { ServiceManager } from './daemon/service-manager.ts';
import { type Terminal, terminal } from './io.ts';
import { loadLinkedSettings } from './links.ts';
import type { CommandSpec } from './optparse.ts';
import { flagOption, type Settings } from './settings.ts';
import { forbid } from './umask.ts';
import { becomeUser } from './user.ts';

type DaemonOpts = OpenOpts & LogOpts & Parameters<typeof prepareDirs>[0] & { readonly pidfile: string };

export interface DaemonProgram<O extends DaemonOpts> {
  readonly spec: CommandSpec;
  load(request: LoadRequest): LoadedConfig<O>;
  run(opts: O, log: Logger): Promise<Running>;
  /** What is made before the daemon drops its privileges; default: all its folders. */
  prepare?(opts: O): { readonly warnings: readonly string[] };
}

/** Runs a daemon until it ends; returns its exit code. */
export async function runDaemon<O extends DaemonOpts>(
  program: DaemonProgram<O>,
  argv: readonly string[],
  io: Terminal = terminal,
): Promise<number> {
  const { spec } = program;
  const parsed = await readCommandLine(spec, argv, io);
  // Salt's daemons ignore extra arguments; here they are reported, because they are most likely a mistake.
  for (const word of parsed.args) io.err(`WARNING: ${spec.prog} takes no argument: ${word}\n`);
  // Read before going to the background, so that errors in the files are printed on the terminal.
  const read = (): Promise<Settings<O>> =>
    loadLinkedSettings({ spec, parsed, load: (request) => program.load(request), io, quiet: true });
  const settings = await read();
  if (flagOption(settings, 'daemon') && !isBackground()) return goToBackground(io);
  return serve(program, settings, read);
}

async function serve<O extends DaemonOpts>(
  program: DaemonProgram<O>,
  settings: Settings<O>,
  read: () => Promise<Settings<O>>,
): Promise<number> {
  const { opts, spec } = settings;
  // The umask of the caller must not determine who else may write the daemon's files; Salt's daemons use 022 as well.
  forbid(0o022);
  const { warnings } = (program.prepare ?? prepareDirs)(opts);
  const release = claimPidFile(opts.pidfile, spec.prog, opts.user);
  const log = openLog(settings, warnings);
  const manager = new ServiceManager(log);
  let running: Running;
  try {
    becomeUser(opts.user);
    running = await program.run(opts, log);
  } catch (error) {
    release();
    await log.close();
    throw error;
  }
  announceReady();
  manager.ready(() => running.status?.() ?? '');
  const reload = new Reload(settings, log, read);
  const hangUp = (): void => void manager.reloading(reload.run());
  process.on('SIGHUP', hangUp);
  return live(running, log, {
    stopping: () => {
      process.off('SIGHUP', hangUp);
      return manager.stopping();
    },
    release,
  });
}

function openLog<O extends DaemonOpts>(settings: Settings<O>, warnings: readonly string[]): RootLogger {
  const { opts, spec, loaded } = settings;
  const log = createLoggerFromOpts(opts, {
    name: spec.prog.replace('-', '.'),
    console: !isBackground(),
    reopenOnHangup: true,
  });
  for (const note of loaded.notes) log.debug(note);
  for (const problem of loaded.problems) log.log(problem.level, problem.message);
  for (const warning of warnings) log.critical(warning);
  return log;
}
