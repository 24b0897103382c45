// Decides by the first bytes of a file whether it is text.

/** The number of bytes that decide whether a file is text. */
export const startBytes = 512;

/** Salt's rule: the first 512 bytes are UTF-8 or mostly printable. */
export function looksLikeText(bytes: Uint8Array): boolean {
  const start = bytes.subarray(0, startBytes);
  if (start.length === 0) return true;
  if (start.includes(0)) return false;
  const text = Buffer.from(start).toString('utf8');
  if (Buffer.from(text, 'utf8').equals(start)) return true;
  const odd = start.filter((byte) => !((byte >= 32 && byte < 127) || [8, 9, 10, 12, 13].includes(byte)));
  return odd.length / start.length <= 0.3;
}
