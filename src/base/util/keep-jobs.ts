// How long jobs are kept, from Salt's two options.
import { asNumber, type Value } from '../codec/value.ts';

/** Seconds, 0 without limit: `keep_jobs_seconds`, or `keep_jobs` in hours when only that was changed. */
export function keepSeconds(opts: Readonly<Record<string, Value>>): number {
  const seconds = asNumber(opts['keep_jobs_seconds']) ?? 86_400;
  const hours = asNumber(opts['keep_jobs']) ?? 24;
  return Math.trunc(seconds === 86_400 && hours !== 24 ? hours * 3600 : seconds);
}
