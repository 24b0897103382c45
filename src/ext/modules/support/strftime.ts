// Python's strftime for local times, in English as the minion runs with the C locale.
import { zoneAbbreviation, zoneOffset } from './timezone.ts';

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September'],
  ...['October', 'November', 'December'],
];
const two = (n: number): string => String(n).padStart(2, '0');
const blank = (n: number): string => String(n).padStart(2, ' ');

function dayOfYear(at: Date): number {
  const midnight = Date.UTC(at.getFullYear(), at.getMonth(), at.getDate());
  return Math.round((midnight - Date.UTC(at.getFullYear(), 0, 1)) / 86_400_000) + 1;
}

/** Year and number of the ISO week. */
function isoWeek(at: Date): [number, number] {
  const day = new Date(Date.UTC(at.getFullYear(), at.getMonth(), at.getDate()));
  day.setUTCDate(day.getUTCDate() + 4 - (day.getUTCDay() || 7));
  const start = Date.UTC(day.getUTCFullYear(), 0, 1);
  return [day.getUTCFullYear(), Math.ceil(((day.getTime() - start) / 86_400_000 + 1) / 7)];
}

const weekFrom = (at: Date, first: number): number =>
  Math.floor((dayOfYear(at) + 6 - ((at.getDay() - first + 7) % 7)) / 7);
const hour12 = (at: Date): number => at.getHours() % 12 || 12;

const codes: Readonly<Record<string, (at: Date) => string>> = {
  a: (at) => (days[at.getDay()] as string).slice(0, 3),
  A: (at) => days[at.getDay()] as string,
  b: (at) => (months[at.getMonth()] as string).slice(0, 3),
  B: (at) => months[at.getMonth()] as string,
  c: (at) => strftime(at, '%a %b %e %H:%M:%S %Y'),
  C: (at) => two(Math.floor(at.getFullYear() / 100)),
  d: (at) => two(at.getDate()),
  D: (at) => strftime(at, '%m/%d/%y'),
  e: (at) => blank(at.getDate()),
  f: (at) => String(at.getMilliseconds() * 1000).padStart(6, '0'),
  F: (at) => strftime(at, '%Y-%m-%d'),
  g: (at) => two(isoWeek(at)[0] % 100),
  G: (at) => String(isoWeek(at)[0]),
  h: (at) => (months[at.getMonth()] as string).slice(0, 3),
  H: (at) => two(at.getHours()),
  I: (at) => two(hour12(at)),
  j: (at) => String(dayOfYear(at)).padStart(3, '0'),
  k: (at) => blank(at.getHours()),
  l: (at) => blank(hour12(at)),
  m: (at) => two(at.getMonth() + 1),
  M: (at) => two(at.getMinutes()),
  n: () => '\n',
  p: (at) => (at.getHours() < 12 ? 'AM' : 'PM'),
  P: (at) => (at.getHours() < 12 ? 'am' : 'pm'),
  r: (at) => strftime(at, '%I:%M:%S %p'),
  R: (at) => strftime(at, '%H:%M'),
  s: (at) => String(Math.floor(at.getTime() / 1000)),
  S: (at) => two(at.getSeconds()),
  t: () => '\t',
  T: (at) => strftime(at, '%H:%M:%S'),
  u: (at) => String(at.getDay() || 7),
  U: (at) => two(weekFrom(at, 0)),
  V: (at) => two(isoWeek(at)[1]),
  w: (at) => String(at.getDay()),
  W: (at) => two(weekFrom(at, 1)),
  x: (at) => strftime(at, '%m/%d/%y'),
  X: (at) => strftime(at, '%H:%M:%S'),
  y: (at) => two(at.getFullYear() % 100),
  Y: (at) => String(at.getFullYear()),
  z: (at) => zoneOffset(at),
  Z: (at) => zoneAbbreviation(at),
  '%': () => '%',
};

/** A moment in local time, written by a pattern; codes it does not know stay as they are. */
export function strftime(at: Date, pattern: string): string {
  return pattern.replace(/%([-_]?)([a-zA-Z%])/g, (whole, flag: string, code: string) => {
    const make = Object.hasOwn(codes, code) ? codes[code] : undefined;
    if (!make) return whole;
    return flag === '-' ? make(at).replace(/^[0 ]+(?=.)/, '') : make(at);
  });
}
