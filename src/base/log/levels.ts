// Log levels: Salt's names and numbers.

/** Levels a line can have, by the name of the logger's method. */
export const methodLevels = {
  garbage: 1,
  trace: 5,
  debug: 10,
  profile: 15,
  info: 20,
  warn: 30,
  error: 40,
  critical: 50,
} as const;

export type LogMethod = keyof typeof methodLevels;

/** Levels a configuration can name. */
export const levels = {
  all: 0,
  garbage: 1,
  trace: 5,
  debug: 10,
  profile: 15,
  info: 20,
  warning: 30,
  error: 40,
  critical: 50,
  quiet: 1000,
} as const;

export type LevelName = keyof typeof levels;

const printed: Readonly<Record<LogMethod, string>> = {
  garbage: 'GARBAGE',
  trace: 'TRACE',
  debug: 'DEBUG',
  profile: 'PROFILE',
  info: 'INFO',
  warn: 'WARNING',
  error: 'ERROR',
  critical: 'CRITICAL',
};

/** The name of a level as printed in log lines. */
export function printedLevel(method: LogMethod): string {
  return printed[method];
}

/** The number of a configured level. As in Salt, an absent level means warning, an unknown name means error. */
export function levelNumber(level: string | number | null | undefined): number {
  if (level === null || level === undefined) return levels.warning;
  if (typeof level === 'number') return level;
  const name = level.toLowerCase();
  return Object.hasOwn(levels, name) ? levels[name as LevelName] : levels.error;
}

/** Whether a name is a level; a daemon warns about other names. */
export function isLevelName(name: string): boolean {
  return Object.hasOwn(levels, name.toLowerCase());
}
