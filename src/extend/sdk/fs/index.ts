// `halite/sdk/fs`: files and folders. Names are those of node:fs and node:fs/promises; functions that change something
// are refused in test mode.
export { isInside, safeJoin } from '../../../base/util/safe-join.ts';
export { isPathComponent } from '../../../base/util/valid-id.ts';
export * from './attempts.ts';
export * from './modes.ts';
export * from './os-errors.ts';
export * from './paths.ts';
export * from './reading.ts';
export * from './stat.ts';
export * from './writing.ts';
export * from './writing-now.ts';
