// Reads JSON5: JSON with comments, names without quotes, single quotes, trailing commas and more kinds of numbers.
import { dictOf, type Value } from 'halite/sdk';
import { numberOf, TextCursor } from './relaxed-text.ts';

const space = /(?:[\s\ufeff]|\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\/)*/y;
const number = /[-+]?(?:0[xX][0-9a-fA-F]+|(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|Infinity|NaN)/y;
const word = /(?:null|true|false)(?![\p{ID_Continue}$])/uy;
const name = /(?:[\p{ID_Start}$_]|\\u[0-9a-fA-F]{4})(?:[\p{ID_Continue}$\u200c\u200d]|\\u[0-9a-fA-F]{4})*/uy;
const lineEnd = /\r\n|[\n\r\u2028\u2029]/y;
const endsName = /[\p{ID_Continue}$.]/u;
const moreEscapes = { v: '\v', 0: '\0', x: '' };

export function loadJson5(text: string, file: string | undefined, firstLine: number): Value {
  const cursor = new TextCursor(text, file, firstLine);
  cursor.take(space);
  const made = value(cursor, 0);
  cursor.take(space);
  return cursor.at === text.length ? made : cursor.fail();
}

function value(cursor: TextCursor, depth: number): Value {
  cursor.checkDepth(depth);
  const first = cursor.next;
  if (first === '{') return object(cursor, depth);
  if (first === '[') return array(cursor, depth);
  if (first === '"' || first === "'") return cursor.quoted(first, escaped);
  const literal = cursor.take(word);
  if (literal !== undefined) return literal === 'null' ? null : literal === 'true';
  const digits = cursor.take(number);
  if (digits === undefined || endsName.test(cursor.next ?? '')) return cursor.fail();
  return numberOf(digits);
}

function object(cursor: TextCursor, depth: number): Value {
  cursor.at++;
  const entries: [Value, Value][] = [];
  for (;;) {
    cursor.take(space);
    if (cursor.next === '}') break;
    const key = memberName(cursor);
    cursor.take(space);
    if (cursor.next !== ':') return cursor.fail();
    cursor.at++;
    cursor.take(space);
    entries.push([key, value(cursor, depth + 1)]);
    if (!separated(cursor, '}')) break;
  }
  cursor.at++;
  return dictOf(entries);
}

function memberName(cursor: TextCursor): string {
  const first = cursor.next;
  if (first === '"' || first === "'") return cursor.quoted(first, escaped);
  const found = cursor.take(name) ?? cursor.fail();
  return found.replace(/\\u(.{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function array(cursor: TextCursor, depth: number): Value {
  cursor.at++;
  const items: Value[] = [];
  for (;;) {
    cursor.take(space);
    if (cursor.next === ']') break;
    items.push(value(cursor, depth + 1));
    if (!separated(cursor, ']')) break;
  }
  cursor.at++;
  return items;
}

/** Skips a comma; false at the end of the list. */
function separated(cursor: TextCursor, end: string): boolean {
  cursor.take(space);
  if (cursor.next === end) return false;
  if (cursor.next !== ',') return cursor.fail();
  cursor.at++;
  return true;
}

function escaped(cursor: TextCursor): string {
  // A line that continues in the next one.
  if (cursor.take(lineEnd) !== undefined) return '';
  // \0 is the null character; other digits, and further digits, would be octal numbers.
  if (/[1-9]/.test(cursor.next ?? '')) return cursor.fail();
  const isNull = cursor.next === '0';
  const made = cursor.escape(moreEscapes);
  return isNull && /\d/.test(cursor.next ?? '') ? cursor.fail() : made;
}
