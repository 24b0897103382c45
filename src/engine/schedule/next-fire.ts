// When a job runs next, computed only from its description and a time.
import { pyStr } from '../../base/codec/python/index.ts';
import { type Dict, isDict, type Value } from '../../base/codec/value.ts';
import { parseDateText } from '../../base/util/date-text.ts';
import { parseLocalTime } from '../../base/util/strptime.ts';
import { namedTime, type Timing } from './entry.ts';

export interface TimeTools {
  /** Next match of a cron pattern after a time; throws when the pattern is invalid. */
  readonly cron: (pattern: string, after: Date) => Date | undefined;
  /** Pillar and grains, in this order: their `whens` name times. */
  readonly sources: readonly Dict[];
  /** Several daemons evaluate the same jobs: intervals count from 1970, so that all mean the same times. */
  readonly aligned?: boolean;
}

export type NextFire = { readonly at: Date | undefined } | { readonly error: string };

const dayMs = 86_400_000;

/** A time in a configuration: already a date, or text. */
export function momentOf(value: Value | undefined, now: Date): Date | undefined {
  if (value instanceof Date) return value;
  return typeof value === 'string' || typeof value === 'number' ? parseDateText(String(value), now) : undefined;
}

/** The first time after `after`; `begin` is when the job was first checked or last ran. */
export function nextFire(timing: Timing, begin: Date, after: Date, name: string, tools: TimeTools): NextFire {
  switch (timing.kind) {
    case 'interval':
      return { at: new Date(tools.aligned ? aligned(begin, timing.seconds) : begin.getTime() + timing.seconds * 1000) };
    case 'once': {
      const at = timing.text instanceof Date ? timing.text : parseLocalTime(pyStr(timing.text), timing.format);
      if (!at)
        return {
          error: `Date string could not be parsed: ${pyStr(timing.text)}, ${timing.format}. Ignoring job ${name}.`,
        };
      return { at: at > after ? at : undefined };
    }
    case 'when':
      return nextWhen(timing.texts, after, name, tools);
    case 'cron':
      return nextCron(timing.pattern, after, name, tools);
  }
}

function aligned(begin: Date, seconds: number): number {
  const ms = Math.max(1, seconds) * 1000;
  return (Math.floor(begin.getTime() / ms) + 1) * ms;
}

/** A pattern that never matches (31 February) is as invalid as one that cannot be parsed. */
function nextCron(pattern: string, after: Date, name: string, tools: TimeTools): NextFire {
  let at: Date | undefined;
  try {
    at = tools.cron(pattern, after);
  } catch {
    at = undefined;
  }
  return at ? { at } : { error: `Invalid cron string. Ignoring job ${name}.` };
}

/** Texts without a date mean the current day, and after that time the next one. */
function nextWhen(texts: readonly Value[], after: Date, name: string, tools: TimeTools): NextFire {
  let first: Date | undefined;
  for (const text of texts) {
    const meant = isDict(text) ? text : namedTime(text, tools.sources);
    const today = momentOf(meant, after);
    if (!today) return { error: `Invalid date string ${pyStr(text)}. Ignoring job ${name}.` };
    const at = today > after ? today : momentOf(meant, new Date(after.getTime() + dayMs));
    if (at && at > after && (!first || at < first)) first = at;
  }
  return { at: first };
}
