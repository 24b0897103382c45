// Targets: parsing, matching, resolving and publishing. Pure: data is handed in.
export { targetNetwork } from './ip.ts';
export { targetBudget } from './limits.ts';
export { matches } from './match.ts';
export { expandNodegroups } from './nodegroups.ts';
export { isTargetKind, parseTarget } from './parse.ts';
export { type PublishForm, publishForm } from './publish.ts';
export { type DataNeeds, dataNeeded, type Resolution, resolve } from './resolve.ts';
export {
  type CompoundTarget,
  type Expression,
  type Nodegroups,
  type Subject,
  type Target,
  type TargetKind,
  type TargetOptions,
  type Term,
  targetKinds,
  type Verdict,
} from './types.ts';
