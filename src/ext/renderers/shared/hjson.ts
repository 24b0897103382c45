// Reads Hjson: JSON with comments, unquoted texts to the end of their line, and optional commas.
import { dictOf, PyFloat, RenderError, type Value } from 'halite/sdk';
import { numberOf, TextCursor } from './relaxed-text.ts';

const space = /(?:\s|#[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const name = /[^\s,:[\]{}]+/y;
const line = /[^\r\n]*/y;
/** A number or keyword that ends where a value may end; otherwise it is a text. */
const literal = /(?:null|true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)(?=[ \t]*(?:$|[\r\n,\]}#]|\/[/*]))/my;

export function loadHjson(text: string, file: string | undefined, firstLine: number): Value {
  const start = (): TextCursor => {
    const cursor = new TextCursor(text, file, firstLine);
    cursor.take(space);
    return cursor;
  };
  const first = start().next;
  if (first === '{' || first === '[') return whole(start(), (cursor) => value(cursor, 0));
  // The braces of the outermost map may be omitted; if it is not a map, it is a single value.
  try {
    return whole(start(), (cursor) => members(cursor, undefined, 0));
  } catch (error) {
    if (!(error instanceof RenderError)) throw error;
    try {
      return whole(start(), (cursor) => value(cursor, 0));
    } catch {
      throw error;
    }
  }
}

function whole(cursor: TextCursor, read: (cursor: TextCursor) => Value): Value {
  const made = read(cursor);
  cursor.take(space);
  return cursor.at === cursor.text.length ? made : cursor.fail();
}

function value(cursor: TextCursor, depth: number): Value {
  cursor.checkDepth(depth);
  const first = cursor.next;
  if (first === '{') {
    cursor.at++;
    return members(cursor, '}', depth);
  }
  if (first === '[') return array(cursor, depth);
  if (cursor.text.startsWith("'''", cursor.at)) return block(cursor);
  if (first === '"' || first === "'") return cursor.quoted(first, escaped);
  if (first === undefined || ',:]}'.includes(first)) return cursor.fail();
  const word = cursor.take(literal);
  if (word === undefined) return (cursor.take(line) as string).trim();
  if (word === 'null') return null;
  if (word === 'true' || word === 'false') return word === 'true';
  return wholeOf(numberOf(word));
}

/** Whole numbers are integers, however they are written, as in Python's reader. */
function wholeOf(number: Value): Value {
  const whole = number instanceof PyFloat && Math.abs(number.value) < 1e10;
  return whole ? number.value + 0 : number;
}

/** The members of a map up to its brace, or to the end of the text. */
function members(cursor: TextCursor, end: string | undefined, depth: number): Value {
  const entries: [Value, Value][] = [];
  for (;;) {
    cursor.take(space);
    if (cursor.next === end) break;
    const first = cursor.next;
    const key = first === '"' || first === "'" ? cursor.quoted(first, escaped) : (cursor.take(name) ?? cursor.fail());
    cursor.take(space);
    if (cursor.next !== ':') return cursor.fail();
    cursor.at++;
    cursor.take(space);
    entries.push([key, value(cursor, depth + 1)]);
    passComma(cursor);
  }
  if (end !== undefined) cursor.at++;
  return dictOf(entries);
}

function array(cursor: TextCursor, depth: number): Value {
  cursor.at++;
  const items: Value[] = [];
  for (;;) {
    cursor.take(space);
    if (cursor.next === ']') break;
    items.push(value(cursor, depth + 1));
    passComma(cursor);
  }
  cursor.at++;
  return items;
}

function passComma(cursor: TextCursor): void {
  cursor.take(space);
  if (cursor.next === ',') cursor.at++;
}

function escaped(cursor: TextCursor): string {
  return /["'\\/bfnrtu]/.test(cursor.next ?? '') ? cursor.escape({}) : cursor.fail();
}

/** Lines between triple quotes, without the indentation of the opening ones and without the last line break. */
function block(cursor: TextCursor): string {
  const lineStart = cursor.text.lastIndexOf('\n', cursor.at) + 1;
  const indent = cursor.at - lineStart;
  const start = cursor.at;
  const end = cursor.text.indexOf("'''", start + 3);
  if (end < 0) return cursor.fail('Unterminated string', start);
  cursor.at = end + 3;
  const body = cursor.text
    .slice(start + 3, end)
    .replaceAll('\r\n', '\n')
    .replace(/^[ \t]*\n/, '\n');
  const lines = body.split('\n');
  const texts = lines.map((one, at) =>
    at === 0 ? one : one.slice(Math.min(indent, /^\s*/.exec(one)?.[0].length ?? 0)),
  );
  if (lines.length > 1 && texts[0] === '') texts.shift();
  if (lines.length > 1 && texts.at(-1) === '') texts.pop();
  return texts.join('\n');
}
