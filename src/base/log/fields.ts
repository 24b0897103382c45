// Formats fields after the message: `return refused minion=web1 jid=2026…`.

import { escapedCharacter, visibleLine, visibleText } from '../util/visible.ts';
import type { Fields } from './record.ts';
import { isSecretName, redact, redactText, secretMask } from './redact.ts';

const maxValue = 2000;
const bare = /^[^\s"'=\\\p{C}\p{Z}]+$/u;
const unsafe = /[\p{C}\p{Zl}\p{Zp}]/gu;

const cut = (text: string): string => (text.length > maxValue ? `${text.slice(0, maxValue)}…` : text);

function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [String(key), item]));
  if (value instanceof Uint8Array) return `<${value.length} bytes>`;
  if (value instanceof Error) return cut(redactText(value.message));
  return typeof value === 'string' ? cut(value) : value;
}

/** Control characters would let a peer forge log lines; JSON writes them as escapes. */
function quoted(text: string): string {
  const short = cut(text);
  return bare.test(short) ? short : JSON.stringify(short).replace(unsafe, escapedCharacter);
}

/** One value as text on one line. */
function fieldText(value: unknown): string {
  if (typeof value === 'string') return quoted(redactText(value));
  if (value instanceof Error) return quoted(redactText(value.message));
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid-date' : value.toISOString();
  if (value instanceof Uint8Array) return `<${value.length} bytes>`;
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    return cut(JSON.stringify(redact(value), plain) ?? 'undefined').replace(unsafe, escapedCharacter);
  } catch {
    return '<unprintable>';
  }
}

/** The message with its fields on one line; fields that are undefined are left out. */
export function messageText(text: string, fields: Fields | undefined): string {
  let line = visibleLine(text.replace(/\s*\n\s*/g, ' '));
  if (!fields) return line;
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    if (value !== undefined) line += ` ${key}=${isSecretName(key) ? secretMask : fieldText(value)}`;
  }
  return line;
}

/**
 * The stacks of the errors among the fields, for sinks that show debug detail; continuation lines are indented, so that
 * none looks like a separate log line.
 */
export function stacksOf(fields: Fields | undefined): string {
  if (!fields) return '';
  let text = '';
  for (const value of Object.values(fields)) {
    if (value instanceof Error && value.stack)
      text += `\n${visibleText(redactText(value.stack)).replace(/\r?\n(?! {4})/g, '\n    ')}`;
  }
  return text;
}

/** A record as one line of JSON. */
export function jsonLine(
  head: Readonly<Record<string, unknown>>,
  text: string,
  fields: Fields | undefined,
  withStacks: boolean,
): string {
  const stack = withStacks ? stacksOf(fields).trim() : '';
  const body: Record<string, unknown> = { ...head, message: text, ...(stack === '' ? {} : { stack }) };
  const safe = (fields ? redact(fields) : {}) as Record<string, unknown>;
  for (const key of Object.keys(safe)) body[Object.hasOwn(body, key) ? `field_${key}` : key] = safe[key];
  try {
    return visibleLine(JSON.stringify(body, plain));
  } catch {
    return visibleLine(JSON.stringify({ ...head, message: text }));
  }
}
