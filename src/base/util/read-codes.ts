// The characters of a text as numbers, where a surrogate pair is one.

/** Fills the array, which has room for as many as the text has units; returns how many characters there are. */
export function readCodes(text: string, into: Uint32Array): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) as number;
    if (code > 0xffff) at++;
    into[count++] = code;
  }
  return count;
}
