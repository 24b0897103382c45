// Pure helpers, no I/O.
export { type Backoff, type BackoffOptions, backoff } from './backoff.ts';
export { type BoundedRegex, boundedRegex } from './bounded-regex.ts';
export { Budget, CostError } from './budget.ts';
export { type MergeOptions, type MergeStrategy, mergeDicts, mergeRecurse, mergeStrategies } from './deep-merge.ts';
export { defaultDelimiter, traverse } from './dict-path.ts';
export { formatDuration, parseDuration } from './durations.ts';
export { exitCodes } from './exit-codes.ts';
export { globMatcher, hasGlob, type Matcher, matchesGlob } from './fnmatch.ts';
export { generateJid, isJid, type JidOptions, jidDir, jidOf, jidToMillis, jidToTime } from './jid.ts';
export { nearest, typingDistance } from './nearest.ts';
export { pyDictGet, pyEquals } from './py-equals.ts';
export { matchesWhole, pyRegex, pyRegexFull, pyRegexSearch } from './pyregex.ts';
export { isInside, safeJoin } from './safe-join.ts';
export { type SubdictOptions, subdictMatch } from './subdict.ts';
export { isPathComponent, isValidMinionId, minionIdProblem, shownId } from './valid-id.ts';
export { visibleColored, visibleLine, visibleText } from './visible.ts';
export { yamlKey } from './yaml-key.ts';
