// String literals: Python's escapes, where an unknown one keeps its backslash.
import { escapeCode } from '../runtime/text.ts';

const simple: Readonly<Record<string, string>> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

const hexLengths: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };
const shapes: Readonly<Record<string, string>> = { x: '\\xXX', u: '\\uXXXX', U: '\\UXXXXXXXX' };

/** The value of a literal without its quotes. */
export function unescapeString(body: string, fail: (message: string) => Error): string {
  if (!body.includes('\\')) return body;
  let out = '';
  for (let at = 0; at < body.length; ) {
    const slash = body.indexOf('\\', at);
    if (slash < 0) return out + body.slice(at);
    out += body.slice(at, slash);
    const [text, length] = readEscape(body, slash + 1, fail);
    out += text;
    at = slash + 1 + length;
  }
  return out;
}

/** Text for the escape after a backslash, and how many characters it takes. */
function readEscape(body: string, at: number, fail: (message: string) => Error): [string, number] {
  const char = String.fromCodePoint(body.codePointAt(at)!);
  const plain = simple[char];
  if (plain !== undefined) return [plain, 1];
  const octal = /^[0-7]{1,3}/.exec(body.slice(at, at + 3));
  if (octal !== null) return [String.fromCharCode(Number.parseInt(octal[0], 8)), octal[0].length];
  const size = hexLengths[char];
  if (size !== undefined) {
    const digits = body.slice(at + 1, at + 1 + size);
    if (digits.length < size || !/^[0-9a-fA-F]+$/.test(digits)) {
      throw fail(`truncated ${shapes[char]} escape`);
    }
    const code = Number.parseInt(digits, 16);
    if (code > 0x10ffff) throw fail('illegal Unicode character');
    return [String.fromCodePoint(code), size + 1];
  }
  if (char === 'N') {
    const known = /^N\{[^}]+\}/.test(body.slice(at));
    throw fail(known ? 'unknown Unicode character name' : 'malformed \\N character escape');
  }
  // Python escapes non-ASCII text before decoding, so `\é` turns into the letters `\xe9`.
  if (char > '\x7f') return [escapeCode(char.codePointAt(0)!), char.length];
  return [`\\${char}`, char.length];
}
