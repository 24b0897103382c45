// What a local call is asked with, and what it has at hand while it runs.
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { Runtime } from '../../engine/exec/index.ts';
import type { ProcFiles } from '../jobs/proc-files.ts';
import type { MasterSession } from './master.ts';

export interface CallerOptions {
  readonly opts: MinionOpts;
  readonly log: Logger;
  /** No master is asked for anything. */
  readonly local: boolean;
  readonly signal?: AbortSignal;
  /** Compiles the pillar without a master; empty when nobody can. */
  readonly localPillar?: (grains: PlainDict) => Promise<Dict>;
}

export interface LocalCallRequest extends CallerOptions {
  readonly fun: string;
  /** Words as typed; a parameter declared as text keeps them. Used instead of `args` and `kwargs`. */
  readonly words?: readonly string[];
  readonly noParse?: readonly string[];
  readonly args?: readonly Value[];
  readonly kwargs?: PlainDict;
  readonly metadata?: Value;
  /** `--no-return-event`: the master is not told. */
  readonly sendReturn?: boolean;
}

/** Everything a local call needs; kept open for several questions (`--doc`, `--grains`, the call itself). */
export interface Caller {
  readonly runtime: Runtime;
  readonly grains: PlainDict;
  readonly session: MasterSession | undefined;
  readonly procFiles: ProcFiles;
  close(): void;
}
