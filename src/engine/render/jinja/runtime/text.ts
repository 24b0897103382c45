// Python strings are code points, JavaScript's are UTF-16: length, slices, whitespace, lines and repr.

const surrogate = /[\ud800-\udfff]/;
const ascii = /^[\x00-\x7f]*$/;

/** True when indexes by UTF-16 unit and by code point agree. */
export function isSimple(text: string): boolean {
  return !surrogate.test(text);
}

export function isAscii(text: string): boolean {
  return ascii.test(text);
}

/** Code points as an array of one-character strings. */
export function codePoints(text: string): string[] {
  return isSimple(text) ? text.split('') : Array.from(text);
}

export function pyLength(text: string): number {
  return isSimple(text) ? text.length : Array.from(text).length;
}

/** The part between two code point indexes. */
export function pySlice(text: string, start: number, end?: number): string {
  return isSimple(text) ? text.slice(start, end) : Array.from(text).slice(start, end).join('');
}

/** Code point index of a UTF-16 index. */
export function pyIndex(text: string, unit: number): number {
  return isSimple(text) ? unit : Array.from(text.slice(0, unit)).length;
}

/** Order by code point, not by UTF-16 unit. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  if (isSimple(a) && isSimple(b)) return a < b ? -1 : 1;
  const left = Array.from(a);
  const right = Array.from(b);
  const shared = Math.min(left.length, right.length);
  for (let i = 0; i < shared; i += 1) {
    if (left[i] !== right[i]) return left[i]!.codePointAt(0)! - right[i]!.codePointAt(0)!;
  }
  return left.length - right.length;
}

/** Characters of `str.isspace`, for use inside a regular expression class. */
export const spaceClass = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const leading = new RegExp(`^[${spaceClass}]+`);
const trailing = new RegExp(`[${spaceClass}]+$`);
const allSpace = new RegExp(`^[${spaceClass}]+$`);

export const isSpace = (text: string): boolean => allSpace.test(text);
export const trimStart = (text: string): string => text.replace(leading, '');

/** Cuts blanks at the end by scanning backwards: the regular expression alone would be quadratic. */
export function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && isSpaceUnit(text.charCodeAt(end - 1))) end -= 1;
  return end === text.length ? text : text.slice(0, end);
}

export const trim = (text: string): string => trimEnd(trimStart(text));

export function isSpaceUnit(code: number): boolean {
  if (code < 128) return code === 32 || (code >= 9 && code <= 13) || (code >= 28 && code <= 31);
  return trailing.test(String.fromCharCode(code));
}

const plain = /^[\x20-\x26\x28-\x5b\x5d-\x7e]*$/;
const unprintable = /[\p{C}\p{Z}]/u;
const named: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };

/** `str.isprintable` for one code point. */
export function isPrintable(char: string): boolean {
  return char === ' ' || !unprintable.test(char);
}

/** `\xNN`, `\uNNNN` or `\UNNNNNNNN`. */
export function escapeCode(code: number): string {
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}

/** `repr(text)`. */
export function reprText(text: string): string {
  if (plain.test(text)) return `'${text}'`;
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let out = quote;
  for (const char of text) {
    if (char === quote) out += `\\${char}`;
    else if (named[char] !== undefined) out += named[char];
    else if (isPrintable(char)) out += char;
    else out += escapeCode(char.codePointAt(0)!);
  }
  return out + quote;
}

/** `repr(bytes)`. */
export function reprBytes(bytes: Uint8Array): string {
  let hasSingle = false;
  let hasDouble = false;
  for (const byte of bytes) {
    if (byte === 39) hasSingle = true;
    else if (byte === 34) hasDouble = true;
  }
  const quote = hasSingle && !hasDouble ? '"' : "'";
  let out = `b${quote}`;
  for (const byte of bytes) {
    const char = String.fromCharCode(byte);
    if (char === quote) out += `\\${char}`;
    else if (named[char] !== undefined) out += named[char];
    else if (byte >= 32 && byte < 127) out += char;
    else out += `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return out + quote;
}
