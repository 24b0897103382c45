// Builds the logger of a program from its settings: console, log file or syslog, levels and layouts.
import { droppedLine } from './batch-writer.ts';
import { fileSink } from './file-sink.ts';
import { compileLayout, isLayout } from './format.ts';
import { isLevelName, levelNumber, levels } from './levels.ts';
import { type GranularLevels, type Logger, LogHub, namedLogger, type Output } from './logger.ts';
import type { Sink } from './sink.ts';
import { streamSink } from './stream-sink.ts';
import { syslogSink } from './syslog-sink.ts';
import { isSyslogTarget, parseSyslogTarget } from './syslog-target.ts';

const defaultFmtConsole = '[%(levelname)-8s] %(message)s';
const defaultFmtLogfile =
  '%(asctime)s,%(msecs)03d [%(name)-17s:%(lineno)-4d][%(levelname)-8s][%(process)d] %(message)s';
const defaultDatefmt = '%H:%M:%S';
const defaultDatefmtLogfile = '%Y-%m-%d %H:%M:%S';

export interface LoggerOptions {
  /** Name of the top logger; default `salt`. */
  readonly name?: string;
  /** Console level, default `warning`. */
  readonly level?: string | number | null;
  /** Log file level; default the console's. */
  readonly levelLogfile?: string | number | null;
  /** A path, or a syslog target; absent for no log file. */
  readonly logFile?: string | null;
  /** False for a daemon in the background. */
  readonly console?: boolean;
  readonly fmtConsole?: string;
  readonly fmtLogfile?: string;
  readonly fmtJid?: string | null;
  readonly fmtMinionId?: string | null;
  readonly datefmt?: string;
  readonly datefmtLogfile?: string;
  readonly granular?: GranularLevels;
  /** `json`: lines as JSON objects instead of the layouts. */
  readonly format?: string;
  /** Log Salt's warning about levels that may show secrets. */
  readonly warnInsecure?: boolean;
  /** Reopen the log file on SIGHUP. */
  readonly reopenOnHangup?: boolean;
  /** For tests: where console lines go, and the time. */
  readonly consoleSink?: Sink;
  readonly now?: () => number;
}

/** The top logger of a program, which also owns the outputs. */
export interface RootLogger extends Logger {
  /** New levels for a running daemon. */
  setLevels(changes: {
    level?: string | number | null;
    levelLogfile?: string | number | null;
    granular?: GranularLevels;
  }): void;
  /** Resolves when all lines are written; call it before `process.exit`. */
  flush(): Promise<void>;
  reopen(): void;
  close(): Promise<void>;
}

const layoutOf = (format: string | undefined, datefmt: string, fallback: string) =>
  compileLayout(format && isLayout(format) ? format : fallback, datefmt);

export function createLogger(options: LoggerOptions = {}): RootLogger {
  const outputs = new Map<'console' | 'file', Output>();
  if (options.console !== false) outputs.set('console', consoleOutput(options));
  // Files are opened with the first line, so the logger exists before opening can fail.
  const failed = (message: string) => (error: Error) => root.warn(message, { error });
  const file = fileOutput(options, failed);
  if (file) outputs.set('file', file);
  const hub = new LogHub([...outputs.values()], options.granular ?? {}, {
    now: options.now,
    jidLayout: options.fmtJid,
    minionLayout: options.fmtMinionId,
  });
  const root = rootLogger(hub, options, outputs);
  complain(root, options);
  return root;
}

const problems = {
  opened: (path: string): string => `Failed to open log file, do you have permission to write to ${path}?`,
  written: (path: string): string => `The log file ${path} cannot be written: log lines are lost until there is space`,
};

const formatOf = ({ format }: LoggerOptions): 'text' | 'json' => (format === 'json' ? format : 'text');

function consoleOutput(options: LoggerOptions): Output {
  return {
    level: levelNumber(options.level),
    sink: options.consoleSink ?? streamSink(2, droppedLine[formatOf(options)]),
    layout: layoutOf(options.fmtConsole, options.datefmt ?? defaultDatefmt, defaultFmtConsole),
    json: formatOf(options) === 'json',
  };
}

function fileOutput(options: LoggerOptions, failed: (message: string) => (error: Error) => void): Output | undefined {
  const path = options.logFile;
  const level = levelNumber(options.levelLogfile || options.level);
  if (!path || level >= levels.quiet) return undefined;
  const sink = isSyslogTarget(path)
    ? syslogSink(parseSyslogTarget(path), failed(`Failed to write to syslog at ${path}`))
    : fileSink(path, (error, what) => failed(problems[what](path))(error), droppedLine[formatOf(options)]);
  return {
    level,
    sink,
    layout: layoutOf(options.fmtLogfile, options.datefmtLogfile ?? defaultDatefmtLogfile, defaultFmtLogfile),
    json: formatOf(options) === 'json',
  };
}

/** Sinks of all loggers: one exit listener serves them all. */
const openSinks = new Set<Sink>();

function flushAtExit(sinks: readonly Sink[]): void {
  if (openSinks.size === 0 && !process.listeners('exit').includes(flushOpenSinks)) process.on('exit', flushOpenSinks);
  for (const sink of sinks) openSinks.add(sink);
}

function flushOpenSinks(): void {
  for (const sink of openSinks) sink.flushSync();
}

function rootLogger(hub: LogHub, options: LoggerOptions, outputs: ReadonlyMap<'console' | 'file', Output>): RootLogger {
  const sinks = [...outputs.values()].map((output) => output.sink);
  const reopen = (): void => {
    for (const sink of sinks) sink.reopen();
  };
  flushAtExit(sinks);
  if (options.reopenOnHangup) process.on('SIGHUP', reopen);
  let level = options.level;
  let levelLogfile = options.levelLogfile;
  const control: Pick<RootLogger, 'setLevels' | 'flush' | 'reopen' | 'close'> = {
    setLevels(changes) {
      if (changes.level !== undefined) level = changes.level;
      if (changes.levelLogfile !== undefined) levelLogfile = changes.levelLogfile;
      const shown = outputs.get('console');
      const filed = outputs.get('file');
      if (shown) shown.level = levelNumber(level);
      if (filed) filed.level = levelNumber(levelLogfile || level);
      if (changes.granular) hub.setGranular(changes.granular);
      else hub.changed();
    },
    flush: async () => void (await Promise.all(sinks.map((sink) => sink.flush()))),
    reopen,
    close: async () => {
      for (const sink of sinks) openSinks.delete(sink);
      process.off('SIGHUP', reopen);
      await Promise.all(sinks.map((sink) => sink.close()));
    },
  };
  return Object.assign(namedLogger(hub, options.name ?? 'salt'), control);
}

function complain(root: Logger, options: LoggerOptions): void {
  for (const level of [options.level, options.levelLogfile, ...Object.values(options.granular ?? {})]) {
    if (typeof level === 'string' && !isLevelName(level)) root.warn('unknown log level, error is used', { level });
  }
  for (const format of [options.fmtConsole, options.fmtLogfile]) {
    if (format && !isLayout(format)) root.warn('invalid log layout, the default is used', { format });
  }
  if (options.format !== undefined && options.format !== 'text' && options.format !== 'json') {
    root.warn('log_format is neither text nor json: text is used', { format: options.format });
  }
  if (options.warnInsecure && levelNumber(options.level) < levels.info) {
    root.warn('Insecure logging configuration detected! Sensitive data may be logged.');
  }
}
