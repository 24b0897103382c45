// Running functions: arguments, outcomes, job processes, programs.
export { type BoundArguments, bindArguments } from './bind.ts';
export { callFunction, executeJob } from './call.ts';
export { collectGrains } from './collect-grains.ts';
export { ArgumentError, CommandNotFoundError } from './errors.ts';
export { type ExecWatcher, execProgram } from './exec.ts';
export { splitArguments } from './job-arguments.ts';
export { packShared, type SharedData } from './job-messages.ts';
export { JobPool, type JobPoolOptions, type PoolJob } from './job-pool.ts';
export type { Assignment, WorkerData } from './job-worker.ts';
export { matchesMinion } from './match.ts';
export {
  failed,
  finished,
  isCommandNotFound,
  isHaliteError,
  isPythonTypeError,
  type Outcome,
  thrownOutcome,
} from './outcome.ts';
export { isAlive, killTree, signalTree, treeOf } from './process-tree.ts';
export { jobReturn } from './return-load.ts';
export {
  jobOptions,
  type OpenReturner,
  openReturner,
  type ReturnerChoice,
  type ReturnerProblem,
  ReturnerSessions,
  ReturnerWorker,
  returnerChoice,
  returnerNames,
} from './returners/index.ts';
export { createContext, type JobState, type Runtime, runFound } from './runtime.ts';
export { writeSpoolFile } from './spool-file.ts';
export { textForm } from './text-form.ts';
export { pythonTraceback } from './traceback.ts';
