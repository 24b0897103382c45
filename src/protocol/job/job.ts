// A job, from the command that requests it to the process that runs it: one type, to which each stage adds fields.
// requested (`AskedJob`) → published (`PublishedJob`) → running (`RunningJob`) → returned (`JobReturn`).
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';

/**
 * Fields that are sent to minions in addition to target, function and arguments. Each reader accepts some of these and
 * no others, so that no field of a caller can replace one that was authorized.
 */
export interface JobOptions {
  readonly metadata?: Value;
  /** Which profile of a returner's settings applies, and values that override some of them. */
  readonly ret_config?: string;
  readonly ret_kwargs?: Dict;
  readonly module_executors?: Value;
  readonly executor_opts?: Value;
  readonly start_event?: true;
  /** The minion that requested the job, if one did. */
  readonly id?: string;
  readonly master_id?: string;
}
export type JobOption = keyof JobOptions;

/** What is to run, and where: the same in every stage. */
export interface Job {
  /** Several functions have a list of arguments each. */
  readonly fun: string | readonly string[];
  readonly arg: readonly Value[];
  readonly tgt: string | readonly string[];
  readonly tgt_type: string;
  /** Names of returners, separated by commas. */
  readonly ret?: string;
  /** Separator of the parts of a path into grains or pillar; a colon when absent. */
  readonly delimiter?: string;
  readonly options?: JobOptions;
}

/** Options that name somebody else: only for root and the master's user. */
export const identityOptions = ['id', 'master_id'] as const satisfies readonly JobOption[];

/** Those, and options that determine what else runs on a minion: not for users with limited rights. */
export const privilegedOptions = [
  'ret_config',
  'ret_kwargs',
  'module_executors',
  'executor_opts',
  ...identityOptions,
] as const satisfies readonly JobOption[];

/** A job as requested from the master: parsed once, authorized as a whole, published unchanged. */
export interface AskedJob extends Job {
  readonly user: string;
  /** A jid chosen by the caller. */
  readonly jid?: string;
  /** Overrides the value of the master's configuration. */
  readonly nodegroups?: Dict;
  /** The only minions that it may reach, when the caller may not reach all: the job is then published to a list. */
  readonly only?: ReadonlySet<string>;
  /** Requested by a minion or a limited user: matching its target may cost less than for an operator. */
  readonly foreign?: boolean;
  /** Pillar values in its target are compared exactly: with patterns they could be guessed letter by letter. */
  readonly exactPillar?: boolean;
  readonly timeoutSeconds?: number;
  readonly gatherSeconds?: number;
  /** Only this many of the matched minions, chosen at random, connected ones first. */
  readonly subset?: number;
  /** No caller waits: track the job but do not ask minions about it. */
  readonly unwatched?: boolean;
  /** Hard limit: minions kill the job, and the wait ends. */
  readonly deadlineSeconds?: number;
  /** How long it is kept for minions that are not connected. */
  readonly durableSeconds?: number;
  /** What the user may run, as the master above says; sent on to lower masters. Empty for one with full rights. */
  readonly authList?: readonly Value[];
  /** Asked by a higher master: one that was published here before has come back in a circle. */
  readonly fromAbove?: true;
  /** Published by Halite itself. */
  readonly internal?: boolean;
  /** Moves minions to another master: also a master that is being retired publishes it. */
  readonly moves?: boolean;
}

/** A job with a jid: sent to minions, on a minion, or in the store. */
export interface PublishedJob extends Job {
  readonly jid: string;
  readonly user?: string;
  /** Seconds after which a Halite minion ends it. */
  readonly deadlineSeconds?: number;
  /**
   * Until when it is kept for minions that are not connected, in seconds since the epoch; a Halite minion runs it once.
   */
  readonly durableUntil?: number;
  /** The name of the schedule entry that started it. */
  readonly schedule?: string;
  /** Started by this minion itself and reported to the master afterwards: no master published it. */
  readonly startedBy?: string;
  /** The name of the master that published it, when this one only keeps results for that one. */
  readonly keptFor?: string;
  /** Other fields of the message: forwarded unchanged, and never in place of a field above. */
  readonly extra?: PlainDict;
}

/** A job that runs in a process of this machine. */
export interface RunningJob {
  readonly job: PublishedJob;
  readonly pid: number;
  /** When its process is killed, in milliseconds. */
  readonly deadlineAt?: number;
  /** Its fields in the form of Salt's proc files, as `saltutil.running` returns them. */
  readonly shown: PlainDict;
}

export const funName = (fun: string | readonly string[]): string => (typeof fun === 'string' ? fun : fun.join(','));

/** A target or a function as a message holds it. */
export const wireTexts = (value: string | readonly string[]): string | string[] =>
  typeof value === 'string' ? value : [...value];
