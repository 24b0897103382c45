// A logger that writes nowhere, for tests and for code that runs before a logger exists.
import { type Logger, LogHub, namedLogger } from './logger.ts';

export function nullLogger(): Logger {
  return namedLogger(new LogHub([], {}), 'salt');
}
