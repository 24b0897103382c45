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

/** Options that choose what runs on a minion beside the function: for users with full rights only. */
export const privilegedOptions = [
  'ret_config',
  'ret_kwargs',
  'module_executors',
  'executor_opts',
  'id',
  'master_id',
] as const satisfies readonly JobOption[];

/** A job as somebody asks the master for it: read once at an edge, authorised as a whole, published as it is. */
export interface AskedJob extends Job {
  readonly user: string;
  /** A number of the caller's own. */
  readonly jid?: string;
  /** Instead of those of the master's configuration. */
  readonly nodegroups?: Dict;
  /** The only minions it may reach, when the caller may not reach all: the job then names its minions. */
  readonly only?: ReadonlySet<string>;
  /** Asked by a minion or a limited user: finding its target may cost less than for an operator. */
  readonly foreign?: boolean;
  readonly timeoutSeconds?: number;
  readonly gatherSeconds?: number;
  /** Only this many of the matched, chosen at random, connected ones first. */
  readonly subset?: number;
  /** Nobody waits: follow the job but do not ask minions about it. */
  readonly unwatched?: boolean;
  /** Hard end: minions kill the job, the wait ends. */
  readonly deadlineSeconds?: number;
  /** Kept this long for minions that are away. */
  readonly durableSeconds?: number;
  /** Sent by Halite itself. */
  readonly internal?: boolean;
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
