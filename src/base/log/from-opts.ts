// The logger described by the `log_*` options of a configuration.
import { createLogger, type LoggerOptions, type RootLogger } from './create.ts';
import type { GranularLevels } from './logger.ts';

/** The options used here; the options of master and minion have them all. */
export interface LogOpts {
  readonly log_level: string;
  readonly log_level_logfile: string | null;
  readonly log_file: string | null;
  readonly log_format: string;
  readonly log_fmt_console: string;
  readonly log_fmt_logfile: string;
  readonly log_fmt_jid: string | null;
  readonly log_fmt_minion_id: string | null;
  readonly log_datefmt: string;
  readonly log_datefmt_logfile: string;
  readonly log_granular_levels: object;
}

/** Levels by logger name from a dict of either form; entries that are neither text nor number are skipped. */
export function granularLevels(dict: object): GranularLevels {
  const found: Record<string, string | number> = Object.create(null);
  const entries = dict instanceof Map ? [...dict.entries()] : Object.entries(dict);
  for (const [name, level] of entries) {
    if (typeof level === 'string' || typeof level === 'number') found[String(name)] = level;
  }
  return found;
}

export function createLoggerFromOpts(opts: LogOpts, extra: LoggerOptions = {}): RootLogger {
  return createLogger({
    level: opts.log_level,
    levelLogfile: opts.log_level_logfile,
    logFile: opts.log_file,
    fmtConsole: opts.log_fmt_console,
    fmtLogfile: opts.log_fmt_logfile,
    fmtJid: opts.log_fmt_jid,
    fmtMinionId: opts.log_fmt_minion_id,
    datefmt: opts.log_datefmt,
    datefmtLogfile: opts.log_datefmt_logfile,
    granular: granularLevels(opts.log_granular_levels),
    format: opts.log_format,
    warnInsecure: true,
    ...extra,
  });
}
