// The SLS names of each environment, read on first use.
import { compareText } from '../../../base/codec/json/compare-text.ts';
import { globMatcher, hasGlob } from '../../../base/util/index.ts';
import { type StateFiles, slsNamesOf } from '../sources.ts';

export class AvailableStates {
  readonly #files: StateFiles;
  readonly #envs: () => Promise<readonly string[]>;
  readonly #lists = new Map<string, Promise<ReadonlySet<string>>>();

  /** `envs` are the environments of this minion, in order. */
  constructor(files: StateFiles, envs: () => Promise<readonly string[]>) {
    this.#files = files;
    this.#envs = envs;
  }

  async has(saltenv: string): Promise<boolean> {
    return saltenv === 'base' || (await this.#envs()).includes(saltenv);
  }

  /** The names in an environment that fit a glob, sorted. */
  async matching(saltenv: string, pattern: string): Promise<string[]> {
    const names = await this.names(saltenv);
    if (!hasGlob(pattern)) return names.has(pattern) ? [pattern] : [];
    const fits = globMatcher(pattern);
    return [...names].filter((name) => fits(name));
  }

  names(saltenv: string): Promise<ReadonlySet<string>> {
    let list = this.#lists.get(saltenv);
    if (!list) {
      list = this.#files.fileList(saltenv).then((paths) => new Set(slsNamesOf(paths).sort(compareText)));
      this.#lists.set(saltenv, list);
    }
    return list;
  }

  /** Every environment with its names. */
  async all(): Promise<[string, ReadonlySet<string>][]> {
    const envs = new Set(['base', ...(await this.#envs())]);
    return Promise.all(
      [...envs].map(async (saltenv) => [saltenv, await this.names(saltenv)] as [string, ReadonlySet<string>]),
    );
  }
}
