// Whether a due job may run now: ranges, excluded times, first and last times.
import { isTruthy } from '../../base/codec/python/index.ts';
import { type Dict, dictGet, isDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { EntryState, SkipReason } from './entry.ts';
import { momentOf } from './next-fire.ts';

export interface Verdict {
  readonly run: boolean;
  readonly reason?: SkipReason;
  /** Run this function instead. */
  readonly instead?: string;
  /** Outside its range a job stays due, so that it runs when the range begins. */
  readonly staysDue?: boolean;
  readonly error?: string;
}

export interface Rules {
  readonly skipFunction: string | undefined;
  readonly skipDuringRange: Value | undefined;
}

/** The time for which a run was scheduled, and the current time. */
export interface Moments {
  readonly now: Date;
  readonly meant: Date;
}

/** A run to be skipped is given to the second. */
const skipToleranceMs = 1000;

const yes: Verdict = { run: true };

interface Range {
  readonly start: Date;
  readonly end: Date;
}

function readRange(range: Dict, now: Date, name: string, where: string): Range | string {
  const start = momentOf(dictGet(range, 'start'), now);
  if (!start) return `Invalid date string for start${where}. Ignoring job ${name}.`;
  const end = momentOf(dictGet(range, 'end'), now);
  if (!end) return `Invalid date string for end${where}. Ignoring job ${name}.`;
  if (end <= start) return `schedule.handle_func: Invalid range, end must be larger than start. Ignoring job ${name}.`;
  return { start, end };
}

const inside = (range: Range, now: Date): boolean => range.start <= now && now <= range.end;
/** Salt: without the blank for `range`. */
const noDict = (name: string, blank = ''): string =>
  `schedule.handle_func: Invalid, range must be specified as a dictionary.${blank}Ignoring job ${name}.`;
const holds = (value: Value | undefined): boolean => isTruthy(value ?? null);

function inRange(name: string, range: Value, now: Date, rules: Rules): Verdict {
  if (!isDict(range)) return { run: false, error: noDict(name) };
  const read = readRange(range, now, name, '');
  if (typeof read === 'string') return { run: false, error: read };
  if (holds(dictGet(range, 'invert')))
    return now <= read.start || now >= read.end ? yes : { run: false, reason: 'in_skip_range', staysDue: true };
  if (inside(read, now)) return yes;
  if (rules.skipFunction) return { run: true, instead: rules.skipFunction };
  return { run: false, reason: 'not_in_range', staysDue: true };
}

function outsideSkipRange(name: string, data: PlainDict, state: EntryState, now: Date, rules: Rules): Verdict {
  const range = data['skip_during_range'] ?? rules.skipDuringRange;
  if (!holds(range)) return yes;
  if (!isDict(range!)) return { run: false, error: noDict(name, ' ') };
  const read = readRange(range, now, name, ' in skip_during_range');
  if (typeof read === 'string') return { run: false, error: read };
  if (!inside(read, now)) return yes;
  if (holds(data['run_after_skip_range'])) {
    const at = new Date(read.end.getTime() + 1000);
    if (!state.runAt.some((known) => known.getTime() === at.getTime())) state.runAt.push(at);
  }
  if (rules.skipFunction) return { run: true, instead: rules.skipFunction };
  return { run: false, reason: 'in_skip_range' };
}

function notSkipped(state: EntryState, meant: Date, rules: Rules): Verdict {
  const index = state.skipAt.findIndex((at) => Math.abs(meant.getTime() - at.getTime()) <= skipToleranceMs);
  if (index === -1) return yes;
  state.skipAt.splice(index, 1);
  if (rules.skipFunction) return { run: true, instead: rules.skipFunction };
  return { run: false, reason: 'skip_explicit' };
}

function limits(data: PlainDict, now: Date, name: string): Verdict {
  for (const key of ['until', 'after'] as const) {
    if (data[key] === undefined || data[key] === null) continue;
    const at = momentOf(data[key], now);
    if (!at) return { run: false, error: `Invalid date string for ${key}. Ignoring job ${name}.` };
    if (key === 'until' && at <= now) return { run: false, reason: 'until_passed' };
    if (key === 'after' && at >= now) return { run: false, reason: 'after_not_passed' };
  }
  return yes;
}

/** All conditions in Salt's order; the first negative one decides. */
export function mayRun(
  name: string,
  data: PlainDict,
  state: EntryState,
  { now, meant }: Moments,
  rules: Rules,
): Verdict {
  let instead: string | undefined;
  const checks = [
    () => (data['range'] === undefined || data['range'] === null ? yes : inRange(name, data['range'], now, rules)),
    () => outsideSkipRange(name, data, state, now, rules),
    () => notSkipped(state, meant, rules),
    () => limits(data, now, name),
  ];
  for (const check of checks) {
    const verdict = check();
    if (!verdict.run) return verdict;
    instead = verdict.instead ?? instead;
  }
  return instead ? { run: true, instead } : yes;
}
