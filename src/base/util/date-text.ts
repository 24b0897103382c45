// Dates and times as people write them (`Monday 5:00pm`, `2026-11-30 14:00`, `Nov 30, 2026 2pm`), read as Python's dateutil does.

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const fillers = new Set(['at', 'on', 'and', 'of', 'ad', 'm', 't', 'the', 'st', 'nd', 'rd', 'th']);

interface Found {
  year?: number;
  month?: number;
  day?: number;
  weekday?: number;
  hour?: number;
  minute?: number;
  second?: number;
  milli?: number;
  /** Minutes east of Greenwich. */
  zone?: number;
}

type Reader = readonly [pattern: RegExp, read: (match: RegExpExecArray, found: Found) => boolean];

const fullYear = (text: string): number => {
  const year = Number(text);
  if (text.length > 2) return year;
  const century = Math.floor(new Date().getFullYear() / 100) * 100;
  const near = century + year;
  return near - new Date().getFullYear() >= 50 ? near - 100 : near;
};

function date(found: Found, year: number | undefined, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1 || day > 31 || found.month !== undefined) return false;
  Object.assign(found, { month, day }, year === undefined ? {} : { year });
  return true;
}

/** Month first, as in the United States, unless that gives no valid date. */
const numbers = (found: Found, year: number | undefined, a: number, b: number): boolean =>
  a > 12 ? date(found, year, b, a) : date(found, year, a, b);

function time(found: Found, hour: number, minute: number, second: number, milli: number, half?: string): boolean {
  if (found.hour !== undefined || minute > 59 || second > 59) return false;
  if (half !== undefined && (hour < 1 || hour > 12)) return false;
  const full = half === undefined ? hour : (hour % 12) + (half.startsWith('p') ? 12 : 0);
  if (full > 23) return false;
  Object.assign(found, { hour: full, minute, second, milli });
  return true;
}

const monthWord = `(${months.join('|')})[a-z]*\\.?`;
const half = '([ap])\\.?m\\.?(?![a-z])';
const readers: readonly Reader[] = [
  [/^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)t?/, (m, f) => date(f, Number(m[1]), Number(m[2]), Number(m[3]))],
  [
    /^(\d{4})(\d{2})(\d{2})(?:t?(\d{2})(\d{2})(\d{2})?)?(?![\d:])/,
    (m, f) =>
      date(f, Number(m[1]), Number(m[2]), Number(m[3])) &&
      (m[4] === undefined || time(f, Number(m[4]), Number(m[5]), Number(m[6] ?? 0), 0)),
  ],
  [
    /^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}|\d{2})(?!\d)t?/,
    (m, f) => numbers(f, fullYear(m[3] ?? ''), Number(m[1]), Number(m[2])),
  ],
  [/^(\d{1,2})\/(\d{1,2})(?![\d/])/, (m, f) => numbers(f, undefined, Number(m[1]), Number(m[2]))],
  [
    new RegExp(`^(\\d{1,2})(?::(\\d{2}))?(?::(\\d{2})(?:[.,](\\d+))?)?\\s*${half}`),
    (m, f) => time(f, Number(m[1]), Number(m[2] ?? 0), Number(m[3] ?? 0), fraction(m[4]), m[5]),
  ],
  [
    /^(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?![\d:])/,
    (m, f) => time(f, Number(m[1]), Number(m[2]), Number(m[3] ?? 0), fraction(m[4])),
  ],
  [
    new RegExp(`^(\\d{1,2})(?:st|nd|rd|th)?[ .,\\-/]*${monthWord}(?![a-z])(?:[ .,\\-/]+(\\d{4})(?![:\\d]))?`),
    (m, f) => date(f, m[3] === undefined ? undefined : Number(m[3]), monthOf(m[2]), Number(m[1])),
  ],
  [
    new RegExp(`^${monthWord}(?![a-z])[ .,\\-/]*(\\d{1,2})(?:st|nd|rd|th)?(?![:\\d])(?:[ .,\\-/]+(\\d{4})(?![:\\d]))?`),
    (m, f) => date(f, m[3] === undefined ? undefined : Number(m[3]), monthOf(m[1]), Number(m[2])),
  ],
  [
    new RegExp(`^${monthWord}(?![a-z])[ .,]*(\\d{4})?(?![:\\d])`),
    (m, f) => {
      if (f.month !== undefined || (m[2] !== undefined && f.year !== undefined)) return false;
      Object.assign(f, { month: monthOf(m[1]) }, m[2] === undefined ? {} : { year: Number(m[2]) });
      return true;
    },
  ],
  [
    /^(sun|mon|tue|wed|thu|fri|sat)(?:day|sday|nesday|rsday|urday)?\.?(?![a-z])/,
    (m, f) => {
      f.weekday = weekdays.indexOf(m[1] ?? '');
      return true;
    },
  ],
  [
    /^(?:(z|utc|gmt)|([+-])(\d{2}):?(\d{2})?)(?![a-z\d])/,
    (m, f) => {
      if (f.hour === undefined) return false;
      const minutes = Number(m[3] ?? 0) * 60 + Number(m[4] ?? 0);
      f.zone = m[2] === '-' ? -minutes : minutes;
      return true;
    },
  ],
  [
    /^(\d{4})(?![\d:])/,
    (m, f) => {
      if (f.year !== undefined) return false;
      f.year = Number(m[1]);
      return true;
    },
  ],
  [
    /^(\d{1,2})(?:st|nd|rd|th)?(?![\d:a-z])/,
    (m, f) => {
      if (f.day !== undefined || Number(m[1]) < 1 || Number(m[1]) > 31) return false;
      f.day = Number(m[1]);
      return true;
    },
  ],
];

const monthOf = (word: string | undefined): number => months.indexOf((word ?? '').slice(0, 3)) + 1;
const fraction = (digits: string | undefined): number =>
  digits === undefined ? 0 : Math.floor(Number(`0.${digits}`) * 1000);

function readAll(text: string): Found | undefined {
  const found: Found = {};
  let rest = text.trim().toLowerCase();
  if (rest === '') return undefined;
  while (rest !== '') {
    const word = /^[a-z]+/.exec(rest)?.[0] ?? '';
    const next = fillers.has(word) ? word.length : readOne(rest, found);
    if (next === undefined) return undefined;
    rest = rest.slice(next).replace(/^[\s,;]+/, '');
  }
  return found;
}

/** The number of characters read; undefined when no reader accepts them. */
function readOne(rest: string, found: Found): number | undefined {
  for (const [pattern, read] of readers) {
    const match = pattern.exec(rest);
    if (match && read(match, found)) return match[0].length;
  }
  return undefined;
}

/**
 * The time that a text means on the day of `now`: missing parts are taken from midnight of that day. Undefined when
 * unreadable.
 */
export function parseDateText(text: string, now: Date): Date | undefined {
  const found = readAll(text);
  if (!found) return undefined;
  const year = found.year ?? now.getFullYear();
  const month = (found.month ?? now.getMonth() + 1) - 1;
  const last = new Date(year, month + 1, 0).getDate();
  if (found.day !== undefined && found.day > last) return undefined;
  const day = found.day ?? Math.min(now.getDate(), last);
  const clock = [found.hour ?? 0, found.minute ?? 0, found.second ?? 0, found.milli ?? 0] as const;
  const made = new Date(year, month, day, ...clock);
  if (found.weekday !== undefined && found.day === undefined)
    made.setDate(made.getDate() + ((found.weekday - made.getDay() + 7) % 7));
  if (found.zone === undefined) return made;
  const utc = Date.UTC(made.getFullYear(), made.getMonth(), made.getDate(), ...clock);
  return new Date(utc - found.zone * 60_000);
}
