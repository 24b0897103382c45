// What a Halite master says to its minions beside their jobs: about its next key, and that they should use other masters.
import type { PlainDict, Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { masterKeyLoad, readMasterWord } from '../../protocol/wire/messages/master-key.ts';
import type { Credentials } from './auth-reply.ts';
import type { RequestOptions } from './request-channel.ts';
import type { MasterTrust } from './trust.ts';

export interface MasterWordParts {
  readonly trust: Pick<MasterTrust, 'known' | 'learn'>;
  readonly log: Pick<Logger, 'debug' | 'info' | 'limited'>;
  /** Of a question that is no heartbeat. */
  readonly timeoutMs: number;
  credentials(): Pick<Credentials, 'asksForKey'> | undefined;
  request(load: PlainDict, options: RequestOptions): Promise<Value>;
}

export class MasterWords {
  readonly #parts: MasterWordParts;
  #drained = false;

  constructor(parts: MasterWordParts) {
    this.#parts = parts;
  }

  /** It is to be stopped: others should be used, where there are any. */
  get drained(): boolean {
    return this.#drained;
  }

  /** It is another process now. */
  forget(): void {
    this.#drained = false;
  }

  /** False: this master has nothing to say. */
  async hear(options: RequestOptions): Promise<boolean> {
    const { trust, log } = this.#parts;
    if (!this.#parts.credentials()?.asksForKey) return false;
    if (await trust.learn(await this.#ask(options), log)) await this.#ask(options);
    return true;
  }

  async hearNow(): Promise<void> {
    const { log, timeoutMs } = this.#parts;
    await this.hear({ timeoutMs }).catch((error: unknown) =>
      log.debug('the master was not told which of its keys is known', { error: messageOf(error) }),
    );
  }

  async #ask(options: RequestOptions): Promise<Value> {
    const { trust, log } = this.#parts;
    const { nextKey, drained } = readMasterWord(await this.#parts.request(masterKeyLoad(trust.known), options));
    if (drained !== this.#drained)
      log.info(drained ? 'the master is to be stopped: others are preferred' : 'the master is used as before');
    this.#drained = drained;
    return nextKey;
  }
}
