// Returners: finding their options, opening them, keeping them open.

export { ResultKeeper } from './keeper.ts';
export { type OpenReturner, openReturner } from './open.ts';
export { jobOptions, type OptionSources, resolveOptions } from './options.ts';
export { type ReturnerProblem, ReturnerSessions, type ReturnerWish, returnerNames, returnerWish } from './sessions.ts';
export { ReturnerWorker } from './worker.ts';
