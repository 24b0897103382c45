// The state engine as seen by the execution module `state`: compile, show and apply.
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';

/** Settings of one run; absent ones are taken from the minion's options. */
export interface StateRunRequest {
  /**
   * Options of this run that override those of the minion: `saltenv`, `pillarenv`, `test`, `state_events`, `state_top`,
   * …
   */
  readonly opts?: Readonly<Record<string, Value>>;
  /** Pillar that overrides the minion's own; text only with `pillarEnc`. */
  readonly pillar?: Value;
  /** The renderer that decrypts `pillar`. */
  readonly pillarEnc?: string;
  /** A file whose options override the minion's. */
  readonly localConfig?: string;
  /** Checks and orders everything, runs nothing. */
  readonly mock?: boolean;
  readonly orchestrationJid?: Value;
}

export interface ApplyOptions {
  /** SLS names, globs, or `{id: …}`/`{sls: …}`. */
  readonly exclude?: readonly Value[];
  /** Runs the high data of the last run instead of compiling. */
  readonly cache?: boolean;
  readonly cacheName?: string;
  /** Continues although the pillar has errors. */
  readonly force?: boolean;
  /** Only these SLS files of the top file. */
  readonly whitelist?: readonly string[];
}

/** The outcome of applying: results by tag, or the list of reasons why nothing was applied. */
export interface Applied {
  readonly return: Value;
  /** 0 success, 1 it did not compile, 2 a state failed. */
  readonly retcode: number;
}

/** Low chunks in the order in which they are run, or the problems of the states. */
export type CompiledStates =
  | { readonly kind: 'chunks'; readonly chunks: PlainDict[] }
  | { readonly kind: 'errors'; readonly errors: string[] };

/** Applies states; each method uses another source. */
export interface StateApply {
  highstate(options: ApplyOptions): Promise<Applied>;
  sls(mods: readonly string[], options: ApplyOptions): Promise<Applied>;
  /** One id of SLS files with its requisites; an empty dict when there is no such id. */
  slsId(id: string, mods: readonly string[]): Promise<Applied>;
  high(data: Dict): Promise<Applied>;
  /** One chunk, without requisites: the bare result, or a list of problems of the chunk. */
  low(data: PlainDict): Promise<Applied>;
  /** The same with the result under its tag. */
  single(low: PlainDict): Promise<Applied>;
  template(path: string, saltenv: string): Promise<Applied>;
  templateText(text: string): Promise<Applied>;
}

/** Shows what would be applied. */
export interface StateShow {
  /** Merged top data: environment → SLS names for this minion, or errors. */
  top(): Promise<Applied>;
  highstate(): Promise<Applied>;
  sls(mods: readonly string[]): Promise<Applied>;
  /** Low chunks as they would be run: of the named SLS files, or of everything that the top file assigns. */
  lowstate(mods?: readonly string[]): Promise<CompiledStates>;
  /** Low chunks of SLS files as written: nothing is extended or excluded. */
  lowSls(mods: readonly string[]): Promise<CompiledStates>;
  /** States and requisites as a graph; the SLS files named, or everything of the top file. */
  graph(mods: readonly string[] | undefined, format: 'dot' | 'svg'): Promise<Applied>;
  /** Which SLS files of the tree the top file assigns, and which not. */
  usage(): Promise<Applied>;
}

/** One use of the state engine. */
export interface StateRun {
  readonly opts: Readonly<Record<string, Value>>;
  readonly pillar: Dict;
  /** The errors of compiling the pillar; undefined when there were none. */
  readonly pillarErrors: readonly Value[] | undefined;
  readonly apply: StateApply;
  readonly show: StateShow;
}

export interface StateServices {
  open(request: StateRunRequest): Promise<StateRun>;
}
