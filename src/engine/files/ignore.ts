// Files that do not exist for minions: `file_ignore_regex` and `file_ignore_glob`.
import { globMatcher } from '../../base/util/fnmatch.ts';
import { pyRegexSearch } from '../../base/util/pyregex.ts';

export type Ignored = (path: string) => boolean;

/** One test for both lists; the rules are compiled once. */
export function ignoreRules(regexes: readonly string[], globs: readonly string[]): Ignored {
  const tests: Ignored[] = [
    ...regexes.map((expression) => {
      const compiled = pyRegexSearch(expression);
      return (path: string) => compiled.test(path);
    }),
    ...globs.map((glob) => globMatcher(glob)),
  ];
  if (tests.length === 0) return () => false;
  // Salt tests the full path when a file is asked for and the relative one in lists; a leading slash serves both.
  return (path) => tests.some((test) => test(path) || test(`/${path}`));
}
