// `master_tops`: states that external systems assign to a minion, queried when it applies its highstate.
import {
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
import { execProgram } from '../../engine/exec/exec.ts';
import { Loader } from '../../extend/loader/index.ts';
import { acceptGrains } from './minion-grains.ts';

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
    const minion = load['opts'];
    const grains = fieldOf(minion, 'grains');
    const known = isDict(grains) ? acceptGrains(grains).grains : newDict();
    for (const [name, settings] of dictEntries(wanted as Dict)) {
      const part = await this.#ask(String(name), settings, id, known);
      for (const [saltenv, names] of dictEntries(part)) found[String(saltenv)] = names;
    }
    return found;
  }

  async #ask(name: string, settings: Value, minionId: string, grains: Dict): Promise<Dict> {
    const { opts, log } = this.#parts;
    const signal = new AbortController().signal;
    this.#loader ??= new Loader({ opts: () => opts.raw, grains: newDict, log, userCode: 'import' });
    try {
      const source = await this.#loader.get('tops', name);
      if (!source) {
        log.limited(`tops:${name}`, 'error', 'master_tops names a source that does not exist', {
          source: name,
          why: this.#loader.reason('tops', name),
        });
        return newDict();
      }
      const context = { minionId, grains, opts: opts.raw, log, signal };
      return await source.extension.assign(settings, {
        ...context,
        exec: (file, args, options = {}) => execProgram(file, args, options, signal),
      });
    } catch (error) {
      log.error('Top function failed', { source: name, minion: minionId, error: messageOf(error) });
      return newDict();
    }
  }
}
