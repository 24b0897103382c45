// Base64 as Python reads and writes it for `!!binary`.
import { pyRepr } from './py-text.ts';

const isDigit = (c: number): boolean =>
  (c >= 65 && c <= 90) || (c >= 97 && c <= 122) || (c >= 48 && c <= 57) || c === 43 || c === 47;

/**
 * The bytes, or the problem. Python's decoder skips characters outside the alphabet, but the padding must be correct.
 */
export function decodeBase64(text: string): Uint8Array | string {
  const foreign = asciiProblem(text);
  if (foreign !== undefined) return foreign;
  const digits = Buffer.allocUnsafe(text.length);
  let length = 0;
  let pads = 0;
  let closed = false;
  for (let i = 0; i < text.length && !closed; i++) {
    const c = text.charCodeAt(i);
    if (isDigit(c)) {
      digits[length++] = c;
      pads = 0;
    } else if (c === 61 && length % 4 >= 2) closed = (length % 4) + ++pads >= 4;
  }
  if (!closed && length % 4 === 1) {
    return (
      'failed to decode base64 data: Invalid base64-encoded string: ' +
      `number of data characters (${length}) cannot be 1 more than a multiple of 4`
    );
  }
  if (!closed && length % 4 !== 0) return 'failed to decode base64 data: Incorrect padding';
  return new Uint8Array(Buffer.from(digits.toString('latin1', 0, length), 'base64'));
}

function asciiProblem(text: string): string | undefined {
  if (!/[^\x00-\x7f]/.test(text)) return undefined;
  const characters = [...text];
  const isForeign = (char: string | undefined): boolean => char !== undefined && char > '\x7f';
  const first = characters.findIndex(isForeign);
  let last = first;
  while (isForeign(characters[last + 1])) last++;
  const what =
    last === first
      ? `character ${asciiRepr(characters[first] ?? '')} in position ${first}`
      : `characters in position ${first}-${last}`;
  return `failed to convert base64 data into ascii: 'ascii' codec can't encode ${what}: ordinal not in range(128)`;
}

/** `ascii()` of one character. */
function asciiRepr(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code < 128) return pyRepr(char);
  const [mark, width] = code <= 0xff ? ['x', 2] : code <= 0xffff ? ['u', 4] : ['U', 8];
  return `'\\${mark}${code.toString(16).padStart(width, '0')}'`;
}

/** Lines of 76 digits, each with a line break, as `base64.encodebytes` writes them. */
export function encodeBase64(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return text.replace(/.{1,76}/g, '$&\n');
}
