// The interface of the master for state runs on the master: publish jobs, call master functions, wait for events.
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import type { JobOutcome, JobRequest } from './job-request.ts';

/** The result of a runner or wheel function that ran as its own job. */
export interface MasterFunctionReport {
  readonly jid: string;
  readonly return: Value;
  readonly success: boolean;
  readonly retcode: number;
}

export interface MasterFunctionCall {
  readonly kind: 'runners' | 'wheel';
  readonly fun: string;
  readonly args: readonly Value[];
  readonly kwargs: PlainDict;
  /** Passed to functions that have a parameter `saltenv`. */
  readonly saltenv?: string;
  /** The orchestration it belongs to; nested orchestrations use its jid. */
  readonly orchestrationJid?: Value;
}

export interface EventWait {
  /** A glob for the tag. */
  readonly tag: string;
  /** The key in the event's data (or in its `data`) that has one of `values`, or a list of them. */
  readonly field: string;
  readonly values: readonly Value[];
  readonly timeoutSeconds: number;
}

export interface OrchestrationServices {
  /** Publishes a job and waits until every minion has a verdict. Throws `target.empty` when no minion matches. */
  runJob(job: JobRequest): Promise<JobOutcome>;
  /** Throws `call.unknown` for a function that does not exist; every other failure is in the report. */
  callFunction(call: MasterFunctionCall): Promise<MasterFunctionReport>;
  /** Fires an event on the master's bus. */
  fireEvent(tag: string, data: Dict): Promise<void>;
  /** Waits until every value was seen, or until the timeout; returns those that were seen, in order. */
  waitForEvents(wait: EventWait): Promise<Value[]>;
}

/** The outcome of an execution function that ran on the master itself. */
export interface OwnCallOutcome {
  readonly return: Value;
  readonly retcode: number;
  readonly success: boolean;
}

export interface OwnCallOptions {
  /** The jid that the function sees; default: a new one. */
  readonly jid?: string | undefined;
  /** The user who requested it. */
  readonly user?: string | undefined;
  /** Uses the master's own pillar, compiled now. */
  readonly withPillar?: boolean;
  readonly signal: AbortSignal;
  progress(text: string): void;
  /** Lines that belong to the output, such as that a step matched no minion. */
  print?(text: string): void;
}
