// The input of a compilation, its dependencies, and its result.
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import type { Loader } from '../../extend/loader/index.ts';
import type { ExecOptions, ExecResult, ExtensionLog, GitFolderRequest } from '../../extend/sdk/index.ts';
import type { SaltFunctions } from '../render/index.ts';

/** The request for one minion's pillar. */
export interface PillarRequest {
  readonly minionId: string;
  readonly grains: Dict;
  readonly saltenv?: string | undefined;
  readonly pillarenv?: string | undefined;
  /** `pillar=` of a command; overrides everything compiled. */
  readonly override?: Value | undefined;
  /** An external pillar requested by the minion (`on_demand_ext_pillar`). */
  readonly ext?: Value | undefined;
  readonly extraMinionData?: Value | undefined;
}

/** The process in which a compilation runs. */
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
