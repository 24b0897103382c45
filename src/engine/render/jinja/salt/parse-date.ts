// Dates in words and figures, as far as templates use them (`2024/01/31`, `1 Jan 2024 10:00`, `tomorrow`, `+2 days`).
import type { TimeFields as Fields } from '../../../../base/util/strftime.ts';

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Fields of a moment in UTC. */
export function utcFields(millis: number): Fields {
  const d = new Date(millis);
  return {
    year: d.getUTCFullYear(),
    month: d.getUTCMonth() + 1,
    day: d.getUTCDate(),
    hour: d.getUTCHours(),
    minute: d.getUTCMinutes(),
    second: d.getUTCSeconds(),
    micro: d.getUTCMilliseconds() * 1000,
  };
}

/** What has been read so far, on a working date in UTC. */
class Reading {
  rest: string;
  readonly at: Date;
  #timed = false;
  constructor(text: string, now: number) {
    this.rest = text.trim().toLowerCase();
    this.at = new Date(now);
    this.at.setUTCMilliseconds(0);
  }
  /** Consumes a pattern at the start. */
  take(pattern: RegExp): RegExpExecArray | undefined {
    const match = pattern.exec(this.rest);
    if (match === null || match.index !== 0) return undefined;
    this.rest = this.rest.slice(match[0].length).replace(/^[\s,]+/, '');
    return match;
  }
  date(year: number, month: number, day: number): boolean {
    if (month < 1 || month > 12 || day < 1 || day > 31) return false;
    this.at.setUTCFullYear(year, month - 1, day);
    // A time of day may stand before the date.
    if (!this.#timed) this.at.setUTCHours(0, 0, 0, 0);
    return true;
  }
  time(hour: number, minute: number, second: number, milli = 0): void {
    this.at.setUTCHours(hour, minute, second, milli);
    this.#timed = true;
  }
}

const fullYear = (text: string): number => {
  const year = Number(text);
  return text.length > 2 ? year : year + (year < 70 ? 2000 : 1900);
};
const monthNumber = (name: string): number => months.indexOf(name.slice(0, 3)) + 1;
const monthWord =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';

function readDate(r: Reading): boolean | undefined {
  let m = r.take(/^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)t?/);
  if (m) return r.date(Number(m[1]), Number(m[2]), Number(m[3]));
  m = r.take(/^(\d{4})-?w(\d{2})(?:-?([1-7]))?(?!\d)/);
  if (m) return weekDate(r, Number(m[1]), Number(m[2]), Number(m[3] ?? 1));
  m = r.take(/^(\d{4})-(\d{2})(?![-\d])/);
  if (m) return r.date(Number(m[1]), Number(m[2]), 1);
  m = r.take(/^(\d{4})(\d{2})(\d{2})t(\d{2}):?(\d{2}):?(\d{2})(?!\d)/);
  if (m) {
    r.time(Number(m[4]), Number(m[5]), Number(m[6]));
    return r.date(Number(m[1]), Number(m[2]), Number(m[3]));
  }
  m = r.take(/^(\d{4})(\d{2})(\d{2})(?!\d)t?/);
  if (m) return r.date(Number(m[1]), Number(m[2]), Number(m[3]));
  m = r.take(/^(\d{1,2})\/(\d{1,2})\/(\d{4}|\d{2})(?!\d)/);
  if (m) return r.date(fullYear(m[3]!), Number(m[1]), Number(m[2]));
  m = r.take(/^(\d{1,2})[-.](\d{1,2})[-.](\d{4}|\d{2})(?!\d)/);
  if (m) return r.date(fullYear(m[3]!), Number(m[2]), Number(m[1]));
  m = r.take(new RegExp(`^(\\d{1,2})(?:st|nd|rd|th)?[ .\\-]*${monthWord}(?:[ .,\\-]+(\\d{4})(?![:\\d]))?`));
  if (m) return r.date(m[3] === undefined ? r.at.getUTCFullYear() : Number(m[3]), monthNumber(m[2]!), Number(m[1]));
  m = r.take(new RegExp(`^${monthWord}[ .,\\-]+(\\d{4})(?![:\\d])`));
  if (m) return r.date(Number(m[2]), monthNumber(m[1]!), 1);
  m = r.take(new RegExp(`^${monthWord}[ .\\-]*(\\d{1,2})(?:st|nd|rd|th)?(?![:\\d])(?:[ .,\\-]+(\\d{4})(?![:\\d]))?`));
  if (m) return r.date(m[3] === undefined ? r.at.getUTCFullYear() : Number(m[3]), monthNumber(m[1]!), Number(m[2]));
  return undefined;
}

/** A day of an ISO week; the first week is the one with the fourth of January. */
function weekDate(r: Reading, year: number, week: number, day: number): boolean {
  const fourth = new Date(Date.UTC(year, 0, 4));
  const monday = 4 - ((fourth.getUTCDay() + 6) % 7);
  const date = new Date(Date.UTC(year, 0, monday + (week - 1) * 7 + day - 1));
  return r.date(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate());
}

function readTime(r: Reading): boolean | undefined {
  const hourOnly = r.take(/^(\d{1,2})\s*([ap])\.?m\b\.?/);
  if (hourOnly) {
    if (Number(hourOnly[1]) > 12) return false;
    r.time((Number(hourOnly[1]) % 12) + (hourOnly[2] === 'p' ? 12 : 0), 0, 0);
    return true;
  }
  const m = r.take(/^(?:at |t)?(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s*([ap]\.?m\.?)?/);
  if (!m) return undefined;
  let hour = Number(m[1]);
  if (m[5] !== undefined) hour = (hour % 12) + (m[5].startsWith('p') ? 12 : 0);
  if (hour > 24 || Number(m[2]) > 59) return false;
  r.time(hour, Number(m[2]), Number(m[3] ?? 0), Math.floor(Number(`0.${m[4] ?? 0}`) * 1000));
  // The reference reads the zone, and gives the time as it is written.
  r.take(/^(?:z|utc|gmt|[+-]\d{2}:?\d{2})(?![a-z\d])/);
  return true;
}

function readWord(r: Reading): boolean | undefined {
  const m = r.take(/^(now|today|midnight|noon|tomorrow|yesterday)\b/);
  if (!m) return undefined;
  const shift = m[1] === 'tomorrow' ? 1 : m[1] === 'yesterday' ? -1 : 0;
  r.at.setUTCDate(r.at.getUTCDate() + shift);
  if (m[1] !== 'now') r.time(m[1] === 'noon' ? 12 : 0, 0, 0);
  return true;
}

const counts: Readonly<Record<string, number>> = { next: 1, last: -1, previous: -1, this: 0 };

function readRelative(r: Reading): boolean | undefined {
  const m = r.take(
    /^(next|last|previous|this|[+-]?\s*\d+)\s*(sec(?:ond)?|min(?:ute)?|hour|day|week|fortnight|month|year|weekday)s?\b(\s+ago\b)?/,
  );
  if (!m) return readWeekday(r);
  let amount = counts[m[1]!] ?? Number(m[1]!.replace(/\s+/g, ''));
  if (m[3] !== undefined) amount = -amount;
  const at = r.at;
  switch (m[2]!.slice(0, 3)) {
    case 'sec':
      at.setUTCSeconds(at.getUTCSeconds() + amount);
      return true;
    case 'min':
      at.setUTCMinutes(at.getUTCMinutes() + amount);
      return true;
    case 'hou':
      at.setUTCHours(at.getUTCHours() + amount);
      return true;
    case 'mon':
      at.setUTCMonth(at.getUTCMonth() + amount);
      return true;
    case 'yea':
      at.setUTCFullYear(at.getUTCFullYear() + amount);
      return true;
    default:
      at.setUTCDate(at.getUTCDate() + amount * (m[2]!.startsWith('week') ? 7 : m[2] === 'fortnight' ? 14 : 1));
      return true;
  }
}

function readWeekday(r: Reading): boolean | undefined {
  const m = r.take(/^(?:(next|last|this)\s+)?(sun|mon|tue|wed|thu|fri|sat)[a-z]*\b/);
  if (!m) return undefined;
  let ahead = (days.indexOf(m[2]!) - r.at.getUTCDay() + 7) % 7;
  if (ahead === 0 && m[1] === 'next') ahead = 7;
  if (m[1] === 'last') ahead = ahead === 0 ? -7 : ahead - 7;
  r.at.setUTCDate(r.at.getUTCDate() + ahead);
  r.time(0, 0, 0);
  return true;
}

/** The moment a text means, or undefined when it cannot be read. */
export function parseDate(text: string, now: number): Fields | undefined {
  const stamp = /^@(-?\d+(?:\.\d+)?)$/.exec(text.trim());
  if (stamp) return utcFields(Number(stamp[1]) * 1000);
  const r = new Reading(text, now);
  if (r.rest === '') return undefined;
  while (r.rest !== '') {
    const done = readDate(r) ?? readTime(r) ?? readWord(r) ?? readRelative(r);
    if (done !== true) return undefined;
  }
  return utcFields(r.at.getTime());
}
