// Start times and durations in the form of state results.
import { newDict, type PlainDict, pyFloat, type Value } from '../../../base/codec/value.ts';

/** A time, to the microsecond. */
export interface Moment {
  /** Microseconds since 1970. */
  readonly micros: number;
}

/** Microseconds of a monotonic clock; `performance` would do too, but it takes a while to load. */
function ticks(): number {
  const [seconds, nanos] = process.hrtime();
  return seconds * 1e6 + Math.floor(nanos / 1000);
}

const origin = Date.now() * 1000 - ticks();

export function now(): Moment {
  return { micros: origin + ticks() };
}

/** `15:04:05.123456` in local time. */
export function clockText({ micros }: Moment): string {
  const date = new Date(micros / 1000);
  const two = (part: number): string => String(part).padStart(2, '0');
  const text = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  const fraction = micros % 1_000_000;
  return fraction === 0 ? text : `${text}.${String(fraction).padStart(6, '0')}`;
}

/** Milliseconds between two moments, as a float. */
export function durationOf(from: Moment, to: Moment = now()): Value {
  return pyFloat(Math.max(0, to.micros - from.micros) / 1000);
}

/** The times of a state that was not run. */
export function noTime(): PlainDict {
  const start = now();
  return newDict([
    ['duration', durationOf(start)],
    ['start_time', clockText(start)],
  ]);
}
