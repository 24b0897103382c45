// Returners: finding their options, opening them, keeping them open.

export { type OpenReturner, openReturner } from './open.ts';
export { resolveOptions } from './options.ts';
export { ReturnerProcess } from './returner-process.ts';
export {
  type ReturnerChoice,
  type ReturnerProblem,
  ReturnerSessions,
  returnerChoice,
  returnerNames,
} from './sessions.ts';
export { ReturnerWorker } from './worker.ts';
