// `master_tops`: states that external systems assign to a minion, queried when it applies its highstate.
import {
  asDict,
  type Dict,
  dictEntries,
  fieldOf,
  isDict,
  newDict,
  type PlainDict,
  type Value,
} from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { Loader, sdkUrl } from '../../extend/loader/index.ts';
import type { TopsContext } from '../../extend/sdk/index.ts';
import { acceptGrains } from '../../protocol/wire/messages/minion-grains.ts';
import { execProgram } from '../exec/exec.ts';
import { providePython } from '../python/index.ts';

const pythonIdleMs = 30_000;

export interface TopsParts {
  readonly opts: { readonly raw: PlainDict };
  readonly log: Logger;
}

export class MasterTops {
  readonly #parts: TopsParts;
  #loader: Loader | undefined;

  constructor(parts: TopsParts) {
    this.#parts = parts;
  }

  /** Environment → state files; a source that fails is skipped and logged, as in Salt. */
  async of(id: string, load: PlainDict): Promise<PlainDict> {
    const wanted = this.#parts.opts.raw['master_tops'];
    const found = newDict();
    if (!isDict(wanted ?? null)) return found;
    const minion = asDict(load['opts']) ?? newDict();
    const grains = fieldOf(minion, 'grains');
    const known = isDict(grains) ? acceptGrains(grains).grains : newDict();
    for (const [name, settings] of dictEntries(wanted as Dict)) {
      const part = await this.#ask(String(name), settings, { minionId: id, grains: known, minionOpts: minion });
      for (const [saltenv, names] of dictEntries(part)) found[String(saltenv)] = names;
    }
    return found;
  }

  async #ask(
    name: string,
    settings: Value,
    minion: Pick<TopsContext, 'minionId' | 'grains' | 'minionOpts'>,
  ): Promise<Dict> {
    const { opts, log } = this.#parts;
    const signal = new AbortController().signal;
    this.#loader ??= this.#newLoader();
    try {
      const source = await this.#loader.get('tops', name);
      if (!source) {
        log.limited(`tops:${name}`, 'error', 'master_tops names a source that does not exist', {
          source: name,
          why: this.#loader.reason('tops', name),
        });
        return newDict();
      }
      const context = { ...minion, opts: opts.raw, log, signal };
      return await source.extension.assign(settings, {
        ...context,
        exec: (file, args, options = {}) => execProgram(file, args, options, signal),
      });
    } catch (error) {
      log.error('Top function failed', { source: name, minion: minion.minionId, error: messageOf(error) });
      return newDict();
    }
  }

  #newLoader(): Loader {
    const { opts, log } = this.#parts;
    const sdk = sdkUrl();
    return new Loader({
      ...{ opts: () => opts.raw, grains: newDict, log, userCode: 'import' },
      python: providePython({ opts: () => opts.raw, log, workers: 'shared', idleMs: pythonIdleMs }).source,
      ...(sdk ? { sdkUrl: sdk } : {}),
    });
  }
}
