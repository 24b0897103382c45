// The master as a state run on the master sees it: publish jobs, call master functions, watch events.
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import type { JobOutcome, JobRequest } from './job-request.ts';

/** What came of a runner or wheel function that ran as a job of its own. */
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
  /** Given to functions that take `saltenv`. */
  readonly saltenv?: string;
  /** The orchestration it belongs to; nested orchestrations go on under it. */
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
  /** Publishes a job and waits until every minion has its verdict. Throws `target.empty` when nobody matches. */
  runJob(job: JobRequest): Promise<JobOutcome>;
  /** Throws `call.unknown` for a function that is not there; every other failure is in the report. */
  callFunction(call: MasterFunctionCall): Promise<MasterFunctionReport>;
  /** Fires an event on the master's bus. */
  fireEvent(tag: string, data: Dict): Promise<void>;
  /** Waits until every value was seen, or time is over; gives those that were seen, in order. */
  waitForEvents(wait: EventWait): Promise<Value[]>;
}

/** How an execution function went that ran on the master itself. */
export interface OwnCallOutcome {
  readonly return: Value;
  readonly retcode: number;
  readonly success: boolean;
}

export interface OwnCallOptions {
  /** The job id the function sees; a new one unless given. */
  readonly jid?: string | undefined;
  /** Who asked for it. */
  readonly user?: string | undefined;
  /** With the master's pillar in memory, compiled now. */
  readonly withPillar?: boolean;
  readonly signal: AbortSignal;
  progress(text: string): void;
  /** Lines that belong to the output, such as that a step matched nobody. */
  print?(text: string): void;
}
