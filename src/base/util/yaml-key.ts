// A path component read as YAML would read it: `80` may name the integer key 80.
import { PyFloat, type Value } from '../codec/value.ts';

const words: ReadonlyMap<string, Value> = new Map<string, Value>([
  ...['~', 'null', 'Null', 'NULL', 'None'].map((word): [string, Value] => [word, null]),
  ...['true', 'yes', 'on'].flatMap((word) => casesOf(word).map((form): [string, Value] => [form, true])),
  ...['false', 'no', 'off'].flatMap((word) => casesOf(word).map((form): [string, Value] => [form, false])),
]);
const float = /^[-+]?(?:[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?)$/;
const specialFloat = /^([-+]?)\.(inf|Inf|INF|nan|NaN|NAN)$/;

function casesOf(word: string): string[] {
  return [word, word[0]?.toUpperCase() + word.slice(1), word.toUpperCase()];
}

/** The scalar, or the same text when YAML reads it as text. */
export function yamlKey(text: string): Value {
  const trimmed = text.trim();
  if (/[\t\r\n#]/.test(text) || trimmed === '' || (trimmed.includes('_') && /^[\d_]+$/.test(trimmed))) return text;
  const word = words.get(trimmed);
  if (word !== undefined) return trimmed === 'None' && text !== 'None' ? trimmed : word;
  const quoted = /^'((?:[^']|'')*)'$/.exec(trimmed);
  if (quoted) return (quoted[1] as string).replaceAll("''", "'");
  const doubled = /^"([^"\\]*)"$/.exec(trimmed);
  if (doubled) return doubled[1] as string;
  return yamlNumber(trimmed) ?? trimmed;
}

function yamlNumber(text: string): Value | undefined {
  const digits = text.replaceAll('_', '');
  const based = /^([-+]?)0(?:b([01]+)|x([0-9a-fA-F]+))$/.exec(digits);
  if (based) return signed(based[1], based[2] ? Number.parseInt(based[2], 2) : Number.parseInt(based[3] as string, 16));
  // Salt: leading zeros do not make a number octal.
  const whole = /^([-+]?)0*([0-9]+)$/.exec(digits);
  if (whole && /^[-+]?(?:0[0-7_]*|[1-9][0-9_]*)$/.test(text)) {
    const value = Number(whole[2]);
    return Number.isSafeInteger(value) ? signed(whole[1], value) : BigInt(digits.replace(/^\+/, ''));
  }
  if (float.test(text)) {
    const value = Number(digits);
    return Number.isInteger(value) ? new PyFloat(value) : value;
  }
  const special = specialFloat.exec(text);
  if (!special) return undefined;
  return /nan/i.test(special[2] as string) ? Number.NaN : signed(special[1], Number.POSITIVE_INFINITY);
}

const signed = (sign: string | undefined, value: number): number => (sign === '-' ? -value : value);
