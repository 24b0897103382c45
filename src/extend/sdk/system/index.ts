// `halite/sdk/system`: programs, processes and accounts of this machine, and users' code.
export { importUrl } from '../../../base/util/import-url.ts';
export { stripTypes } from '../../../base/util/strip-types.ts';
export * from './accounts.ts';
export * from './processes.ts';
export * from './tools.ts';
export * from './which.ts';
