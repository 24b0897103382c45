// Python's string methods that states depend on.
import { isDict, oneOrMore, pyStr, type Value } from 'halite/sdk';
import { matchesGlob, pyRegexSearch } from 'halite/sdk/text';

/** Python's splitlines(True): lines with their ends, every kind of line end counts. */
export function linesWithEnds(text: string): string[] {
  return (
    text
      .match(/[^\r\n\v\f\x1c-\x1e\x85\u2028\u2029]*(?:\r\n|[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]|$)/g)
      ?.filter((line) => line !== '') ?? []
  );
}

/** A text, a list of texts, or another value as texts. Bytes that are not text give undefined. */
export function textList(value: Value): string[] | undefined {
  if (value instanceof Uint8Array) {
    const text = Buffer.from(value).toString('utf8');
    return Buffer.from(text, 'utf8').equals(value) ? [text] : undefined;
  }
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.map(pyStr) : [pyStr(value)];
}

function fits(path: string, pattern: string): boolean {
  return pattern.startsWith('E@') ? pyRegexSearch(pattern.slice(2)).test(path) : matchesGlob(path, pattern);
}

const patterns = (value: Value): string[] =>
  value === null || value === '' || isDict(value) ? [] : oneOrMore(value).map(pyStr);

/** Whether a path passes `include_pat` and `exclude_pat`: globs, or regular expressions after `E@`. */
export function isIncluded(path: string, include: Value, exclude: Value): boolean {
  const [wanted, unwanted] = [patterns(include), patterns(exclude)];
  if (wanted.length > 0 && !wanted.some((pattern) => fits(path, pattern))) return false;
  return !unwanted.some((pattern) => fits(path, pattern));
}
