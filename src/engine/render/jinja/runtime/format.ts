// format(value, spec): Python's format mini-language.
import { memoryError, typeError, valueError } from '../errors.ts';
import { exponentText, fixedText, generalText } from './decimal.ts';
import { textOf } from './markup.ts';
import { asDouble, asInt, floatOf, floatRepr, intRepr, type PyInt } from './number.ts';
import { str } from './print.ts';
import { pyLength, pySlice } from './text.ts';
import { type PyValue, typeName } from './value.ts';

interface Spec {
  readonly fill: string;
  readonly align: string;
  readonly sign: string;
  readonly noNegativeZero: boolean;
  readonly alternate: boolean;
  readonly width: number;
  readonly grouping: string;
  readonly precision: number | undefined;
  readonly type: string;
}

const pattern = /^(?:(.)?([<>=^]))?([-+ ])?(z)?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?(.)?$/su;

function parseSpec(text: string, value: PyValue, usual: string): Spec {
  const match = pattern.exec(text);
  if (match === null) {
    // A trailing part longer than one character is what Python calls invalid.
    throw valueError(`Invalid format specifier '${text}' for object of type '${typeName(value)}'`);
  }
  const zero = match[6] !== undefined;
  const align = match[2] ?? (zero ? '=' : '');
  const width = Number(match[7] ?? 0);
  if (width > 1_000_000_000) throw memoryError();
  checkGrouping(match[8], match[10] ?? usual);
  return {
    fill: match[1] ?? (zero ? '0' : ' '),
    align,
    sign: match[3] ?? '',
    noNegativeZero: match[4] !== undefined,
    alternate: match[5] !== undefined,
    width,
    grouping: match[8] ?? '',
    precision: match[9] === undefined ? undefined : Number(match[9]),
    type: match[10] ?? '',
  };
}

/** `format(value, spec)`. */
export function formatValue(value: PyValue, spec: string): string {
  if (spec === '') return str(value);
  const text = textOf(value);
  if (text !== undefined) return formatText(text, spec);
  const double = floatOf(value);
  if (double !== undefined) return formatFloat(double, parseSpec(spec, value, ''), 'float');
  const int = asInt(value);
  if (int !== undefined) return formatInt(int, parseSpec(spec, value, 'd'), value);
  throw typeError(`unsupported format string passed to ${typeName(value)}.__format__`);
}

function unknownCode(type: string, kind: string): Error {
  return valueError(`Unknown format code '${type}' for object of type '${kind}'`);
}

function formatText(text: string, source: string): string {
  const spec = parseSpec(source, text, 's');
  if (spec.type !== '' && spec.type !== 's') throw unknownCode(spec.type, 'str');
  if (spec.sign !== '') {
    throw valueError(
      spec.sign === ' '
        ? 'Space not allowed in string format specifier'
        : 'Sign not allowed in string format specifier',
    );
  }
  if (spec.noNegativeZero) throw valueError('Negative zero coercion (z) not allowed in string format specifier');
  if (spec.alternate) throw valueError('Alternate form (#) not allowed in string format specifier');
  if (/^.?=/su.test(source)) {
    throw valueError("'=' alignment not allowed in string format specifier");
  }
  const cut = spec.precision === undefined ? text : pySlice(text, 0, spec.precision);
  return place(cut, spec.align === '=' || spec.align === '' ? '<' : spec.align, spec);
}

const radixes: Record<string, [number, string]> = { b: [2, '0b'], o: [8, '0o'], x: [16, '0x'], X: [16, '0X'] };

function formatInt(value: PyInt, spec: Spec, source: PyValue): string {
  const { type } = spec;
  if (type !== '' && 'eEfFgG%'.includes(type)) return formatFloat(asDouble(source)!, spec, 'int');
  if (type !== '' && !'bcdoxXn'.includes(type)) throw unknownCode(type, typeName(source));
  if (spec.precision !== undefined) throw valueError('Precision not allowed in integer format specifier');
  if (spec.noNegativeZero)
    throw valueError('Negative zero coercion (z) not allowed in format specifier with integer format code');
  if (type === 'c') return formatCharacter(value, spec);
  const [radix, prefix] = radixes[type] ?? [10, ''];
  const negative = value < 0;
  const size = negative ? -value : value;
  let digits = radix === 10 ? intRepr(size) : size.toString(radix);
  if (type === 'X') digits = digits.toUpperCase();
  const lead = signText(spec, negative) + (spec.alternate ? prefix : '');
  return placeNumber(lead, digits, '', spec, radix === 10 ? 3 : 4);
}

/** Separators go with decimal types; underscores with the other bases as well. */
function checkGrouping(grouping: string | undefined, type: string): void {
  if (grouping === undefined || type === '' || 'defgEGF%'.includes(type)) return;
  if (grouping === '_' && 'boxX'.includes(type)) return;
  throw valueError(`Cannot specify '${grouping}' with '${type}'.`);
}

function formatCharacter(value: PyInt, spec: Spec): string {
  if (spec.sign !== '') throw valueError("Sign not allowed with integer format specifier 'c'");
  if (spec.alternate) throw valueError("Alternate form (#) not allowed with integer format specifier 'c'");
  if (value < 0 || value > 0x10ffff) throw valueError('%c arg not in range(0x110000)');
  return place(String.fromCodePoint(Number(value)), spec.align === '' ? '<' : spec.align, spec);
}

function formatFloat(value: number, spec: Spec, kind: string): string {
  const { type } = spec;
  if (type !== '' && !'eEfFgGn%'.includes(type)) throw unknownCode(type, kind);
  const text = floatBody(type === '%' ? value * 100 : value, spec);
  let negative = value < 0 || Object.is(value, -0);
  if (negative && spec.noNegativeZero && /^[0.]*%?$/.test(text)) negative = false;
  const shown = type === 'E' || type === 'F' || type === 'G' ? text.toUpperCase() : text;
  const split = /^(\d*)(.*)$/s.exec(shown)!;
  return placeNumber(signText(spec, negative), split[1]!, split[2]! + (type === '%' ? '%' : ''), spec, 3);
}

function floatBody(value: number, spec: Spec): string {
  if (Number.isNaN(value)) return 'nan';
  const size = Math.abs(value);
  if (size === Number.POSITIVE_INFINITY) return 'inf';
  const { precision, alternate } = spec;
  switch (spec.type.toLowerCase()) {
    case 'e':
      return exponentText(size, precision ?? 6, alternate);
    case 'f':
    case '%': {
      const text = fixedText(size, precision ?? 6);
      return alternate && precision === 0 ? `${text}.` : text;
    }
    case 'g':
    case 'n':
      return generalText(size, precision ?? 6, alternate);
    default:
      return precision === undefined ? floatRepr(size) : generalText(size, precision, alternate, true);
  }
}

function signText(spec: Spec, negative: boolean): string {
  if (negative) return '-';
  return spec.sign === '-' ? '' : spec.sign;
}

function group(digits: string, separator: string, size: number): string {
  let out = '';
  for (let end = digits.length; end > 0; end -= size) {
    const part = digits.slice(Math.max(0, end - size), end);
    out = out === '' ? part : `${part}${separator}${out}`;
  }
  return out;
}

/** Sign, grouped digits and tail in their field; zero padding goes between sign and digits and is grouped too. */
function placeNumber(lead: string, digits: string, tail: string, spec: Spec, groupSize: number): string {
  const align = spec.align === '' ? '>' : spec.align;
  let body = digits;
  if (spec.grouping !== '') {
    body = group(digits, spec.grouping, groupSize);
    if (align === '=' && spec.fill === '0') {
      let padded = digits;
      while (lead.length + group(padded, spec.grouping, groupSize).length + tail.length < spec.width)
        padded = `0${padded}`;
      body = group(padded, spec.grouping, groupSize);
    }
  }
  if (align !== '=') return place(lead + body + tail, align, spec);
  const missing = spec.width - lead.length - body.length - tail.length;
  return missing > 0 ? lead + spec.fill.repeat(missing) + body + tail : lead + body + tail;
}

function place(text: string, align: string, spec: Spec): string {
  const missing = spec.width - pyLength(text);
  if (missing <= 0) return text;
  const { fill } = spec;
  if (align === '<') return text + fill.repeat(missing);
  if (align === '^') {
    const left = missing >> 1;
    return fill.repeat(left) + text + fill.repeat(missing - left);
  }
  return fill.repeat(missing) + text;
}
