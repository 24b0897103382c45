// Exact decimal text of doubles, rounded half to even as Python's formatting does (toFixed rounds ties up).

export interface DecimalParts {
  readonly negative: boolean;
  /** Significant digits without sign or point. */
  readonly digits: string;
  /** Position of the decimal point relative to the start of `digits`. */
  readonly point: number;
}

const buffer = new DataView(new ArrayBuffer(8));

/** The exact value as digits and point; zero gives digits `0`. */
function exactDecimal(value: number): DecimalParts {
  buffer.setFloat64(0, value);
  const bits = buffer.getBigUint64(0);
  const negative = bits >> 63n === 1n;
  const power = Number((bits >> 52n) & 0x7ffn);
  let mantissa = bits & 0xfffffffffffffn;
  let exponent = power - 1075;
  if (power === 0) exponent = -1074;
  else mantissa |= 0x10000000000000n;
  if (mantissa === 0n) return { negative, digits: '0', point: 1 };
  if (exponent >= 0) {
    const digits = (mantissa << BigInt(exponent)).toString();
    return { negative, digits, point: digits.length };
  }
  const scaled = (mantissa * 5n ** BigInt(-exponent)).toString();
  return { negative, digits: scaled, point: scaled.length + exponent };
}

/** Cuts a digit string to `keep` digits, half to even; may grow by one digit (carry). */
function roundDigits(digits: string, keep: number): { digits: string; carry: boolean } {
  if (keep >= digits.length) return { digits, carry: false };
  if (keep < 0) return { digits: '', carry: false };
  const next = digits.charCodeAt(keep) - 48;
  let up = next > 5;
  if (next === 5) {
    const exactHalf = /^0*$/.test(digits.slice(keep + 1));
    const odd = keep > 0 && (digits.charCodeAt(keep - 1) - 48) % 2 === 1;
    up = !exactHalf || odd;
  }
  const kept = digits.slice(0, keep);
  if (!up) return { digits: kept, carry: false };
  const grown = (BigInt(`1${kept}`) + 1n).toString();
  return grown[0] === '2' ? { digits: `1${grown.slice(1)}`, carry: true } : { digits: grown.slice(1), carry: false };
}

/** `%.{places}f` without sign. */
export function fixedText(value: number, places: number): string {
  const { digits, point } = exactDecimal(Math.abs(value));
  const keep = point + places;
  const rounded = roundDigits(digits, keep);
  const kept = rounded.digits;
  const whole = point + (rounded.carry ? 1 : 0);
  const padded = kept.padEnd(rounded.carry ? keep + 1 : Math.max(keep, 0), '0');
  const all = whole <= 0 ? '0'.repeat(1 - whole) + padded : padded;
  const split = Math.max(whole, 1);
  const integer = all.slice(0, split) || '0';
  const fraction = all.slice(split).padEnd(places, '0').slice(0, places);
  return places > 0 ? `${integer}.${fraction}` : integer;
}

/** Digits and decimal exponent for `count` significant digits. */
function significant(value: number, count: number): { digits: string; exponent: number } {
  const size = Math.abs(value);
  if (size === 0) return { digits: '0'.repeat(count), exponent: 0 };
  const { digits, point } = exactDecimal(size);
  const rounded = roundDigits(digits, count);
  const exponent = point - 1 + (rounded.carry ? 1 : 0);
  return { digits: rounded.digits.padEnd(count, '0').slice(0, count), exponent };
}

/** `%.{places}e` without sign. */
export function exponentText(value: number, places: number, alternate = false): string {
  const { digits, exponent } = significant(value, places + 1);
  const point = places > 0 || alternate ? '.' : '';
  return `${digits[0]}${point}${digits.slice(1)}e${powerText(exponent)}`;
}

function powerText(exponent: number): string {
  return `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** `%.{precision}g` without sign; `addPoint` is the variant of an untyped format spec (`1.0`, not `1`). */
export function generalText(value: number, precision: number, alternate = false, addPoint = false): string {
  const wanted = precision === 0 ? 1 : precision;
  const { digits, exponent } = significant(value, wanted);
  const trimmed = alternate ? digits : digits.replace(/0+$/, '') || '0';
  if (exponent < -4 || exponent >= wanted - (addPoint ? 1 : 0)) {
    const rest = trimmed.slice(1);
    return `${trimmed[0]}${rest !== '' || alternate ? `.${rest}` : ''}e${powerText(exponent)}`;
  }
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${trimmed}`;
  const whole = trimmed.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  const rest = trimmed.slice(exponent + 1);
  if (rest !== '') return `${whole}.${rest}`;
  if (alternate) return `${whole}.`;
  return addPoint ? `${whole}.0` : whole;
}

/** `round(value, places)` on the exact binary value; a negative place rounds tens, hundreds… */
export function roundDouble(value: number, places: number): number {
  if (!Number.isFinite(value) || value === 0) return value;
  if (places > 323) return value;
  if (places < -309) return value < 0 ? -0 : 0;
  if (places >= 0) return Math.sign(value) * Number(fixedText(value, places));
  const { digits, point } = exactDecimal(Math.abs(value));
  const keep = point + places;
  const rounded = roundDigits(digits, keep);
  const size = rounded.digits === '' ? 0 : Number(`${rounded.digits}e${-places}`);
  return value < 0 ? -size : size;
}
