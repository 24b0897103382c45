// Text functions with the semantics of Python's string methods, so that parsed command output has Salt's form.

/** Python's `str.split()` without arguments: splits at runs of white space and drops empty ends. */
export function words(text: string): string[] {
  const trimmed = text.trim();
  return trimmed === '' ? [] : trimmed.split(/\s+/);
}

/** Python's `str.splitlines()`: no empty last element. */
export function lines(text: string): string[] {
  if (text === '') return [];
  const parts = text.split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/);
  if (parts.at(-1) === '') parts.pop();
  return parts;
}

/** Python's `str.partition(separator)`. */
export function partition(text: string, separator: string): [string, string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, '', ''] : [text.slice(0, at), separator, text.slice(at + separator.length)];
}

/** Python's `str.split(separator, count)`. */
export function splitTimes(text: string, separator: string, count: number): string[] {
  const parts: string[] = [];
  let rest = text;
  while (parts.length < count) {
    const at = rest.indexOf(separator);
    if (at < 0) break;
    parts.push(rest.slice(0, at));
    rest = rest.slice(at + separator.length);
  }
  parts.push(rest);
  return parts;
}

/** Python's `str.capitalize()`. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();
}

/** Rounds half to even at a number of decimals, as Python's `round` does for the values used here. */
export function roundTo(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
