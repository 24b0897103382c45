// strftime with the directives of glibc in the C locale, as in Python.
import { zoneAbbreviation, zoneOffset } from './time-zone.ts';

const dayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const monthNames = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];

/** A moment as separate fields. */
export interface TimeFields {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** Python's `%f`; without it that directive stays unchanged, as in `time.strftime`. */
  readonly micro?: number;
  /** The time of which the fields are the local time; without it they have no zone. */
  readonly at?: Date;
}

/** Local time, without fractions of a second. */
export function localTime(at: Date): TimeFields {
  return {
    ...{ year: at.getFullYear(), month: at.getMonth() + 1, day: at.getDate() },
    ...{ hour: at.getHours(), minute: at.getMinutes(), second: at.getSeconds(), at },
  };
}

/** Midnight in UTC, where all days have the same length. */
function dayNumber(year: number, month: number, day: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return Math.round(date.getTime() / 86_400_000);
}

/** From Sunday, 0; the first day of 1970 was a Thursday. */
const weekdayOf = (f: TimeFields): number => (((dayNumber(f.year, f.month, f.day) + 4) % 7) + 7) % 7;
const dayOfYear = (f: TimeFields): number => dayNumber(f.year, f.month, f.day) - dayNumber(f.year, 1, 1) + 1;
/** Number of weeks since the beginning of the year that began on the given weekday. */
const weekFrom = (f: TimeFields, first: number): number =>
  Math.floor((dayOfYear(f) + 6 - ((weekdayOf(f) - first + 7) % 7)) / 7);

/** ISO year and week: a week belongs to the year of its Thursday. */
function isoWeek(f: TimeFields): readonly [year: number, week: number] {
  const thursday = new Date((dayNumber(f.year, f.month, f.day) + 3 - ((weekdayOf(f) + 6) % 7)) * 86_400_000);
  const year = thursday.getUTCFullYear();
  return [year, Math.floor((thursday.getTime() / 86_400_000 - dayNumber(year, 1, 1)) / 7) + 1];
}

const hour12 = (f: TimeFields): number => f.hour % 12 || 12;
const epoch = (f: TimeFields): number =>
  (f.at ?? new Date(f.year, f.month - 1, f.day, f.hour, f.minute, f.second)).getTime();

/** A text, or a number with its usual width and padding; undefined: the directive stays unchanged. */
type Part = string | readonly [value: number, width: number, padding: string] | undefined;

const padded = (value: number, width = 2, padding = '0'): Part => [value, width, padding];

const directives: Readonly<Record<string, (f: TimeFields) => Part>> = {
  a: (f) => dayNames[weekdayOf(f)]?.slice(0, 3),
  A: (f) => dayNames[weekdayOf(f)],
  b: (f) => monthNames[f.month - 1]?.slice(0, 3),
  B: (f) => monthNames[f.month - 1],
  C: (f) => padded(Math.floor(f.year / 100)),
  d: (f) => padded(f.day),
  e: (f) => padded(f.day, 2, ' '),
  f: (f) => (f.micro === undefined ? undefined : String(f.micro).padStart(6, '0')),
  g: (f) => padded(isoWeek(f)[0] % 100),
  G: (f) => padded(isoWeek(f)[0], 1),
  h: (f) => monthNames[f.month - 1]?.slice(0, 3),
  H: (f) => padded(f.hour),
  I: (f) => padded(hour12(f)),
  j: (f) => padded(dayOfYear(f), 3),
  k: (f) => padded(f.hour, 2, ' '),
  l: (f) => padded(hour12(f), 2, ' '),
  m: (f) => padded(f.month),
  M: (f) => padded(f.minute),
  n: () => '\n',
  p: (f) => (f.hour < 12 ? 'AM' : 'PM'),
  P: (f) => (f.hour < 12 ? 'am' : 'pm'),
  s: (f) => String(Math.floor(epoch(f) / 1000)),
  S: (f) => padded(f.second),
  t: () => '\t',
  u: (f) => padded(weekdayOf(f) || 7, 1),
  U: (f) => padded(weekFrom(f, 0)),
  V: (f) => padded(isoWeek(f)[1]),
  w: (f) => padded(weekdayOf(f), 1),
  W: (f) => padded(weekFrom(f, 1)),
  y: (f) => padded(f.year % 100),
  Y: (f) => padded(f.year, 1),
  z: (f) => (f.at ? zoneOffset(f.at) : ''),
  Z: (f) => (f.at ? zoneAbbreviation(f.at) : ''),
  '%': () => '%',
};

/** Directives that abbreviate others. */
const composed: Readonly<Record<string, string>> = {
  c: '%a %b %e %H:%M:%S %Y',
  D: '%m/%d/%y',
  F: '%Y-%m-%d',
  r: '%I:%M:%S %p',
  R: '%H:%M',
  T: '%H:%M:%S',
  x: '%m/%d/%y',
  X: '%H:%M:%S',
};

/** Directives before which the letters E and O are not allowed. */
const without: Readonly<Record<string, string>> = { E: 'aAbBdDeFgGhHIjklmMSUVwW', O: 'aAcDFxXY' };

/** `^` converts to upper case, `#` converts names to upper case and upper-case text to lower case. */
function cased(text: string, code: string, flags: string): string {
  const turned = flags.includes('#');
  if (turned && (code === 'p' || code === 'Z')) return text.toLowerCase();
  const capitals = (flags.includes('^') && code !== 'P') || (turned && 'aAbBh'.includes(code));
  return capitals ? text.toUpperCase() : text;
}

function show(part: NonNullable<Part>, code: string, flags: string, width: number): string {
  let text: string;
  if (typeof part === 'string') text = part;
  else {
    const [value, size, usual] = part;
    let padding = usual;
    for (const flag of flags) padding = flag === '-' ? '' : flag === '_' ? ' ' : flag === '0' ? '0' : padding;
    const wanted = Math.max(width, flags.includes('-') ? 0 : size);
    text = padding === '' ? String(value) : String(value).padStart(wanted, padding);
  }
  return cased(text, code, flags).padStart(width, flags.includes('0') ? '0' : ' ');
}

/** A bound on the width, so that a pattern cannot fill the memory. */
const widest = 10_000;

/** Formats a time with a pattern; a Date is local time. Unknown directives stay unchanged. */
export function strftime(moment: TimeFields | Date, format: string): string {
  const fields = moment instanceof Date ? { ...localTime(moment), micro: moment.getMilliseconds() * 1000 } : moment;
  return format.replace(directive, (whole, flags: string, width: string, variant: string, code: string) => {
    if (without[variant]?.includes(code)) return whole;
    const nested = Object.hasOwn(composed, code) ? composed[code] : undefined;
    const part = nested === undefined ? partOf(code, fields) : strftime(fields, nested);
    return part === undefined ? whole : show(part, code, flags, Math.min(Number(width || 0), widest));
  });
}

const directive = /%([-_0^#]*)(\d*)([EO]?)(.)/gsu;
const partOf = (code: string, fields: TimeFields): Part =>
  Object.hasOwn(directives, code) ? directives[code]?.(fields) : undefined;
