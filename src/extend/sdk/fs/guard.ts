// Functions that change files check test mode first and refuse in it, for every caller.
import { constants } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assertMayWrite, isReadOnly } from '../read-only.ts';

const pathOf = (path: unknown): string => resolve(path instanceof URL ? fileURLToPath(path) : String(path));

/** Refuses in test mode; `path` is of any type that node:fs accepts. */
export function assertMayChange(verb: string, path: unknown): void {
  if (isReadOnly()) assertMayWrite(verb, pathOf(path));
}

/** The same function with a check first; `changed` gives the arguments that are changed paths. */
export function guarded<F extends (...args: never[]) => unknown>(
  verb: string,
  change: F,
  changed: readonly number[] = [0],
): F {
  const asks = (...args: Parameters<F>): unknown => {
    for (const index of changed) assertMayChange(verb, args[index]);
    return change(...args);
  };
  return asks as F;
}

const writingFlags = constants.O_WRONLY | constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_APPEND;

/** Whether flags open a file for writing. */
export function opensForWriting(flags: string | number | undefined): boolean {
  if (typeof flags === 'number') return (flags & writingFlags) !== 0;
  return flags !== undefined && !/^(r|rs|sr)$/.test(flags);
}
