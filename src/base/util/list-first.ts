// A list for a sentence: the first few items, and the number of the others.

export function listFirst(texts: readonly string[], most: number, between = ', '): string {
  const more = texts.length - most;
  if (more <= 0) return texts.join(between);
  return `${texts.slice(0, most).join(between)} and ${more.toLocaleString('en-US')} more`;
}
