// One check of one job: whether it is due, whether it may run, and when its next time is.
import { isTruthy } from '../../base/codec/python/index.ts';
import { dictGet, isDict, type Value } from '../../base/codec/value.ts';
import { mayRun, type Rules, type Verdict } from './allowed.ts';
import { type Entry, functionOf, numberNamed, type Timing, timingOf } from './entry.ts';
import { nextFire, type TimeTools } from './next-fire.ts';

export interface EvaluateOptions extends Rules {
  readonly tools: TimeTools;
  readonly enabled: boolean;
  readonly splay: Value | undefined;
  /** How long after its given time a job still runs. */
  readonly graceMs: number;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
}

export interface Due {
  readonly entry: Entry;
  readonly fun: string;
  readonly lateMs: number;
  /** The time for which it was due, without a random delay. */
  readonly meant: Date;
}

/**
 * Additional seconds to wait: `splay: 15` is one to fifteen, `{start, end}` from one to the other; undefined when
 * invalid.
 */
export function splaySeconds(splay: Value | undefined, random: () => number): number | undefined {
  if (splay === undefined || splay === null || splay === false) return 0;
  const [low, high] = isDict(splay)
    ? [numberNamed(dictGet(splay, 'start') ?? 0), numberNamed(dictGet(splay, 'end') ?? 0)]
    : [1, numberNamed(splay)];
  if (!Number.isFinite(low) || !Number.isFinite(high) || (isDict(splay) && high < low)) return undefined;
  return high < low ? 0 : low + Math.floor(random() * (high - low + 1));
}

/** Sets the job's next time, counted from `begin`, and the random delay added to it. */
function arm(entry: Entry, timing: Timing, begin: Date, now: Date, options: EvaluateOptions): void {
  const { state, data } = entry;
  const next = nextFire(timing, begin, now, entry.name, options.tools);
  state.error = 'error' in next ? next.error : undefined;
  state.nextFire = 'error' in next ? undefined : next.at;
  state.splayed = undefined;
  if (!state.nextFire) return;
  const seconds = splaySeconds(data['splay'] ?? options.splay, options.random);
  if (seconds === undefined)
    state.error = 'schedule.handle_func: Invalid Splay, end must be larger than start. Ignoring splay.';
  else if (seconds > 0) state.splayed = new Date(state.nextFire.getTime() + seconds * 1000);
}

/** Salt compares whole seconds: a job for 10:00:05.9 runs at a check at 10:00:05.1. */
const secondOf = (at: Date): number => Math.floor(at.getTime() / 1000);

const lookMs = 1000;
/** A run to be skipped longer ago than this can no longer occur. */
const dayMs = 86_400_000;

function forgetBefore(moments: Date[], time: number): void {
  for (let i = moments.length - 1; i >= 0; i--) if ((moments[i] as Date).getTime() < time) moments.splice(i, 1);
}

/** Manually requested times that have come; removes them. */
function takeAsked(entry: Entry, now: Date, graceMs: number): Date | undefined {
  const { runAt } = entry.state;
  forgetBefore(runAt, now.getTime() - graceMs);
  const index = runAt.findIndex((at) => at <= now);
  return index === -1 ? undefined : runAt.splice(index, 1)[0];
}

/** Checks a job at `now` and updates its state; returns the due run, if any. */
export function evaluate(entry: Entry, now: Date, options: EvaluateOptions): Due | undefined {
  const { state, data, name } = entry;
  const timing = timingOf(data);
  // Without times it runs only on request.
  if (!timing) return undefined;
  if ('error' in timing) {
    state.error = timing.error;
    return undefined;
  }
  const first = !state.begun;
  state.begun = true;
  state.skipped = undefined;
  // Configured times before the start of the daemon do not run.
  if (first) forgetBefore(state.runAt, now.getTime() - lookMs);
  forgetBefore(state.skipAt, now.getTime() - dayMs);
  if (!state.nextFire && !(state.error && !first)) arm(entry, timing, now, now, options);
  if (!isTruthy(data['enabled'] ?? ('enabled' in data ? null : true)) || !options.enabled)
    return disabled(entry, timing, now, options);
  if (state.error && !state.nextFire) return undefined;
  const asked = takeAsked(entry, now, options.graceMs);
  const fun = functionOf(data);
  if (first && state.nextFire && isTruthy(data['run_on_start'] ?? null))
    return start(entry, timing, now, options, { entry, fun, lateMs: 0, meant: now });
  const at = state.splayed ?? state.nextFire;
  const due = at !== undefined && secondOf(at) <= secondOf(now);
  if (!due && !asked) return undefined;
  const meant = (due ? state.nextFire : asked) ?? now;
  const lateMs = due ? Math.max(0, now.getTime() - at.getTime()) : 0;
  const missed = due && !asked && isNamed(timing) && lateMs > options.graceMs;
  const verdict: Verdict = missed
    ? { run: false }
    : mayRun(name, data, state, { now, meant: (due ? at : asked) ?? now }, options);
  if (verdict.error) {
    // Nothing is scheduled: the job stays due, and the error is repeated until it is fixed.
    state.error = verdict.error;
    return undefined;
  }
  if (verdict.reason) state.skipped = { reason: verdict.reason, at: now };
  if (verdict.run) return start(entry, timing, now, options, { entry, fun: verdict.instead ?? fun, lateMs, meant });
  if (due && !(verdict.staysDue && timing.kind === 'interval')) arm(entry, timing, now, now, options);
  return undefined;
}

/** Jobs for a given time do not run long after it, for example after a suspended machine resumes. */
const isNamed = (timing: Timing): boolean => timing.kind === 'when' || timing.kind === 'once';

function disabled(entry: Entry, timing: Timing, now: Date, options: EvaluateOptions): undefined {
  const at = entry.state.nextFire;
  // Salt does not check a job for a single time before that time.
  if (timing.kind !== 'once' || (at && at <= now)) entry.state.skipped = { reason: 'disabled', at: now };
  if (at && at <= now) arm(entry, timing, now, now, options);
}

function start(entry: Entry, timing: Timing, now: Date, options: EvaluateOptions, due: Due): Due {
  entry.state.lastRun = now;
  // A job for a given time keeps its time when it ran for another reason.
  const waits = entry.state.nextFire !== undefined && entry.state.nextFire > now && timing.kind !== 'interval';
  if (!waits) arm(entry, timing, now, now, options);
  return due;
}
