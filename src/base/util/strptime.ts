// Python’s strptime for the directives used in settings, in names of backups and in times of jobs.

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const longMonths = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];
const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const longDays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

interface Parts {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  milli: number;
  afternoon: boolean | undefined;
  dayOfYear: number | undefined;
  offset: number;
  epoch: number | undefined;
}
type Reader = readonly [pattern: string, take: (text: string) => Partial<Parts>];

const number = (read: (value: number) => Partial<Parts>) => (text: string) => read(Number(text));

const readers: Readonly<Record<string, Reader>> = {
  Y: ['\\d{4}', number((value) => ({ year: value }))],
  y: ['\\d{2}', number((value) => ({ year: value < 69 ? 2000 + value : 1900 + value }))],
  m: ['1[0-2]|0[1-9]|[1-9]', number((value) => ({ month: value }))],
  d: ['3[01]|[12]\\d|0[1-9]|[1-9]| [1-9]', number((value) => ({ day: value }))],
  H: ['2[0-3]|[01]\\d|\\d', number((value) => ({ hour: value }))],
  I: ['1[0-2]|0[1-9]|[1-9]', number((value) => ({ hour: value % 12 }))],
  M: ['[0-5]\\d|\\d', number((value) => ({ minute: value }))],
  S: ['6[01]|[0-5]\\d|\\d', number((value) => ({ second: value }))],
  f: ['\\d{1,6}', (text) => ({ milli: Number(`0.${text}`) * 1000 })],
  j: [
    '36[0-6]|3[0-5]\\d|[12]\\d\\d|0[1-9]\\d|00[1-9]|[1-9]\\d|0[1-9]|[1-9]',
    number((value) => ({ dayOfYear: value })),
  ],
  p: ['am|pm', (text) => ({ afternoon: text.toLowerCase() === 'pm' })],
  b: [months.join('|'), (text) => ({ month: months.indexOf(text.toLowerCase()) + 1 })],
  B: [longMonths.join('|'), (text) => ({ month: longMonths.indexOf(text.toLowerCase()) + 1 })],
  a: [days.join('|'), () => ({})],
  A: [longDays.join('|'), () => ({})],
  z: ['[+-]\\d\\d:?[0-5]\\d|Z', (text) => ({ offset: offsetOf(text) })],
  Z: ['utc|gmt', () => ({})],
  s: ['\\d+', number((value) => ({ epoch: value }))],
};
const wholes: Readonly<Record<string, string>> = {
  F: '%Y-%m-%d',
  T: '%H:%M:%S',
  D: '%m/%d/%y',
  R: '%H:%M',
  c: '%a %b %d %H:%M:%S %Y',
  x: '%m/%d/%y',
  X: '%H:%M:%S',
};

function offsetOf(text: string): number {
  const match = /([+-])(\d\d):?(\d\d)/.exec(text);
  return match ? (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3])) : 0;
}

/** The time that a text represents, read as UTC; undefined when it does not match the format. */
export function parseTime(text: string, format: string): Date | undefined {
  const taken: Reader[] = [];
  const spelled = format.replace(/%([FTDRcxX])/g, (_, letter: string) => wholes[letter] ?? '');
  const pattern = spelled.replace(/%(.)|\s+|[\\^$.*+?()[\]{}|]/g, (part, letter: string | undefined) => {
    if (letter === undefined) return /^\s/.test(part) ? '\\s+' : `\\${part}`;
    const reader = Object.hasOwn(readers, letter) ? readers[letter] : undefined;
    if (!reader) return letter === '%' ? '%' : '(?!)';
    taken.push(reader);
    return `(${reader[0]})`;
  });
  const match = new RegExp(`^${pattern}$`, 'i').exec(text);
  if (!match) return undefined;
  const parts: Parts = {
    year: 1900,
    month: 1,
    day: 1,
    hour: 0,
    minute: 0,
    second: 0,
    milli: 0,
    afternoon: undefined,
    dayOfYear: undefined,
    offset: 0,
    epoch: undefined,
  };
  for (const [index, reader] of taken.entries()) Object.assign(parts, reader[1](match[index + 1] ?? ''));
  if (parts.epoch !== undefined) return new Date(parts.epoch * 1000);
  const hour = parts.afternoon ? parts.hour + 12 : parts.hour;
  const [month, day] = parts.dayOfYear === undefined ? [parts.month, parts.day] : [1, parts.dayOfYear];
  const made = new Date(
    Date.UTC(parts.year, month - 1, day, hour, parts.minute - parts.offset, parts.second, parts.milli),
  );
  // The 31st of a month with 30 days is not a date.
  return parts.dayOfYear === undefined && parts.offset === 0 && made.getUTCDate() !== parts.day ? undefined : made;
}

/** The same text read as local time, as Python's datetime without a zone. */
export function parseLocalTime(text: string, format: string): Date | undefined {
  const utc = parseTime(text, format);
  if (!utc) return undefined;
  return new Date(
    utc.getUTCFullYear(),
    utc.getUTCMonth(),
    utc.getUTCDate(),
    utc.getUTCHours(),
    utc.getUTCMinutes(),
    utc.getUTCSeconds(),
    utc.getUTCMilliseconds(),
  );
}
