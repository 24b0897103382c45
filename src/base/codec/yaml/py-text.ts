// How Python writes and reads text: `repr`, `str`, `strip`, `int()` and `float()`, as far as YAML needs them.
import { PyFloat, type Value } from '../value.ts';

const unprintable = /[\p{C}\p{Z}]/u;

/** `repr()` of a string. */
export function pyRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let out = quote;
  for (const char of text) {
    if (char === quote || char === '\\') out += `\\${char}`;
    else if (char === '\n') out += '\\n';
    else if (char === '\r') out += '\\r';
    else if (char === '\t') out += '\\t';
    else if (char === ' ' || !unprintable.test(char)) out += char;
    else out += escapeCode(char.codePointAt(0) ?? 0);
  }
  return out + quote;
}

function escapeCode(code: number): string {
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code <= 0xffff) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}

/** `repr()` of bytes. */
export function pyBytesRepr(bytes: Uint8Array): string {
  const latin = Buffer.from(bytes).toString('latin1');
  const quote = latin.includes("'") && !latin.includes('"') ? '"' : "'";
  let out = `b${quote}`;
  for (const char of latin) {
    const code = char.charCodeAt(0);
    if (char === quote || char === '\\') out += `\\${char}`;
    else if (char === '\n') out += '\\n';
    else if (char === '\r') out += '\\r';
    else if (char === '\t') out += '\\t';
    else if (code >= 32 && code < 127) out += char;
    else out += escapeCode(code);
  }
  return out + quote;
}

/** `repr()` of a float: shortest digits, `.0` kept, an exponent from 1e16 and below 1e-4. */
export function pyFloatRepr(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [mantissa = '', exponentText = '0'] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 16) {
    const digits = Math.abs(exponent).toString().padStart(2, '0');
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
  }
  if (Number.isInteger(value)) return `${BigInt(value)}.0`;
  return String(value);
}

/** `str()` of a hashable scalar, as it appears in messages. */
export function pyStr(value: Value): string {
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : pyFloatRepr(value);
  if (value instanceof PyFloat) return pyFloatRepr(value.value);
  if (value instanceof Uint8Array) return pyBytesRepr(value);
  return String(value);
}

const pySpace = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const pyEdges = new RegExp(`^${pySpace}+|${pySpace}+$`, 'g');

/** `str.strip()`. */
export const pyStrip = (text: string): string => text.replace(pyEdges, '');

/** A problem Python's `int()` or `float()` reports as ValueError. */
export class PyValueError extends Error {}

const digitPatterns: Readonly<Record<number, RegExp>> = {
  2: /^(?:0[bB])?[01]+$/,
  8: /^(?:0[oO])?[0-7]+$/,
  10: /^[0-9]+$/,
  16: /^(?:0[xX])?[0-9a-fA-F]+$/,
};
const digitPrefixes: Readonly<Record<number, string>> = { 2: '0b', 8: '0o', 10: '', 16: '0x' };
// Python refuses longer decimal texts, because conversion takes quadratic time.
const maxDigits = 4300;

/** `int(text, base)` for bases 2, 8, 10 and 16. */
export function pyInt(text: string, base: 2 | 8 | 10 | 16): bigint {
  const trimmed = pyStrip(text);
  const negative = trimmed.startsWith('-');
  const digits = negative || trimmed.startsWith('+') ? trimmed.slice(1) : trimmed;
  if (!digitPatterns[base]?.test(digits)) {
    throw new PyValueError(`invalid literal for int() with base ${base}: ${pyRepr(text)}`);
  }
  if (base === 10 && digits.length > maxDigits) {
    throw new PyValueError(
      `Exceeds the limit (${maxDigits} digits) for integer string conversion: value has ${digits.length} digits; ` +
        'use sys.set_int_max_str_digits() to increase the limit',
    );
  }
  const bare = base === 10 ? digits : digits.replace(/^0[bBoOxX]/, '');
  const value = BigInt(`${digitPrefixes[base]}${bare}`);
  return negative ? -value : value;
}

const floatPattern = /^[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|inf(?:inity)?|nan)$/i;

/** `float(text)`. */
export function pyFloat(text: string): number {
  const trimmed = pyStrip(text);
  if (!floatPattern.test(trimmed)) throw new PyValueError(`could not convert string to float: ${pyRepr(text)}`);
  const lower = trimmed.toLowerCase();
  if (lower.includes('nan')) return Number.NaN;
  if (lower.includes('inf')) return lower.startsWith('-') ? -Infinity : Infinity;
  return Number(trimmed);
}
