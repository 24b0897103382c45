// Targets: parsing, matching, resolving and publishing. Pure functions: callers pass the data.
export { targetNetwork } from './ip.ts';
export { targetBudget } from './limits.ts';
export { listedIds } from './listed.ts';
export { matches } from './match.ts';
export { expandNodegroups } from './nodegroups.ts';
export { isTargetKind, parseTarget } from './parse.ts';
export { publishForm } from './publish.ts';
export { resolve } from './resolve.ts';
export {
  type Subject,
  type Target,
  targetKinds,
} from './types.ts';
