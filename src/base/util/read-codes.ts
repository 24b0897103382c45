// The characters of a text as numbers, where a surrogate pair is one.

/** Fills the array, which must have space for one number per UTF-16 unit; returns the number of characters. */
export function readCodes(text: string, into: Uint32Array): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) as number;
    if (code > 0xffff) at++;
    into[count++] = code;
  }
  return count;
}
