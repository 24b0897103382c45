// Everything an extension author needs: `import { defineModule, fn, p } from 'halite/sdk'`.

export {
  boolField,
  bytesField,
  dictField,
  intField,
  listField,
  listTexts,
  numberField,
  textField,
  textKeyed,
  textsField,
} from '../../base/codec/fields.ts';
export { pyRepr, pyStr, reprFloat, reprKey } from '../../base/codec/python/repr.ts';
export { pyTypeName } from '../../base/codec/python/type-name.ts';
export type { Dict, MapDict, PlainDict, Value } from '../../base/codec/value.ts';
export {
  asDict,
  asList,
  asNumber,
  asPlainDict,
  asText,
  dictEntries,
  dictGet,
  dictHas,
  dictKeys,
  dictOf,
  dictSize,
  fieldOf,
  isDict,
  isFloat,
  isTexts,
  newDict,
  oneOrMore,
  PyFloat,
} from '../../base/codec/value.ts';
export { HaliteError, messageOf } from '../../base/errors/index.ts';
export { ConcurrencyLimit } from '../../base/util/concurrency-limit.ts';
export { pyDictGet, pyEquals } from '../../base/util/py-equals.ts';
export { saltCompatVersion } from '../../base/util/version.ts';
export { withTimeout } from '../../base/util/with-timeout.ts';
export * from './auth.ts';
export * from './availability.ts';
export * from './beacons.ts';
export * from './calls.ts';
export * from './change-set.ts';
export * from './cluster.ts';
export * from './context.ts';
export * from './engines.ts';
export * from './errors.ts';
export * from './exec.ts';
export * from './executors.ts';
export * from './files.ts';
export * from './functions.ts';
export * from './job-request.ts';
export * from './needs.ts';
export * from './orchestration.ts';
export * from './outputters.ts';
export * from './params.ts';
export * from './pillars.ts';
export * from './proxies.ts';
export { assertMayWrite, isReadOnly, noteScratch, onlyReads, ReadOnlyError } from './read-only.ts';
export * from './renderers.ts';
export * from './resource.ts';
export * from './returners.ts';
export * from './rosters.ts';
export * from './sdb.ts';
export * from './sdb-services.ts';
export * from './serializer-services.ts';
export * from './serializers.ts';
export * from './state-services.ts';
export * from './states.ts';
export * from './tops.ts';
export * from './values.ts';
