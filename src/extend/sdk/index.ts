// Everything an extension author needs: `import { defineModule, fn, p } from 'halite/sdk'`.

export type { Dict, MapDict, PlainDict, Value } from '../../base/codec/value.ts';
export { dictEntries, dictGet, dictHas, dictKeys, dictOf, isDict, newDict, PyFloat } from '../../base/codec/value.ts';
export { HaliteError } from '../../base/errors/index.ts';
export { withTimeout } from '../../base/util/with-timeout.ts';
export * from './beacons.ts';
export * from './change-set.ts';
export * from './context.ts';
export * from './files.ts';
export * from './functions.ts';
export * from './orchestration.ts';
export * from './outputters.ts';
export * from './params.ts';
export * from './pillars.ts';
export { assertMayWrite, isReadOnly, noteScratch, onlyReads, ReadOnlyError } from './read-only.ts';
export * from './renderers.ts';
export * from './resource.ts';
export * from './returners.ts';
export * from './sdb.ts';
export * from './state-services.ts';
export * from './states.ts';
export * from './tops.ts';
