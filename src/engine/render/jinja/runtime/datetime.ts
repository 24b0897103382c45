// datetime as far as templates use it: dates, printed as in Python.
import { type HashKey, PyObject, type PyValue } from './value.ts';

export class PyDateTime extends PyObject {
  /** Milliseconds since the epoch, interpreted as UTC without zone. */
  readonly millis: number;
  constructor(millis: number) {
    super();
    this.millis = millis;
  }
  typeName(): string {
    return 'datetime';
  }
  override moduleName(): string {
    return 'datetime';
  }
  override str(): string {
    const text = new Date(this.millis).toISOString().replace('T', ' ').replace('Z', '');
    return text.endsWith('.000') ? text.slice(0, -4) : `${text}000`;
  }
  override repr(): string {
    const d = new Date(this.millis);
    const parts = [d.getUTCFullYear(), d.getUTCMonth() + 1, d.getUTCDate(), d.getUTCHours(), d.getUTCMinutes()];
    if (d.getUTCSeconds() > 0 || d.getUTCMilliseconds() > 0) parts.push(d.getUTCSeconds());
    if (d.getUTCMilliseconds() > 0) parts.push(d.getUTCMilliseconds() * 1000);
    return `datetime.datetime(${parts.join(', ')})`;
  }
  override equals(other: PyValue): boolean {
    return other instanceof PyDateTime && other.millis === this.millis;
  }
  override hashKey(): HashKey {
    return `\0d${this.millis}`;
  }
  override attr(name: string): PyValue | undefined {
    const d = new Date(this.millis);
    switch (name) {
      case 'year':
        return d.getUTCFullYear();
      case 'month':
        return d.getUTCMonth() + 1;
      case 'day':
        return d.getUTCDate();
      case 'hour':
        return d.getUTCHours();
      case 'minute':
        return d.getUTCMinutes();
      case 'second':
        return d.getUTCSeconds();
      case 'microsecond':
        return d.getUTCMilliseconds() * 1000;
      default:
        return undefined;
    }
  }
}
