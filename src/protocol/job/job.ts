// A job, from the command that asks for it to the process that runs it: one shape, with what each stage adds.
// asked (`AskedJob`) → published (`PublishedJob`) → running (`RunningJob`) → returned (`JobReturn`).
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';

/**
 * Fields that travel to minions beside target, function and arguments. Each edge reads some of these and no others, so
 * that no field of a caller can stand in for one that was authorised.
 */
export interface JobOptions {
  readonly metadata?: Value;
  /** Which settings of a returner count, and values in place of some of them. */
  readonly ret_config?: string;
  readonly ret_kwargs?: Dict;
  readonly module_executors?: Value;
  readonly executor_opts?: Value;
  readonly start_event?: true;
  /** Who asked, when a minion did. */
  readonly id?: string;
  readonly master_id?: string;
}
export type JobOption = keyof JobOptions;

/** What is to run, and where: the same in every stage. */
export interface Job {
  /** Several functions come with a list of arguments for each. */
  readonly fun: string | readonly string[];
  readonly arg: readonly Value[];
  readonly tgt: string | readonly string[];
  readonly tgt_type: string;
  /** Names of returners, with commas between. */
  readonly ret?: string;
  /** Between the parts of a path into grains or pillar; a colon when absent. */
  readonly delimiter?: string;
  readonly options?: JobOptions;
}

/** A job that has its number: on its way to minions, on a minion, in the store. */
export interface PublishedJob extends Job {
  readonly jid: string;
  readonly user?: string;
  /** Seconds after which a Halite minion ends it. */
  readonly deadlineSeconds?: number;
  /** Until when it is kept for minions that are away, in seconds since the epoch; a Halite minion runs it once. */
  readonly durableUntil?: number;
  /** Its name in the schedule that started it. */
  readonly schedule?: string;
  /** Started by this minion itself and told to the master afterwards: no master published it. */
  readonly startedBy?: string;
  /** What else came with it: passed on as it is, and never in place of a field above. */
  readonly extra?: PlainDict;
}

/** A job that a process of this machine works on. */
export interface RunningJob {
  readonly job: PublishedJob;
  readonly pid: number;
  /** When its process is ended, in milliseconds. */
  readonly deadlineAt?: number;
  /** Its fields in the form of Salt's proc files, as `saltutil.running` shows them. */
  readonly shown: PlainDict;
}

export const funName = (fun: string | readonly string[]): string => (typeof fun === 'string' ? fun : fun.join(','));
