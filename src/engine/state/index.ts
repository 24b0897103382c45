// The state engine: top files, SLS, high and low data, requisites, runs.
export { checkResult } from './check-result.ts';
export { type OpenSources, openRun } from './open.ts';
export { provideStates } from './provide.ts';
export type { SlsRenderer, SlsRequest, StateFile, StateFiles } from './sources.ts';
export { splitTag, tagOf } from './tags.ts';
