// Sizes of texts in a drawing: an estimate, because nothing is rendered while the site is built.

export const lineHeight = 17;
const wide = /[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]/;

export const widthOf = (text: string): number =>
  Math.ceil([...text].reduce((sum, char) => sum + (wide.test(char) ? 13 : /[A-Zmw]/.test(char) ? 9 : 7), 0));

/** Lines of at most this many pixels, broken between words. */
export function wrap(text: string, most: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(`${last} ${word}`) <= most) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
