// What rendering needs from the process it runs in: files, functions, data. On a minion and on a master they differ.
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import type { Loader } from '../../extend/loader/index.ts';
import type { ExecOptions, ExecResult, ExtensionLog } from '../../extend/sdk/index.ts';

/** A file of a tree: where it lies on this machine and, when the source has it at hand, its text. */
export interface SourceFile {
  readonly path: string;
  readonly text?: string;
}

/** Where templates come from: the file client of a minion, or the folders themselves on a master. */
export interface FileSource {
  /** The file behind a `salt://` address; undefined when there is none. */
  cacheFile(url: string, saltenv: string): Promise<SourceFile | undefined>;
}

/** Execution functions as templates call them: `salt['mod.fun'](…)`. */
export interface SaltFunctions {
  /** Names of modules there are, whether they work here or not. */
  modules(): Promise<ReadonlySet<string>>;
  has(fun: string): Promise<boolean>;
  call(fun: string, args: readonly Value[], kwargs: PlainDict): Promise<Value>;
}

export interface RenderHost {
  readonly loader: Loader;
  readonly log: ExtensionLog;
  readonly files: FileSource;
  readonly functions: SaltFunctions;
  readonly opts: Readonly<Record<string, Value>>;
  readonly grains: Dict;
  readonly pillar: Dict;
  readonly signal?: AbortSignal | undefined;
  /** Stands for the run: templates of one run see what others of it changed in pillar and grains, as in Salt. */
  readonly run?: object;
  exec(file: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  /** Told about texts that were encrypted in their source. */
  keepSecret?(text: string): void;
}
