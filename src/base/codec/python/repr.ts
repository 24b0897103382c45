// Values printed as Python prints them: repr() and str().
import { microsOf } from '../msgpack/datetime.ts';
import { type Dict, dictEntries, PyFloat, type Value } from '../value.ts';

/** Python's repr(value). */
export function pyRepr(value: Value | undefined): string {
  switch (typeof value) {
    case 'string':
      return reprText(value);
    case 'number':
      return reprNumber(value);
    case 'bigint':
      return value.toString();
    case 'boolean':
      return value ? 'True' : 'False';
    case 'undefined':
      return 'None';
    default:
      return value === null ? 'None' : reprObject(value);
  }
}

/** Python's str(value): text as it is, everything else as repr, dates in their readable form. */
export function pyStr(value: Value | undefined): string {
  if (typeof value === 'string') return value;
  return value instanceof Date ? strDate(value) : pyRepr(value);
}

/** Dict keys that are arrays here were tuples in Python. */
export function reprKey(key: Value): string {
  return Array.isArray(key) ? reprTuple(key) : pyRepr(key);
}

function reprTuple(items: readonly Value[]): string {
  const inside = items.map(reprKey).join(', ');
  return items.length === 1 ? `(${inside},)` : `(${inside})`;
}

function reprObject(value: PyFloat | Uint8Array | Date | Value[] | Dict): string {
  if (value instanceof PyFloat) return reprFloat(value.value);
  if (Array.isArray(value)) return `[${value.map(pyRepr).join(', ')}]`;
  if (value instanceof Uint8Array) return reprBytes(value);
  if (value instanceof Date) return reprDate(value);
  const items = dictEntries(value).map(([key, item]) => `${reprKey(key)}: ${pyRepr(item)}`);
  return `{${items.join(', ')}}`;
}

function reprNumber(value: number): string {
  if (Number.isSafeInteger(value)) return String(value === 0 ? 0 : value);
  return Number.isInteger(value) ? BigInt(value).toString() : reprFloat(value);
}

/** The shortest digits that read back as the same number, with an exponent below 1e-4 and from 1e16 on. */
export function reprFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [mantissa = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) {
    const sign = exponent < 0 ? '-' : '+';
    return `${mantissa}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  const minus = value < 0 ? '-' : '';
  const digits = mantissa.replace(/[-.]/g, '');
  if (exponent < 0) return `${minus}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${minus}${whole}.${digits.slice(exponent + 1) || '0'}`;
}

// What str.isprintable() refuses, besides quote and backslash: all separators but space, and all "other" characters.
const unprintable = /[\\\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
const plain = /^[ !#-&(-[\]-~]*$/;
const namedEscapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };

function reprText(text: string): string {
  if (plain.test(text)) return `'${text}'`;
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(unprintable, escapeCharacter);
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
}

function escapeCharacter(character: string): string {
  const named = namedEscapes[character];
  if (named) return named;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
}

export function reprBytes(bytes: Uint8Array): string {
  const latin = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const quote = latin.includes("'") && !latin.includes('"') ? '"' : "'";
  const escaped = latin.replace(/[^ -[\]-~]/g, escapeCharacter);
  return `b${quote}${quote === "'" ? escaped.replaceAll("'", "\\'") : escaped}${quote}`;
}

function reprDate(date: Date): string {
  const fields = [
    date.getUTCFullYear(),
    date.getUTCMonth() + 1,
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
  ];
  const micros = microsOf(date);
  if (date.getUTCSeconds() !== 0 || micros !== 0) fields.push(date.getUTCSeconds());
  if (micros !== 0) fields.push(micros);
  return `datetime.datetime(${fields.join(', ')})`;
}

/** `2024-01-02 03:04:05.678901`; the fraction only when there is one. */
function strDate(date: Date): string {
  if (Number.isNaN(date.getTime())) return 'None';
  const micros = microsOf(date);
  const text = date.toISOString().slice(0, 19).replace('T', ' ');
  return micros === 0 ? text : `${text}.${String(micros).padStart(6, '0')}`;
}
