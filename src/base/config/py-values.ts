// Configuration values as Python prints them in messages.
import { PyFloat, type Value } from '../codec/value.ts';

/** str() of a scalar; other values as JSON, which is sufficient for messages. */
export function pyText(value: Value): string {
  if (typeof value === 'string') return value;
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (value instanceof PyFloat) return Number.isInteger(value.value) ? `${value.value}.0` : String(value.value);
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (value instanceof Date) return value.toISOString();
  return shortJson(value);
}

/** A value for a message, short enough for a log line. */
function shortJson(value: Value): string {
  const text =
    JSON.stringify(value, (_key, item: unknown) => {
      if (typeof item === 'bigint') return item.toString();
      return item instanceof Map ? Object.fromEntries(item) : item;
    }) ?? 'null';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** int() of text: sign, digits and single underscores; undefined when Python would refuse. */
export function pyInt(text: string): number | undefined {
  const clean = text.trim();
  return /^[+-]?\d+(_\d+)*$/.test(clean) ? Number(clean.replaceAll('_', '')) : undefined;
}

/** float() of text; undefined when Python would refuse. */
export function pyFloat(text: string): number | undefined {
  const clean = text.trim();
  if (/^[+-]?(inf|infinity)$/i.test(clean)) return clean.startsWith('-') ? -Infinity : Infinity;
  return /^[+-]?(\d+(_\d+)*\.?(\d+(_\d+)*)?|\.\d+(_\d+)*)(e[+-]?\d+)?$/i.test(clean)
    ? Number(clean.replaceAll('_', ''))
    : undefined;
}
