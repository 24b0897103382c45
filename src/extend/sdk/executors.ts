// Executors: how the function of a job is run (`module_executors`). Each may run it, run something else, or pass it on.
import type { PlainDict, Value } from '../../base/codec/value.ts';
import type { Availability } from './availability.ts';
import type { ModuleContext } from './context.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';

export interface ExecutorCall {
  readonly fun: string;
  readonly args: readonly Value[];
  readonly kwargs: PlainDict;
  /** The job, with `executor_opts`. */
  readonly data: PlainDict;
  /** Calls the function. */
  run(): Promise<Value>;
}

export type ExecutorContext = ModuleContext;

export interface ExecutorSpec {
  readonly name: string;
  readonly doc: string;
  /** true, or the reason why it is not usable. */
  readonly available?: (system: Availability) => true | string | Promise<true | string>;
  /** The result of the job; undefined passes the call on to the next executor. */
  execute(call: ExecutorCall, ctx: ExecutorContext): Promise<Value | undefined>;
}

/** An executor as seen by the loader. */
export interface Executor extends ExecutorSpec {
  readonly kind: 'executors';
}

const executorKeys: KnownKeys<ExecutorSpec> = { name: true, doc: true, available: true, execute: true };

export const defineExecutor = (spec: ExecutorSpec): Executor => ({
  kind: 'executors',
  ...withKnownKeys('defineExecutor()', spec, executorKeys),
});
