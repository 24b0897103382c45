// Reads the head of a msgpack value: its length and the number of values inside, without decoding them.

/** The result of the last call of `readHead`. One object for all calls: reading is synchronous. */
export const head = {
  /** The offset after the head, and after the content of a value that contains no other values. */
  end: 0,
  /** Number of values inside: two per entry of a map. */
  inside: 0,
};

/**
 * Reads the head at `at`; false while bytes after `filled` are missing (also those of the content: `end` is then set).
 */
export function readHead(buf: Buffer, at: number, filled: number): boolean {
  head.inside = 0;
  head.end = at + 1;
  if (at >= filled) return false;
  const code = buf[at] as number;
  if (code < 0x80 || code >= 0xe0) return true;
  if (code < 0x90) head.inside = (code & 15) * 2;
  else if (code < 0xa0) head.inside = code & 15;
  else if (code < 0xc0) head.end += code & 31;
  else {
    const width = lengthWidth(code);
    head.end += width;
    if (head.end > filled) return false;
    const count = width === 0 ? 0 : buf.readUIntBE(at + 1, width);
    if (code === 0xdc || code === 0xdd) head.inside = count;
    else if (code === 0xde || code === 0xdf) head.inside = count * 2;
    else head.end += count + fixedSize(code);
  }
  return head.end <= filled;
}

/** The width of the length field of the byte-string types, 0 for others. */
export function textWidth(code: number): number {
  if (code >= 0xc4 && code <= 0xc6) return 1 << (code - 0xc4);
  return code >= 0xd9 && code <= 0xdb ? 1 << (code - 0xd9) : 0;
}

/** The width of the length or count field after the type byte. */
function lengthWidth(code: number): number {
  if (code >= 0xc7 && code <= 0xc9) return 1 << (code - 0xc7);
  if (code >= 0xdc) return code === 0xdc || code === 0xde ? 2 : 4;
  return textWidth(code);
}

/** Bytes after the type byte (and length field) that do not belong to the counted content. */
function fixedSize(code: number): number {
  if (code >= 0xc7 && code <= 0xc9) return 1;
  if (code === 0xca) return 4;
  if (code === 0xcb) return 8;
  if (code >= 0xcc && code <= 0xcf) return 1 << (code - 0xcc);
  if (code >= 0xd0 && code <= 0xd3) return 1 << (code - 0xd0);
  if (code >= 0xd4 && code <= 0xd8) return 1 + (1 << (code - 0xd4));
  return 0;
}
