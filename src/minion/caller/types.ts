// The request for a local call, and what is available while it runs.
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { Runtime } from '../../engine/exec/index.ts';
import type { ProcFiles } from '../jobs/proc-files.ts';
import type { RequestChannel } from '../link/request-channel.ts';

/** What answers the requests of a call: a master, or the salt-ssh that started it. */
export interface CallerSession {
  readonly channel: Pick<RequestChannel, 'request' | 'requestPrivate'>;
  close(): void;
}

export interface CallerOptions {
  readonly opts: MinionOpts;
  readonly log: Logger;
  /** No master is used. */
  readonly local: boolean;
  /** Used instead of signing in to a master. */
  readonly session?: CallerSession;
  readonly signal?: AbortSignal;
  /** Compiles the pillar without a master; empty when that is not possible. */
  readonly localPillar?: (grains: PlainDict) => Promise<Dict>;
}

export interface LocalCallRequest extends CallerOptions {
  readonly fun: string;
  /** Arguments as typed; a parameter declared as text keeps them. Used instead of `args` and `kwargs`. */
  readonly words?: readonly string[];
  readonly noParse?: readonly string[];
  readonly args?: readonly Value[];
  readonly kwargs?: PlainDict;
  readonly metadata?: Value;
  readonly progress?: (text: string) => void;
  /** `--no-return-event`: the result is not reported to the master. */
  readonly sendReturn?: boolean;
}

/** Everything that a local call needs; kept open for several uses (`--doc`, `--grains`, the call itself). */
export interface Caller {
  readonly runtime: Runtime;
  readonly grains: PlainDict;
  readonly session: CallerSession | undefined;
  readonly procFiles: ProcFiles;
  close(): void;
}
