// Time formats in the notation of C and Python (`%Y-%m-%d %H:%M:%S`), in local time and English names.

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

const pad = (value: number, width = 2, fill = '0'): string => String(value).padStart(width, fill);
const hour12 = (d: Date): number => d.getHours() % 12 || 12;
const dayName = (d: Date): string => days[d.getDay()] ?? '';
const monthName = (d: Date): string => months[d.getMonth()] ?? '';
const midnight = (year: number, month: number, day: number): number => Date.UTC(year, month, day);

/** Day of the year, from 1; computed in UTC so that summer time does not count. */
function dayOfYear(d: Date): number {
  return (midnight(d.getFullYear(), d.getMonth(), d.getDate()) - midnight(d.getFullYear(), 0, 1)) / 86_400_000 + 1;
}

/** Weeks that began on the given weekday since the year started. */
const weekOf = (d: Date, first: 0 | 1): number => Math.floor((dayOfYear(d) + 6 - ((d.getDay() + 7 - first) % 7)) / 7);

/** ISO year and week: a week belongs to the year of its Thursday. */
function isoWeek(d: Date): { year: number; week: number } {
  const thursday = new Date(d.getFullYear(), d.getMonth(), d.getDate() + 3 - ((d.getDay() + 6) % 7), 12);
  return { year: thursday.getFullYear(), week: Math.floor((dayOfYear(thursday) - 1) / 7) + 1 };
}

function offset(d: Date): string {
  const minutes = -d.getTimezoneOffset();
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${pad(Math.floor(size / 60))}${pad(size % 60)}`;
}

function zoneName(d: Date): string {
  const parts = new Intl.DateTimeFormat('en-US', { timeZoneName: 'short' }).formatToParts(d);
  return parts.find((part) => part.type === 'timeZoneName')?.value ?? '';
}

const directives: Readonly<Record<string, (d: Date) => string>> = {
  a: (d) => dayName(d).slice(0, 3),
  A: dayName,
  b: (d) => monthName(d).slice(0, 3),
  B: monthName,
  c: (d) => strftime('%a %b %e %H:%M:%S %Y', d),
  C: (d) => pad(Math.floor(d.getFullYear() / 100)),
  d: (d) => pad(d.getDate()),
  D: (d) => strftime('%m/%d/%y', d),
  e: (d) => pad(d.getDate(), 2, ' '),
  F: (d) => strftime('%Y-%m-%d', d),
  g: (d) => pad(isoWeek(d).year % 100),
  G: (d) => String(isoWeek(d).year),
  h: (d) => monthName(d).slice(0, 3),
  H: (d) => pad(d.getHours()),
  I: (d) => pad(hour12(d)),
  j: (d) => pad(dayOfYear(d), 3),
  k: (d) => pad(d.getHours(), 2, ' '),
  l: (d) => pad(hour12(d), 2, ' '),
  m: (d) => pad(d.getMonth() + 1),
  M: (d) => pad(d.getMinutes()),
  n: () => '\n',
  p: (d) => (d.getHours() < 12 ? 'AM' : 'PM'),
  r: (d) => strftime('%I:%M:%S %p', d),
  R: (d) => strftime('%H:%M', d),
  s: (d) => String(Math.floor(d.getTime() / 1000)),
  S: (d) => pad(d.getSeconds()),
  t: () => '\t',
  T: (d) => strftime('%H:%M:%S', d),
  u: (d) => String(d.getDay() || 7),
  U: (d) => pad(weekOf(d, 0)),
  V: (d) => pad(isoWeek(d).week),
  w: (d) => String(d.getDay()),
  W: (d) => pad(weekOf(d, 1)),
  x: (d) => strftime('%m/%d/%y', d),
  X: (d) => strftime('%H:%M:%S', d),
  y: (d) => pad(d.getFullYear() % 100),
  Y: (d) => String(d.getFullYear()),
  z: offset,
  Z: zoneName,
  '%': () => '%',
};

/** Formats a moment; directives nobody knows stay as they are written. */
export function strftime(format: string, moment: Date): string {
  return format.replace(/%([a-zA-Z%])/g, (whole, letter: string) => directives[letter]?.(moment) ?? whole);
}
