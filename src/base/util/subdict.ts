// Expressions about nested data ('os:Debian', 'disks:*:ssd'), matched as Salt does. Parsed once, then applied to many
// minions.
import { pyStr } from '../codec/python/repr.ts';
import { type Dict, dictEntries, dictHas, dictSize, isDict, type Value } from '../codec/value.ts';
import { type BoundedRegex, boundedRegex } from './bounded-regex.ts';
import { type Budget, textBudget } from './budget.ts';
import { defaultDelimiter, type Step, splitPath, stepOf, walk } from './dict-path.ts';
import { globMatcher } from './fnmatch.ts';
import { pyEquals } from './py-equals.ts';

export interface SubdictOptions {
  readonly delimiter?: string;
  readonly regex?: boolean;
  readonly exact?: boolean;
}

export type SubdictTest = (data: Value, budget: Budget) => boolean;

/** Whether 'key:sub:pattern' matches the data. */
export function subdictMatch(data: Value, expression: string, options: SubdictOptions = {}): boolean {
  return subdictTest(expression, options)(data, textBudget());
}

/** The test for an expression: the longest key path is tried first, letter case is ignored. */
export function subdictTest(expression: string, options: SubdictOptions = {}): SubdictTest {
  const { delimiter = defaultDelimiter } = options;
  const comparison = options.regex ? regexComparison : options.exact ? exactComparison : globComparison;
  const reader = new Reader(comparison);
  const paths = reader.paths(expression, delimiter);
  return (data, budget) => matchPaths(reader, paths, data, budget);
}

type Compare = (text: string, budget: Budget) => boolean;

/** One way to split an expression into the path to a value and the pattern for it. */
interface Path {
  /** Undefined: the pattern is applied to the whole data. */
  readonly steps: readonly Step[] | undefined;
  readonly pattern: string;
}

/** The parsed parts of an expression, shared by all ways to split it. */
class Reader {
  readonly #comparison: (pattern: string) => Compare;
  readonly #compares = new Map<string, Compare>();
  readonly #paths = new Map<string, readonly Path[]>();

  constructor(comparison: (pattern: string) => Compare) {
    this.#comparison = comparison;
  }

  paths(expression: string, delimiter: string): readonly Path[] {
    const splits = splitPath(expression, delimiter);
    const steps = splits.map(stepOf);
    return splits.slice(1).map((_, index): Path => {
      const count = splits.length - 1 - index;
      // As in Salt: a bare star matches all top-level keys, so the whole expression is tried on the whole data.
      if (count === 1 && splits[0] === '*') return { steps: undefined, pattern: expression };
      return { steps: steps.slice(0, count), pattern: splits.slice(count).join(delimiter) };
    });
  }

  /** As in Salt: below the first level the delimiter is always a colon. */
  inner(pattern: string): readonly Path[] {
    let paths = this.#paths.get(pattern);
    if (!paths) {
      paths = this.paths(pattern, defaultDelimiter);
      this.#paths.set(pattern, paths);
    }
    return paths;
  }

  compare(value: Value, pattern: string, budget: Budget): boolean {
    let compare = this.#compares.get(pattern);
    if (!compare) {
      compare = this.#comparison(pattern.toLowerCase());
      this.#compares.set(pattern, compare);
    }
    const text = pyStr(value).toLowerCase();
    // Formatting the value is cheap; the comparison counts its own cost.
    budget.spend((text.length >>> 4) + 10);
    return compare(text, budget);
  }
}

function matchPaths(reader: Reader, paths: readonly Path[], data: Value, budget: Budget): boolean {
  for (const { steps, pattern } of paths) {
    budget.spend(10);
    const found = steps ? walk(data, steps, budget) : data;
    if (found !== undefined && matchFound(reader, found, pattern, budget)) return true;
  }
  return false;
}

function matchFound(reader: Reader, found: Value, pattern: string, budget: Budget): boolean {
  if (isDict(found)) return dictSize(found) > 0 && matchDict(reader, found, pattern, budget);
  if (!Array.isArray(found)) return reader.compare(found, pattern, budget);
  return found.some(
    (item) => (isDict(item) && matchDict(reader, item, pattern, budget)) || reader.compare(item, pattern, budget),
  );
}

function matchDict(reader: Reader, dict: Dict, fullPattern: string, budget: Budget): boolean {
  const wildcard = fullPattern.startsWith('*:');
  const pattern = wildcard ? fullPattern.slice(2) : fullPattern;
  if (pattern === '*' || dictHas(dict, pattern)) return true;
  if (matchPaths(reader, reader.inner(pattern), dict, budget)) return true;
  if (!wildcard) return false;
  budget.spend(dictSize(dict));
  return dictEntries(dict).some(([, value]) => {
    if (isDict(value)) return matchDict(reader, value, pattern, budget);
    if (!Array.isArray(value)) return reader.compare(value, pattern, budget);
    return value.some((item) => reader.compare(item, pattern, budget));
  });
}

const globComparison = (pattern: string): Compare => globMatcher(pattern);
const exactComparison =
  (pattern: string): Compare =>
  (text) =>
    pyEquals(text, pattern);

/** As in Salt, a part of an expression that is not a valid regular expression matches nothing. */
function regexComparison(pattern: string): Compare {
  let regex: BoundedRegex;
  try {
    regex = boundedRegex(pattern);
  } catch {
    return () => false;
  }
  return (text, budget) => regex.test(text, budget);
}
