// strftime with the directives of glibc in the C locale.

const dayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const monthNames = [
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

/** A moment as separate fields, without a zone. */
export interface Fields {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly micro: number;
}

const weekdayOf = (f: Fields): number => {
  const d = new Date(0);
  d.setUTCFullYear(f.year, f.month - 1, f.day);
  return d.getUTCDay();
};

function dayOfYear(f: Fields): number {
  const start = new Date(0);
  start.setUTCFullYear(f.year, 0, 1);
  const now = new Date(0);
  now.setUTCFullYear(f.year, f.month - 1, f.day);
  return Math.round((now.getTime() - start.getTime()) / 86_400_000) + 1;
}

/** ISO year and week. */
function isoWeek(f: Fields): [number, number] {
  const weekday = (weekdayOf(f) + 6) % 7;
  const week = Math.floor((dayOfYear(f) - 1 - weekday + 10) / 7);
  if (week < 1) return isoWeek({ ...f, year: f.year - 1, month: 12, day: 31 });
  const last = { ...f, month: 12, day: 31 };
  if (week === 53 && (weekdayOf(last) + 6) % 7 < 3) return [f.year + 1, 1];
  return [f.year, week];
}

const hour12 = (hour: number): number => (hour % 12 === 0 ? 12 : hour % 12);

/** Number with its usual width and padding. */
type Part = string | readonly [number, number, string];

function datePart(code: string, f: Fields): Part | undefined {
  switch (code) {
    case 'Y':
      return [f.year, 4, ''];
    case 'C':
      return [Math.floor(f.year / 100), 2, '0'];
    case 'y':
      return [f.year % 100, 2, '0'];
    case 'm':
      return [f.month, 2, '0'];
    case 'd':
      return [f.day, 2, '0'];
    case 'e':
      return [f.day, 2, ' '];
    case 'j':
      return [dayOfYear(f), 3, '0'];
    case 'B':
      return monthNames[f.month - 1]!;
    case 'b':
    case 'h':
      return monthNames[f.month - 1]!.slice(0, 3);
    case 'A':
      return dayNames[weekdayOf(f)]!;
    case 'a':
      return dayNames[weekdayOf(f)]!.slice(0, 3);
    case 'u':
      return [weekdayOf(f) || 7, 1, ''];
    case 'w':
      return [weekdayOf(f), 1, ''];
    case 'U':
      return [Math.floor((dayOfYear(f) + 6 - weekdayOf(f)) / 7), 2, '0'];
    case 'W':
      return [Math.floor((dayOfYear(f) + 6 - ((weekdayOf(f) + 6) % 7)) / 7), 2, '0'];
    case 'V':
      return [isoWeek(f)[1], 2, '0'];
    case 'G':
      return [isoWeek(f)[0], 4, ''];
    case 'g':
      return [isoWeek(f)[0] % 100, 2, '0'];
    default:
      return undefined;
  }
}

function timePart(code: string, f: Fields): Part | undefined {
  switch (code) {
    case 'H':
      return [f.hour, 2, '0'];
    case 'k':
      return [f.hour, 2, ' '];
    case 'I':
      return [hour12(f.hour), 2, '0'];
    case 'l':
      return [hour12(f.hour), 2, ' '];
    case 'M':
      return [f.minute, 2, '0'];
    case 'S':
      return [f.second, 2, '0'];
    case 'f':
      return String(f.micro).padStart(6, '0');
    case 'p':
      return f.hour < 12 ? 'AM' : 'PM';
    case 'P':
      return f.hour < 12 ? 'am' : 'pm';
    case 's':
      return String(Math.floor(new Date(f.year, f.month - 1, f.day, f.hour, f.minute, f.second).getTime() / 1000));
    case 'Z':
    case 'z':
      return '';
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case '%':
      return '%';
    default:
      return undefined;
  }
}

const composed: Readonly<Record<string, string>> = {
  c: '%a %b %e %H:%M:%S %Y',
  x: '%m/%d/%y',
  X: '%H:%M:%S',
  D: '%m/%d/%y',
  F: '%Y-%m-%d',
  T: '%H:%M:%S',
  R: '%H:%M',
  r: '%I:%M:%S %p',
};

function show(part: Part, flags: string, width: number): string {
  let text: string;
  if (typeof part === 'string') text = part;
  else {
    const [value, size, usual] = part;
    let pad = usual;
    for (const flag of flags) pad = flag === '-' ? '' : flag === '_' ? ' ' : flag === '0' ? '0' : pad;
    const wanted = Math.max(width, flags.includes('-') ? 0 : size);
    text = pad === '' ? String(value) : String(value).padStart(wanted, pad);
  }
  if (flags.includes('^')) text = text.toUpperCase();
  if (flags.includes('#')) text = text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase();
  return text.padStart(width, flags.includes('0') ? '0' : ' ');
}

/** `datetime.strftime(format)` of a moment without zone. */
export function strftime(fields: Fields, format: string): string {
  return format.replace(/%([-_0^#]*)(\d*)[EO]?(.)/gsu, (whole, flags: string, width: string, code: string) => {
    const nested = composed[code];
    const part = nested === undefined ? (datePart(code, fields) ?? timePart(code, fields)) : strftime(fields, nested);
    return part === undefined ? whole : show(part, flags, Number(width || 0));
  });
}
