// Paths through nested data ('a:b:0') and matching of expressions ('os:Debian') as Salt does both.
import { pyStr } from '../codec/python/repr.ts';
import { type Dict, dictEntries, dictHas, dictSize, isDict, type Value } from '../codec/value.ts';
import { globMatcher } from './fnmatch.ts';
import { pyDictGet, pyEquals } from './py-equals.ts';
import { pyRegex } from './pyregex.ts';
import { yamlKey } from './yaml-key.ts';

export const DEFAULT_DELIMITER = ':';

/** The value at the path, or undefined. Lists take an index, or the first dict inside that has the key. */
export function traverse(
  data: Value,
  path: string | number | readonly Value[],
  delimiter: string = DEFAULT_DELIMITER,
): Value | undefined {
  const steps: readonly Value[] =
    typeof path === 'string' ? splitPath(path, delimiter) : typeof path === 'number' ? [path] : path;
  let now: Value = data;
  for (const step of steps) {
    const next: Value | undefined = Array.isArray(now)
      ? stepIntoList(now, step)
      : isDict(now)
        ? stepIntoDict(now, step)
        : undefined;
    if (next === undefined) return undefined;
    now = next;
  }
  return now;
}

/** Python's split; an empty delimiter splits nothing. */
function splitPath(path: string, delimiter: string): string[] {
  return delimiter === '' ? [path] : path.split(delimiter);
}

function stepIntoDict(dict: Dict, step: Value): Value | undefined {
  const found = pyDictGet(dict, step);
  if (found !== undefined || typeof step !== 'string') return found;
  const loaded = yamlKey(step);
  return loaded === step ? undefined : pyDictGet(dict, loaded);
}

function stepIntoList(list: readonly Value[], step: Value): Value | undefined {
  const index = pythonInt(step);
  const key = index ?? step;
  for (const item of list) {
    const found = isDict(item) ? pyDictGet(item, key) : undefined;
    if (found !== undefined) return found;
  }
  return index === undefined ? undefined : list.at(index);
}

/** int(text) of Python, as far as an index may be written. */
function pythonInt(step: Value): number | undefined {
  if (typeof step === 'number' && Number.isInteger(step)) return step;
  if (typeof step !== 'string' || !/^\s*[-+]?\d+(?:_\d+)*\s*$/.test(step)) return undefined;
  return Number(step.replaceAll('_', ''));
}

export interface SubdictOptions {
  readonly delimiter?: string;
  readonly regex?: boolean;
  readonly exact?: boolean;
}

type Compare = (value: Value, pattern: string) => boolean;

/** Whether 'key:sub:pattern' holds in the data, trying the longest key path first. Letter case does not count. */
export function subdictMatch(data: Value, expression: string, options: SubdictOptions = {}): boolean {
  const { delimiter = DEFAULT_DELIMITER } = options;
  const compare: Compare = options.regex ? compareRegex : options.exact ? compareExact : compareGlob;
  return matchPath(data, expression, delimiter, compare);
}

function matchPath(data: Value, expression: string, delimiter: string, compare: Compare): boolean {
  const splits = splitPath(expression, delimiter);
  for (let count = splits.length - 1; count > 0; count--) {
    const key = splits.slice(0, count).join(delimiter);
    // Salt: a bare star stands for all top-level keys, so the whole expression is tried on the whole data.
    const everything = key === '*';
    const pattern = everything ? expression : splits.slice(count).join(delimiter);
    const found = everything ? data : traverse(data, key, delimiter);
    if (found !== undefined && matchFound(found, pattern, compare)) return true;
  }
  return false;
}

function matchFound(found: Value, pattern: string, compare: Compare): boolean {
  if (isDict(found)) return dictSize(found) > 0 && matchDict(found, pattern, compare);
  if (!Array.isArray(found)) return compare(found, pattern);
  return found.some((item) => (isDict(item) && matchDict(item, pattern, compare)) || compare(item, pattern));
}

function matchDict(dict: Dict, fullPattern: string, compare: Compare): boolean {
  const wildcard = fullPattern.startsWith('*:');
  const pattern = wildcard ? fullPattern.slice(2) : fullPattern;
  if (pattern === '*' || dictHas(dict, pattern)) return true;
  // Salt: below the first level the delimiter is always a colon.
  if (matchPath(dict, pattern, DEFAULT_DELIMITER, compare)) return true;
  if (!wildcard) return false;
  return dictEntries(dict).some(([, value]) => {
    if (isDict(value)) return matchDict(value, pattern, compare);
    return Array.isArray(value) ? value.some((item) => compare(item, pattern)) : compare(value, pattern);
  });
}

const lower = (value: Value): string => pyStr(value).toLowerCase();
const compareGlob: Compare = (value, pattern) => globMatcher(lower(pattern))(lower(value));
const compareExact: Compare = (value, pattern) => pyEquals(lower(value), lower(pattern));
const compareRegex: Compare = (value, pattern) => {
  try {
    return pyRegex(lower(pattern)).test(lower(value));
  } catch {
    return false;
  }
};
