// The dependencies of rendering: files, functions, data. They differ between a minion and a master.
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import type { Loader } from '../../extend/loader/index.ts';
import type { ExecOptions, ExecResult, ExtensionLog } from '../../extend/sdk/index.ts';

/** A file of a tree: its path on this machine and, if already read, its text. */
export interface SourceFile {
  readonly path: string;
  readonly text?: string;
}

/** The source of templates: the file client of a minion, or the folders themselves on a master. */
export interface FileSource {
  /** The file of a `salt://` URL; undefined when there is none. */
  cacheFile(url: string, saltenv: string): Promise<SourceFile | undefined>;
}

/** Execution functions as templates call them: `salt['mod.fun'](…)`. */
export interface SaltFunctions {
  /** Names of existing modules, whether they work here or not. */
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
  /** Identifies the run: templates of one run see what others of it changed in pillar and grains, as in Salt. */
  readonly run?: object;
  exec(file: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  /** Called with texts that were encrypted in their source. */
  keepSecret?(text: string): void;
}
