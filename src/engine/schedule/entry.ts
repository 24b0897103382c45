// One entry of a schedule: the parsed configuration, and the scheduler's state for it.
import { pyStr } from '../../base/codec/python/index.ts';
import {
  asList,
  asNumber,
  asText,
  type Dict,
  dictEntries,
  dictGet,
  fieldOf,
  isDict,
  newDict,
  type PlainDict,
  type Value,
} from '../../base/codec/value.ts';
import { parseLocalTime } from '../../base/util/strptime.ts';

/** When a job is to run. */
export type Timing =
  | { readonly kind: 'interval'; readonly seconds: number }
  | { readonly kind: 'once'; readonly text: Value; readonly format: string }
  | { readonly kind: 'when'; readonly texts: readonly Value[] }
  | { readonly kind: 'cron'; readonly pattern: string };

/** Why a due job did not run, in Salt's words. */
export type SkipReason =
  | 'disabled'
  | 'maxrunning'
  | 'skip_explicit'
  | 'in_skip_range'
  | 'not_in_range'
  | 'after_not_passed'
  | 'until_passed';

/** The state of a job between two checks. */
export interface EntryState {
  /** After its first check. */
  begun: boolean;
  nextFire: Date | undefined;
  /** `nextFire` and the random delay upon it. */
  splayed: Date | undefined;
  lastRun: Date | undefined;
  /** It was run manually (`schedule.run_job`). */
  called: boolean;
  skipped: { readonly reason: SkipReason; readonly at: Date } | undefined;
  error: string | undefined;
  /** Manually requested times: postponed runs, and runs after an excluded time. */
  readonly runAt: Date[];
  readonly skipAt: Date[];
}

export interface Entry {
  readonly name: string;
  readonly data: PlainDict;
  readonly fromPillar: boolean;
  readonly state: EntryState;
}

/** Keys of a schedule that are settings and not jobs. */
export const settingNames = ['enabled', 'skip_function', 'skip_during_range', 'splay'] as const;
export const isSetting = (name: string): boolean => (settingNames as readonly string[]).includes(name);

const timeElements: readonly (readonly [string, number])[] = [
  ['seconds', 1],
  ['minutes', 60],
  ['hours', 3600],
  ['days', 86_400],
];
const exclusive = ['when', 'cron', 'once'] as const;

/** The format of times where none is given. */
export const isoFormat = '%Y-%m-%dT%H:%M:%S';

/** `skip_explicit` and `run_explicit` of a configuration: times, or texts with their format. */
function momentsOf(list: Value | undefined): Date[] {
  const found: Date[] = [];
  for (const item of asList(list) ?? []) {
    if (item instanceof Date) found.push(item);
    if (!isDict(item)) continue;
    const at = parseLocalTime(pyStr(dictGet(item, 'time')), pyStr(dictGet(item, 'time_fmt') ?? isoFormat));
    if (at) found.push(at);
  }
  return found;
}

export function newState(data: PlainDict = newDict()): EntryState {
  return {
    begun: false,
    nextFire: undefined,
    splayed: undefined,
    lastRun: undefined,
    called: false,
    skipped: undefined,
    error: undefined,
    runAt: momentsOf(data['run_explicit']),
    skipAt: momentsOf(data['skip_explicit']),
  };
}

/** A copy with text keys, which is what entries are made of. */
export function plainEntry(value: Dict): PlainDict {
  return newDict(dictEntries(value).map(([key, item]) => [pyStr(key), item]));
}

export const functionOf = (data: PlainDict): string => asText(data['function'] ?? data['func'] ?? data['fun']) ?? '';

/** The number that a value is or contains; NaN for everything else. */
export const numberNamed = (value: Value | undefined): number =>
  asNumber(value) ?? (typeof value === 'string' || typeof value === 'boolean' ? Number(value) : Number.NaN);

const asInteger = (value: Value | undefined): number => {
  const number = Math.trunc(numberNamed(value ?? 0));
  return Number.isFinite(number) ? number : 0;
};

/** When a job runs, or why that is invalid. Without times it only runs on request. */
export function timingOf(data: PlainDict): Timing | { readonly error: string } | undefined {
  const given = exclusive.filter((key) => data[key] !== undefined && data[key] !== null);
  const elements = timeElements.filter(([key]) => data[key] !== undefined && data[key] !== null);
  if (given.length > 1) return { error: 'Unable to use "when", "cron", "once" options together. Ignoring.' };
  // Salt intends to refuse intervals together with other times, but uses the interval.
  if (elements.length > 0) {
    const seconds = elements.reduce((sum, [key, unit]) => sum + asInteger(data[key]) * unit, 0);
    return { kind: 'interval', seconds: Math.max(1, seconds) };
  }
  switch (given[0]) {
    case 'once':
      return { kind: 'once', text: data['once'] ?? '', format: pyStr(data['once_fmt'] ?? isoFormat) };
    case 'when':
      return { kind: 'when', texts: Array.isArray(data['when']) ? data['when'] : [data['when'] ?? ''] };
    case 'cron':
      return { kind: 'cron', pattern: pyStr(data['cron']) };
    default:
      return undefined;
  }
}

/** `whens` of the pillar or the grains: names for times. */
export function namedTime(text: Value, sources: readonly Dict[]): Value {
  for (const source of sources) {
    const whens = dictGet(source, 'whens');
    const found = fieldOf(whens, text);
    if (found !== undefined) return found;
  }
  return text;
}

/** Arguments: positions and, when there are any, keywords. */
export function argumentsOf(data: PlainDict): { args: Value[]; kwargs: PlainDict | undefined } {
  const args = data['args'] ?? data['job_args'];
  const kwargs = data['kwargs'] ?? data['job_kwargs'];
  return {
    args: Array.isArray(args) ? [...args] : args === undefined || args === null ? [] : [args],
    kwargs: isDict(kwargs ?? null) ? plainEntry(kwargs as Dict) : undefined,
  };
}
