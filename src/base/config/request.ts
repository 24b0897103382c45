// Requests to the loaders, and their results.
import type { PlainDict, Value } from '../codec/value.ts';
import type { HostFacts } from './host-names.ts';
import type { ConfigCopy } from './include.ts';
import type { Environment } from './load-files.ts';
import type { ConfigProblem } from './problems.ts';
import type { Saltfile } from './saltfile.ts';

export interface LoadRequest {
  /** Folder given with `-c`. */
  readonly configDir?: string;
  /** Main file, when it is not `<configDir>/master` or `minion`. */
  readonly configFile?: string;
  /** Values that count as if the last file had set them; for example, `root_dir` moves paths. */
  readonly overrides?: Readonly<Record<string, Value>>;
  /** Values of the command line, applied unchanged at the end. */
  readonly cli?: Readonly<Record<string, Value>>;
  /** Environment variables; default those of the process. */
  readonly env?: Environment;
  /** The Saltfile section of this command; its `config_dir` is used when no folder is given. */
  readonly saltfile?: Saltfile;
  /** The files are a copy of those of another machine: nothing outside the copy is read. */
  readonly copy?: ConfigCopy;
  /** For tests: facts about the machine. */
  readonly facts?: HostFacts;
}

export interface LoadedConfig<O> {
  readonly opts: O;
  /** Files that were read, in order. */
  readonly sources: readonly string[];
  /** Problems, for the log. */
  readonly problems: readonly ConfigProblem[];
  /** Steps that were done, for the debug log. */
  readonly notes: readonly string[];
  /** The values that the files set, before defaults. */
  readonly given: PlainDict;
  /** Options whose value is a reference to a secret store (`sdb://…`) and still has to be looked up. */
  readonly deferred: readonly string[];
}
