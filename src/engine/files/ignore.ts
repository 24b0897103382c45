// Files that are hidden from minions: `file_ignore_regex` and `file_ignore_glob`.
import { messageOf } from '../../base/errors/index.ts';
import { boundedRegex } from '../../base/util/bounded-regex.ts';
import { globMatcher } from '../../base/util/fnmatch.ts';

/** Whether a file is hidden, by its path below the root and its full path. */
export type Ignored = (relative: string, full?: string) => boolean;

const ignoreNothing: Ignored = () => false;

/** One test for both lists; the rules are compiled once. An invalid rule is passed to `broken` and skipped. */
export function ignoreRules(
  regexes: readonly string[],
  globs: readonly string[],
  broken: (rule: string, why: string) => void = () => undefined,
): Ignored {
  const tests: ((path: string) => boolean)[] = globs.map((glob) => globMatcher(String(glob)));
  for (const rule of regexes) {
    try {
      // Minions choose the requested paths. When a rule cannot be decided, the file is not served: the error ends the
      // request.
      const compiled = boundedRegex(String(rule), 'search');
      tests.push((path) => compiled.test(path));
    } catch (error) {
      broken(String(rule), messageOf(error));
    }
  }
  if (tests.length === 0) return ignoreNothing;
  // Salt tests the full path when a file is requested and the relative one in lists, so that `/\.git/` hides a file
  // from the first and not from the second. Here a rule that matches any form hides the file everywhere.
  return (relative, full) => {
    const rooted = `/${relative}`;
    return tests.some((test) => test(relative) || test(rooted) || (full !== undefined && test(full)));
  };
}
