// Salt's datetime extension (type 78): ASCII `YYYYmmddTHH:MM:SS.ffffff`, without time zone, read as UTC.

/** A date that also holds the microseconds that a JavaScript Date lacks, so that it is forwarded without loss. */
class PreciseDate extends Date {
  /** Microseconds below the millisecond, 0 to 999. */
  readonly micros: number;
  constructor(millis: number, micros: number) {
    super(millis);
    this.micros = micros;
  }
}

const form = /^(\d{4})(\d\d)(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{1,6})$/;

/** The date in the text, or undefined when it names no real moment. */
export function parseDateTime(text: string): Date | undefined {
  const found = form.exec(text);
  if (!found) return undefined;
  const part = (index: number): number => Number(found[index]);
  const micros = Number((found[7] ?? '').padEnd(6, '0'));
  const date = new PreciseDate(0, micros % 1000);
  date.setUTCFullYear(part(1), part(2) - 1, part(3));
  date.setUTCHours(part(4), part(5), part(6), Math.trunc(micros / 1000));
  // 31 February would silently become 3 March: refuse what does not survive the round trip.
  return formatDateTime(date) === `${text.slice(0, 18)}${String(micros).padStart(6, '0')}` ? date : undefined;
}

/** The wire text of a date; years beyond four digits cannot be written. */
export function formatDateTime(date: Date): string {
  const pad = (value: number, width: number): string => String(value).padStart(width, '0');
  const micros = microsOf(date);
  return (
    pad(date.getUTCFullYear(), 4) +
    pad(date.getUTCMonth() + 1, 2) +
    pad(date.getUTCDate(), 2) +
    `T${pad(date.getUTCHours(), 2)}:${pad(date.getUTCMinutes(), 2)}:${pad(date.getUTCSeconds(), 2)}.${pad(micros, 6)}`
  );
}

/** The microseconds of the second, 0 to 999999. */
export function microsOf(date: Date): number {
  return date.getUTCMilliseconds() * 1000 + (date instanceof PreciseDate ? date.micros : 0);
}
