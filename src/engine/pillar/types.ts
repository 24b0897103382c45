// What a compilation starts from, what it needs, and what comes out.
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import type { Loader } from '../../extend/loader/index.ts';
import type { ExecOptions, ExecResult, ExtensionLog, GitFolderRequest } from '../../extend/sdk/index.ts';
import type { SaltFunctions } from '../render/index.ts';

/** One minion's pillar is asked for. */
export interface PillarRequest {
  readonly minionId: string;
  readonly grains: Dict;
  readonly saltenv?: string | undefined;
  readonly pillarenv?: string | undefined;
  /** `pillar=` of a command; wins over everything compiled. */
  readonly override?: Value | undefined;
  /** An external pillar asked for by the minion (`on_demand_ext_pillar`). */
  readonly ext?: Value | undefined;
  readonly extraMinionData?: Value | undefined;
}

/** The process a compilation runs in. */
export interface PillarHost {
  /** Finds renderers and external pillars. */
  readonly loader: Loader;
  readonly log: ExtensionLog;
  readonly signal?: AbortSignal | undefined;
  /** Shared by all compilations of the process. */
  readonly cache: Map<string, unknown>;
  exec(file: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  /** Execution functions for the templates of one compilation. */
  functions(opts: PlainDict, grains: Dict): SaltFunctions;
  /** A commit of a repository as a folder; undefined when the reference does not exist. */
  gitFolder(request: GitFolderRequest): Promise<string | undefined>;
  gitUpdate(request: GitFolderRequest): Promise<boolean | null>;
}

/** The pillar top file after merging: environment → target → `match` maps and SLS names. */
export type TopData = Map<Value, Map<Value, Value[]>>;
