// `halite/sdk/data`: merging dicts, and reading nested values.
export { deepCopy } from '../../../base/util/deep-copy.ts';
export { type MergeStrategy, mergeDicts, mergeRecurse, mergeStrategies } from '../../../base/util/deep-merge.ts';
export { defaultDelimiter, traverse } from '../../../base/util/dict-path.ts';
export { subdictMatch } from '../../../base/util/subdict.ts';
export { aggregate, markAggregate } from '../aggregation.ts';
