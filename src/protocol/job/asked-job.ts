// A job as somebody asks the master for it: read once from the wire, authorised as a whole, published as it is.
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';

/**
 * Fields that travel to minions beside the known ones. Each edge reads some of these and nothing else, so that no field
 * of a caller can stand in for one that was authorised.
 */
export const passedFields = [
  'metadata',
  'ret_config',
  'ret_kwargs',
  'module_executors',
  'executor_opts',
  'start_event',
  'id',
  'master_id',
] as const;
export type PassedField = (typeof passedFields)[number];

/** Those that choose what runs on a minion beside the function: for users with full rights only. */
export const privilegedFields = [
  'ret_config',
  'ret_kwargs',
  'module_executors',
  'executor_opts',
  'id',
  'master_id',
] as const satisfies readonly PassedField[];

export interface AskedJob {
  readonly tgt: string | readonly string[];
  readonly tgt_type: string;
  /** Several functions come with a list of arguments for each. */
  readonly fun: string | readonly string[];
  readonly arg: readonly Value[];
  /** Names of returners, with commas between. */
  readonly ret?: string;
  readonly jid?: string;
  readonly delimiter?: string;
  /** Instead of those of the master's configuration. */
  readonly nodegroups?: Dict;
  /** Only `passedFields` count. */
  readonly extra?: PlainDict;
}
