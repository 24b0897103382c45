// A job that an extension of the master publishes, and its result.
import type { PlainDict, Value } from '../../base/codec/value.ts';

export interface JobRequest {
  readonly tgt: string | readonly string[];
  readonly tgt_type: string;
  readonly fun: string | readonly string[];
  readonly arg: readonly Value[];
  readonly kwargs?: PlainDict;
  readonly timeoutSeconds?: number;
  readonly user?: string;
  /** Returners, separated by commas. */
  readonly ret?: string;
  /** Other fields of the job for minions: `ret_config`, `ret_kwargs`, … */
  readonly extra?: PlainDict;
  /** Maximum number of minions at the same time: a number, or a percentage. */
  readonly batch?: string;
  /** With `batch`: no further minions after the first failure. */
  readonly failhard?: boolean;
  /** Only this many of the matched minions, chosen at random. */
  readonly subset?: number;
  /** Moves minions to another master: also a master that is being retired publishes it. */
  readonly moves?: boolean;
}

export interface JobOutcome {
  readonly jid: string;
  readonly minions: readonly string[];
  /** Only minions that answered. */
  readonly returns: Readonly<Record<string, { ret: Value; retcode: number; success: boolean; out?: string }>>;
  readonly missing: Readonly<Record<string, string>>;
}
