// Pure helpers, no I/O.
export { backoff } from './backoff.ts';
export { type BoundedRegex, boundedRegex } from './bounded-regex.ts';
export { CostError } from './budget.ts';
export { type MergeStrategy, mergeDicts, mergeRecurse, mergeStrategies } from './deep-merge.ts';
export { traverse } from './dict-path.ts';
export { parseDuration } from './durations.ts';
export { exitCodes } from './exit-codes.ts';
export { globMatcher, hasGlob, matchesGlob } from './fnmatch.ts';
export { generateJid, isJid, jidDir, jidOf, jidToMillis, jidToTime, slotOf, takeJid, useSlot } from './jid.ts';
export { nearest, typingDistance } from './nearest.ts';
export { pyEquals } from './py-equals.ts';
export { pyRegex, pyRegexFull, pyRegexSearch } from './pyregex.ts';
export { isInside, safeJoin } from './safe-join.ts';
export { isPathComponent, isValidMinionId, minionIdProblem, shownId } from './valid-id.ts';
export { yamlKey } from './yaml-key.ts';
