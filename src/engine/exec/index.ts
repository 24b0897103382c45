// Running functions: arguments, outcomes, job processes, programs.
export { bindArguments } from './bind.ts';
export { callFunction, executeJob } from './call.ts';
export { collectGrains } from './collect-grains.ts';
export { ArgumentError } from './errors.ts';
export { execProgram } from './exec.ts';
export { usesExecutors } from './executors.ts';
export { splitArguments } from './job-arguments.ts';
export { packShared } from './job-messages.ts';
export { JobPool } from './job-pool.ts';
export type { WorkerData } from './job-worker.ts';
export { matchesMinion } from './match.ts';
export {
  failed,
  finished,
  isCommandNotFound,
  isHaliteError,
  isPythonTypeError,
  type Outcome,
} from './outcome.ts';
export { isAlive, killTree, signalTree } from './process-tree.ts';
export { proxyServices } from './proxy-services.ts';
export { jobReturn } from './return-load.ts';
export {
  type ReturnerChoice,
  type ReturnerProblem,
  ReturnerSessions,
  ReturnerWorker,
  returnerChoice,
} from './returners/index.ts';
export { createContext, type JobState, type Runtime, runFound } from './runtime.ts';
export { writeSpoolFile } from './spool-file.ts';
export { pythonTraceback } from './traceback.ts';
