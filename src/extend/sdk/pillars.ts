// External pillars: sources of a minion's pillar other than files (`ext_pillar` in the master's configuration).
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import type { Availability } from './availability.ts';
import type { ExecOptions, ExecResult, ExtensionLog } from './exec.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';
import type { ArgsOf, Params } from './params.ts';
import type { RenderRequest } from './renderers.ts';

/** Which repository, at which reference. A fetched copy is also used while the remote is unreachable. */
export interface GitFolderRequest {
  readonly url: string;
  /** Tried in order: branches first, then tags, then commits. */
  readonly refs: readonly string[];
  /** Folder inside the repository. */
  readonly root?: string;
  /** Distinguishes two uses of one repository. */
  readonly name?: string;
  readonly updateSeconds: number;
  readonly refspecs?: readonly string[];
  readonly user?: string;
  readonly password?: string;
  readonly privkey?: string;
  readonly insecureAuth?: boolean;
  readonly sslVerify?: boolean;
}

/** The context of an external pillar. */
export interface PillarContext {
  /** The minion for which the pillar is compiled. */
  readonly minionId: string;
  readonly grains: Dict;
  /** The pillar so far: files and earlier sources (later sources take precedence). */
  readonly pillar: Dict;
  /** The master's options. */
  readonly opts: Readonly<Record<string, Value>>;
  readonly saltenv: string | undefined;
  readonly pillarenv: string | undefined;
  /** Values that the minion sent (`pass_to_ext_pillars`). */
  readonly extraMinionData: Dict;
  readonly log: ExtensionLog;
  readonly signal: AbortSignal | undefined;
  /** Shared by all compilations of one process: connections and fetched data. */
  readonly cache: Map<string, unknown>;
  /** Execution functions, on the master with the minion's grains. */
  call(fun: string, ...args: Value[]): Promise<Value>;
  callWith(fun: string, args: readonly Value[], kwargs: PlainDict): Promise<Value>;
  exec(file: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  /** Whether the minion matches a target expression of a kind (`compound`, `glob`, `grain`, …). */
  match(expression: string | readonly string[], kind: string): boolean;
  render(source: string, request?: RenderRequest): Promise<Value>;
  /** Decrypts texts inside a value with a renderer (`gpg`). */
  decrypt(value: Value, renderer: string): Promise<Value>;
  /** A text that is masked in logs and error messages from now on. */
  keepSecret(text: string): void;
  /** A branch, tag or commit of a git repository as a folder on this machine; undefined when there is no such reference. */
  gitFolder(request: GitFolderRequest): Promise<string | undefined>;
  /** Fetches a repository now: true when there was something new, null when not, false when it failed. */
  gitUpdate(request: GitFolderRequest): Promise<boolean | null>;
  /** Compiles other pillar folders by their top files, as `pillar_roots` are; errors are in `_errors`. */
  compileRoots(roots: Readonly<Record<string, readonly string[]>>, saltenv: string): Promise<Dict>;
}

export interface PillarSpec<P extends Params = Params> {
  readonly name: string;
  /** The name in `ext_pillar` when it differs from that of the file. */
  readonly virtualName?: string;
  readonly doc: string;
  /**
   * The allowed parameters below the name in `ext_pillar`: a map gives parameters by name, a list by position, a text
   * the first.
   */
  readonly params: P;
  /** true, or the reason why it is not usable. */
  readonly available?: (system: Availability) => true | string | Promise<true | string>;
  compile(args: ArgsOf<P>, ctx: PillarContext): Dict | null | Promise<Dict | null>;
  /** Updates the source's local copies: remote → true (something new), null (nothing new) or false (failed). */
  update?(args: ArgsOf<P>, ctx: PillarContext, wanted: PillarRemote): Promise<PlainDict>;
}

/** The remotes to update; all when neither is given. */
export interface PillarRemote {
  readonly branch?: string | undefined;
  /** URL or name. */
  readonly repo?: string | undefined;
}

/** An external pillar as seen by loaders. */
export interface Pillar {
  readonly kind: 'pillars';
  readonly name: string;
  readonly virtualName?: string;
  readonly doc: string;
  readonly params: Params;
  readonly available?: (system: Availability) => true | string | Promise<true | string>;
  compile(args: never, ctx: PillarContext): Dict | null | Promise<Dict | null>;
  update?(args: never, ctx: PillarContext, wanted: PillarRemote): Promise<PlainDict>;
}

const pillarKeys: KnownKeys<PillarSpec<Params>> = {
  ...{ name: true, virtualName: true, doc: true, params: true },
  ...{ available: true, compile: true, update: true },
};

export function definePillar<const P extends Params>(spec: PillarSpec<P>): Pillar {
  return { kind: 'pillars', ...withKnownKeys('definePillar()', spec, pillarKeys) };
}

/** For which minion, and with which data, the pillar is compiled. */
export interface PillarAsk {
  readonly minionId: string;
  readonly grains: Dict;
  readonly saltenv?: string | undefined;
  readonly pillarenv?: string | undefined;
  readonly override?: Value | undefined;
}

/** The pillar compiler as seen by runners. */
export interface PillarView {
  /** Whether `pillar_cache` is on. */
  readonly caching: boolean;
  /** Compiles again, ignoring the cache. */
  compile(ask: PillarAsk): Promise<Dict>;
  /** The merged top file, or a list of errors. */
  top(ask: PillarAsk): Promise<Value>;
  /** Value, file and line of a key. */
  explain(ask: PillarAsk, key: string, delimiter?: string): Promise<Value>;
  /** The cached pillar of a minion. */
  cached(minionId: string, pillarenv?: string): Promise<Dict | undefined>;
  forget(minionId: string): Promise<void>;
  /** Fetches the remotes of a kind of external pillar (`git`) now; the result of each, by its id. */
  update(source: string, wanted: PillarRemote): Promise<Dict>;
}
