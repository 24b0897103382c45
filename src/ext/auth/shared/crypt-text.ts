// Numbers as crypt(3) writes them.
const letters = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The lowest six bits first, as crypt(3) writes numbers. */
export function cryptText(value: number, length: number): string {
  let text = '';
  let rest = value;
  for (let at = 0; at < length; at++) {
    text += letters[rest & 63];
    rest >>>= 6;
  }
  return text;
}
