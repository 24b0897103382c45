// The filter arguments of `jobs.list_jobs` and `jobs.last_run`, read as Salt reads them.
import { dictSize, HaliteError, isDict, type JobFilter, type Value } from 'halite/sdk';
import { parseDateText } from 'halite/sdk/time';

export interface FilterArguments {
  readonly functions: Value;
  readonly targets: Value;
  readonly metadata: Value;
  readonly start?: Value;
  readonly end?: Value;
}

/** None, an empty text, list or map, zero and False mean no filter. */
function isEmpty(value: Value): boolean {
  if (isDict(value)) return dictSize(value) === 0;
  return Array.isArray(value) ? value.length === 0 : value === null || value === '' || value === 0 || value === false;
}

/** A list, or a text with commas. */
export function words(value: Value): string[] | undefined {
  if (isEmpty(value)) return undefined;
  if (Array.isArray(value)) return value.map(String);
  return String(value)
    .split(',')
    .map((word) => word.trim());
}

const zoned = /[\d\s](?:z|utc|gmt)\s*$|:\d\d(?:\.\d+)?\s*[+-]\d{2}:?(?:\d{2})?\s*$/i;

/** Job ids are in UTC, so times without a zone are in UTC too. */
export function when(value: Value, name: string, now = new Date()): Date | undefined {
  if (isEmpty(value)) return undefined;
  if (value instanceof Date) return value;
  const text = String(value);
  const time = parseDateText(text, now);
  if (!time) {
    throw new HaliteError('call.arguments', `${name} is not a time: ${text}`, {
      hint: 'Write it as 2026-01-31 12:00.',
    });
  }
  if (zoned.test(text)) return time;
  const day = [time.getFullYear(), time.getMonth(), time.getDate()] as const;
  return new Date(Date.UTC(...day, time.getHours(), time.getMinutes(), time.getSeconds(), time.getMilliseconds()));
}

/** Undefined when nothing can match: metadata that is not a map never matches. */
export function filterOf(given: FilterArguments): JobFilter | undefined {
  const { metadata } = given;
  if (!isEmpty(metadata) && !isDict(metadata)) return undefined;
  const [functions, targets] = [words(given.functions), words(given.targets)];
  const startAfter = when(given.start ?? null, 'start_time');
  const startBefore = when(given.end ?? null, 'end_time');
  return {
    ...(functions ? { functions } : {}),
    ...(targets ? { targets } : {}),
    ...(isDict(metadata) && !isEmpty(metadata) ? { metadata } : {}),
    ...(startAfter ? { startAfter } : {}),
    ...(startBefore ? { startBefore } : {}),
  };
}
