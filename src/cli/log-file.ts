// `--log-file` and `--log-file-level` of the commands on the master.
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { OpenOpts } from '../base/config/opts.ts';
import { createLoggerFromOpts, type LogOpts } from '../base/log/index.ts';
import { isSyslogTarget } from '../base/log/syslog-target.ts';
import { commandLog } from './command-log.ts';
import { type Settings, textOption } from './settings.ts';

/** Opens it and writes what reading the configuration told; from now on it gets what the command says. */
export function startLogFile(settings: Settings<OpenOpts>): void {
  const { spec, opts, io, loaded } = settings;
  // `salt-key` has one of its own.
  const dest = spec.prog === 'salt-key' ? 'key_logfile' : 'log_file';
  const path = textOption(settings, dest);
  if (path === '' || !canWrite(path)) {
    io.err(`[WARNING ] Failed to open log file, do you have permission to write to ${path}?\n`);
    return;
  }
  const level = textOption(settings, 'log_level_logfile') || textOption(settings, 'log_level') || 'warning';
  // Nothing has to be closed: what is still unwritten at the end of the process is written then.
  const log = createLoggerFromOpts(
    { ...(opts.raw as unknown as LogOpts), log_file: path, log_level_logfile: level },
    { console: false },
  );
  commandLog.start((at, message) => log.log(at, message));
  for (const note of loaded.notes) commandLog.note('debug', note);
  for (const { level: at, message } of loaded.problems) commandLog.note(at, message);
}

/** As in Salt the file is there from the start, so that a wrong path is told at once. */
function canWrite(path: string): boolean {
  if (isSyslogTarget(path)) return true;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o750 });
    closeSync(openSync(path, 'a', 0o640));
    return true;
  } catch {
    return false;
  }
}
