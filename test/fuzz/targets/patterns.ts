// Globs and Python's regular expressions: globs as a slow, plain matcher understands them.
import { globMatcher, hasGlob, pyRegex, pyRegexFull, pyRegexSearch } from '../../../src/base/util/index.ts';
import { type FuzzTarget, hold, read, textOf } from '../engine/target.ts';

/** fnmatch by definition, for patterns without sets: every way a star can go is tried. */
function slowGlob(pattern: readonly string[], text: readonly string[]): boolean {
  const reach = new Set([0]);
  for (const piece of pattern) {
    const from = [...reach];
    reach.clear();
    if (piece === '*') for (let at = Math.min(...from); at <= text.length; at++) reach.add(at);
    else for (const at of from) if (at < text.length && (piece === '?' || text[at] === piece)) reach.add(at + 1);
    if (reach.size === 0) return false;
  }
  return reach.has(text.length);
}

const target: FuzzTarget = {
  maxLength: 120,
  tokens: [
    '*',
    '?',
    '[!a-z]',
    '[]]',
    '[a-',
    '(?P<n>',
    '(?P=n)',
    '(?i)',
    '(?:',
    '(?=',
    '(?<!',
    '\\d',
    '\\Z',
    '\\A',
    '\\b',
    '{2,}',
    '+?',
    '|',
    '(?#c)',
    '(?(1)a|b)',
    '\\x41',
    '\\u00e9',
    '[\\w-]',
    '[[:alpha:]]',
    '(?x) # c\n',
    '\0',
  ],
  seeds: ['web*\0web1', 'w?b[12]\0web1', '(?i)WEB\\d+\0web1', '(?P<a>x)(?P=a)\0xx', '[^a]\\Z\0b'],
  run: (bytes) => {
    const [pattern = '', text = ''] = textOf(bytes).split('\0');
    const match = globMatcher(pattern)(text);
    if (!hasGlob(pattern)) hold(match === (pattern === text), 'a text without stars matches itself');
    if (!pattern.includes('['))
      hold(match === slowGlob([...pattern], [...text]), 'a glob matches what its letters say');
    // How long a pattern runs on a hostile text is bounded where texts of peers meet it; here texts are short.
    const short = text.slice(0, 12);
    const start = read(() => pyRegex(pattern).test(short));
    const whole = read(() => pyRegexFull(pattern).test(short));
    const anywhere = read(() => pyRegexSearch(pattern).test(short));
    hold(
      (start === undefined) === (anywhere === undefined) && (start === undefined) === (whole === undefined),
      'a pattern is right or wrong',
    );
    hold(start !== true || anywhere === true, 'what matches at the start is found');
    hold(whole !== true || start === true, 'what matches whole matches at the start');
  },
};
export default target;
