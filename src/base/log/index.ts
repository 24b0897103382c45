// Logging: levels, loggers, layouts and sinks.
export {
  createLogger,
  defaultDatefmt,
  defaultDatefmtLogfile,
  defaultFmtConsole,
  defaultFmtLogfile,
  type LoggerOptions,
  type RootLogger,
} from './create.ts';
export { createLoggerFromOpts, granularLevels, type LogOpts } from './from-opts.ts';
export {
  insecureLevels,
  isLevelName,
  type LevelName,
  type LogMethod,
  levelNames,
  levelNumber,
  levels,
} from './levels.ts';
export type { GranularLevels, Logger } from './logger.ts';
export { type MemoryLog, memoryLogger } from './memory-logger.ts';
export { nullLogger } from './null-logger.ts';
export type { Fields } from './record.ts';
export { isSecretName, redact, redactText } from './redact.ts';
