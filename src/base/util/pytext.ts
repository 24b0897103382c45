// Text functions with Python's semantics: lengths in characters, line ends, white space.

const surrogate = /[\ud800-\udfff]/;

/** Number of characters (code points), as Python's len(). */
export function charLength(text: string): number {
  if (!surrogate.test(text)) return text.length;
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** text[start:end] counted in characters. */
export function charSlice(text: string, start: number, end?: number): string {
  return surrogate.test(text) ? [...text].slice(start, end).join('') : text.slice(start, end);
}

const lineEnd = /\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]/;
const afterLineEnd = /(?<=[\n\v\f\x1c\x1d\x1e\x85\u2028\u2029])|(?<=\r)(?!\n)/;

/** Python's str.splitlines(): every kind of line end counts, and a final one adds no empty line. */
export function splitLines(text: string, keepEnds = false): string[] {
  if (text !== '' && !lineEnd.test(text)) return [text];
  const lines = text.split(keepEnds ? afterLineEnd : lineEnd);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

const whitespace = '[\\s\\x1c-\\x1f\\x85]';
const trailing = new RegExp(`${whitespace}+$`, 'u');
const leading = new RegExp(`^${whitespace}+`, 'u');

/** Python's str.rstrip(). JavaScript's trimEnd() removes fewer control characters and one more (BOM). */
export function rstrip(text: string): string {
  return /[\s\x1c-\x1f\x85]$/.test(text) ? text.replace(trailing, '') : text;
}

/** Python's str.strip(). */
export function strip(text: string): string {
  return rstrip(text).replace(leading, '');
}
