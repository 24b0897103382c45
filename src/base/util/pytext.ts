// Text the way Python sees it: lengths in characters, line ends, repr() of a string.

const SURROGATE = /[\ud800-\udfff]/;

/** Number of characters (code points), as Python's len(). */
export function charLength(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** text[start:end] counted in characters. */
export function charSlice(text: string, start: number, end?: number): string {
  return SURROGATE.test(text) ? [...text].slice(start, end).join('') : text.slice(start, end);
}

const LINE_END = /\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]/;

/** Python's str.splitlines(): every kind of line end counts, and a final one adds no empty line. */
export function splitLines(text: string): string[] {
  const lines = text.split(LINE_END);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

const WHITESPACE = '[\\s\\x1c-\\x1f\\x85]';
const TRAILING = new RegExp(`${WHITESPACE}+$`, 'u');
const LEADING = new RegExp(`^${WHITESPACE}+`, 'u');

/** Python's str.rstrip(). JavaScript's trimEnd() knows fewer control characters and one more (BOM). */
export function rstrip(text: string): string {
  return /[\s\x1c-\x1f\x85]$/.test(text) ? text.replace(TRAILING, '') : text;
}

/** Python's str.strip(). */
export function strip(text: string): string {
  return rstrip(text).replace(LEADING, '');
}

const PLAIN = /^[ !#-&(-[\]-~]*$/; // printable ASCII without quotes and backslash
const UNPRINTABLE = /[\p{C}\p{Z}]/u;

function escapeChar(char: string, quote: string): string {
  if (char === '\\' || char === quote) return `\\${char}`;
  if (char === '\n') return '\\n';
  if (char === '\r') return '\\r';
  if (char === '\t') return '\\t';
  if (char === ' ' || !UNPRINTABLE.test(char)) return char;
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}

/** Python's repr() of a string: single quotes unless only they occur inside. */
export function reprText(text: string): string {
  if (PLAIN.test(text)) return `'${text}'`;
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let out = quote;
  for (const char of text) out += escapeChar(char, quote);
  return out + quote;
}
