// A minion without a master (`master_type: disable`): what its scheduled jobs use instead of a link.

import type { PlainDict } from '../base/codec/value.ts';
import { type Dict, newDict, type Value } from '../base/codec/value.ts';
import type { MinionOpts } from '../base/config/index.ts';
import { HaliteError, messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import type { JobLink } from './link/master-link.ts';
import { type PillarRequest, reportPillarErrors } from './services/pillar.ts';

export const aloneName = 'local';

export class MasterlessLink implements JobLink {
  readonly name = aloneName;
  readonly ready = false;
  readonly state = 'connected';
  readonly credentials = undefined;
  pillar: Dict = newDict();
  readonly #opts: MinionOpts;
  readonly #log: Logger;
  readonly #grains: () => Promise<PlainDict>;
  readonly #changed: () => void;

  constructor(opts: MinionOpts, log: Logger, grains: () => Promise<PlainDict>, changed: () => void) {
    this.#opts = opts;
    this.#log = log;
    this.#grains = grains;
    this.#changed = changed;
  }

  async fire(): Promise<boolean> {
    return false;
  }

  async fireAll(): Promise<boolean> {
    return false;
  }

  async request(): Promise<Value> {
    throw new HaliteError('daemon.unreachable', 'This minion has no master: master_type is disable');
  }

  /** From the minion's own folders. */
  async compilePillar(request: PillarRequest): Promise<Dict> {
    const { compilePillarLocally } = await import('../engine/pillar/local.ts');
    const signal = new AbortController().signal;
    return compilePillarLocally(this.#opts.raw, await this.#grains(), { log: this.#log, signal, ...request });
  }

  async loadPillar(): Promise<boolean> {
    try {
      this.pillar = await this.compilePillar({});
      reportPillarErrors(this.pillar, this.#log);
      this.#changed();
      return true;
    } catch (error) {
      this.#log.error('The pillar could not be compiled', { error: messageOf(error) });
      return false;
    }
  }
}
