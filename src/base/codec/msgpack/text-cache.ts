// Reuses short ASCII texts that were decoded before: the same map keys and function names occur again and again.

/** The text of the bytes when they are ASCII, otherwise undefined. */
export type TextCache = (buf: Buffer, start: number, end: number) => string | undefined;

/** A cache of `slots` texts (a power of two); a newer text takes the slot of an older one. */
export function textCache(slots: number): TextCache {
  const table: (string | undefined)[] = new Array(slots).fill(undefined);
  const mask = slots - 1;
  return (buf, start, end) => {
    let hash = end - start;
    let all = 0;
    for (let i = start; i < end; i++) {
      const byte = buf[i] as number;
      all |= byte;
      hash = (Math.imul(hash, 31) + byte) | 0;
    }
    if (all > 127) return undefined;
    const slot = (hash ^ (hash >>> 15)) & mask;
    const known = table[slot];
    if (known !== undefined && sameBytes(known, buf, start, end)) return known;
    const text = buf.toString('latin1', start, end);
    table[slot] = text;
    return text;
  };
}

function sameBytes(text: string, buf: Buffer, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== buf[start + i]) return false;
  return true;
}
