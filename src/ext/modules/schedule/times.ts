// The scheduler's times in another notation.
import { newDict, type PlainDict, type Value } from 'halite/sdk';
import { parseLocalTime } from 'halite/sdk/time';

const names = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const two = (value: number): string => String(value).padStart(2, '0');
const directives: Readonly<Record<string, (at: Date) => string>> = {
  Y: (at) => String(at.getFullYear()),
  m: (at) => two(at.getMonth() + 1),
  d: (at) => two(at.getDate()),
  H: (at) => two(at.getHours()),
  M: (at) => two(at.getMinutes()),
  S: (at) => two(at.getSeconds()),
  I: (at) => two(at.getHours() % 12 || 12),
  p: (at) => (at.getHours() < 12 ? 'AM' : 'PM'),
  y: (at) => two(at.getFullYear() % 100),
  a: (at) => names[at.getDay()] ?? '',
  s: (at) => String(Math.floor(at.getTime() / 1000)),
  '%': () => '%',
};
const fields = ['_next_fire_time', '_splay', '_next_scheduled_fire_time', '_last_run', '_skipped_time'];
const given = '%Y-%m-%dT%H:%M:%S';

/** Writes the times among the scheduler's own fields in a format. */
export function withFormat(data: PlainDict, format: string): PlainDict {
  const write = (value: Value): Value => {
    const at = typeof value === 'string' ? parseLocalTime(value, given) : undefined;
    return at ? format.replace(/%(.)/g, (whole, letter: string) => directives[letter]?.(at) ?? whole) : value;
  };
  return newDict(Object.entries(data).map(([key, value]) => [key, fields.includes(key) ? write(value) : value]));
}
