// Logging: levels, loggers, layouts and sinks.
export {
  createLogger,
  type RootLogger,
} from './create.ts';
export { createLoggerFromOpts, granularLevels, type LogOpts } from './from-opts.ts';
export type { Logger } from './logger.ts';
export { nullLogger } from './null-logger.ts';
