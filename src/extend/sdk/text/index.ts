// `halite/sdk/text`: splitting, matching and comparing text as Python and the shell do.
export { pyFloat } from '../../../base/codec/value.ts';
export { globMatcher, hasGlob, type Matcher, matchesGlob } from '../../../base/util/fnmatch.ts';
export { listFirst } from '../../../base/util/list-first.ts';
export { matchesWhole, pyRegex, pyRegexFull, pyRegexSearch } from '../../../base/util/pyregex.ts';
export { charLength, charSlice, rstrip, splitLines, strip } from '../../../base/util/pytext.ts';
export { parseSaltUrl, saltUrl } from '../../../base/util/salt-url.ts';
export { fillText } from '../../../base/util/textwrap.ts';
export { visibleLine, visibleText } from '../../../base/util/visible.ts';
export * from './cutting.ts';
export * from './py-sub.ts';
export * from './shell-words.ts';
export * from './unified-diff.ts';
