// What the loaders are asked, and what they answer.
import type { PlainDict, Value } from '../codec/value.ts';
import type { HostFacts } from './host-names.ts';
import type { Environment } from './load-files.ts';
import type { ConfigProblem } from './problems.ts';
import type { Saltfile } from './saltfile.ts';

export interface LoadRequest {
  /** Folder given with `-c`. */
  readonly configDir?: string;
  /** Main file, when it is not `<configDir>/master` or `minion`. */
  readonly configFile?: string;
  /** Values that count as if the last file had set them: `root_dir` moves paths, and so on. */
  readonly overrides?: Readonly<Record<string, Value>>;
  /** Values of the command line, put in at the end as they are. */
  readonly cli?: Readonly<Record<string, Value>>;
  /** Environment variables; default those of the process. */
  readonly env?: Environment;
  /** The Saltfile section of this command; its `config_dir` counts when no folder is given. */
  readonly saltfile?: Saltfile;
  /** For tests: what the machine says about itself. */
  readonly facts?: HostFacts;
}

export interface LoadedConfig<O> {
  readonly opts: O;
  /** Files that were read, in order. */
  readonly sources: readonly string[];
  /** What is wrong, for the log. */
  readonly problems: readonly ConfigProblem[];
  /** What was done, for the debug log. */
  readonly notes: readonly string[];
  /** What the files set, before defaults. */
  readonly given: PlainDict;
  /** Options whose value is a link to a secret store (`sdb://…`), still to be looked up. */
  readonly deferred: readonly string[];
}
