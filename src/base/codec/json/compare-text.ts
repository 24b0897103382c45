// Compares text in Python's order.

/** Orders by code point, as Python does; JavaScript's own comparison orders by UTF-16 code unit. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    let left = a.charCodeAt(i);
    let right = b.charCodeAt(i);
    if (left === right) continue;
    // Surrogates encode characters above U+FFFF, which sort after all others.
    if (left >= 0xd800 && left < 0xe000) left += 0x10000;
    if (right >= 0xd800 && right < 0xe000) right += 0x10000;
    return left - right;
  }
  return a.length - b.length;
}
