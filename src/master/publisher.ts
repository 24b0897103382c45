// Job path 4/9 · from master/publish.ts · to the minions: seals, signs and sends publishes strictly in order.
import { pack } from '../base/codec/msgpack/index.ts';
import type { PlainDict } from '../base/codec/value.ts';
import type { SigAlgo } from '../base/crypto/index.ts';
import type { PublishServer } from '../protocol/wire/transport.ts';
import { signAsync } from './rsa.ts';
import type { Secrets } from './secrets.ts';

export interface PublisherOptions {
  readonly sign: boolean;
  readonly algorithm: SigAlgo;
}

export class Publisher {
  readonly #secrets: Secrets;
  readonly #options: PublisherOptions;
  readonly #servers: PublishServer[] = [];
  #tail: Promise<void> = Promise.resolve();

  constructor(secrets: Secrets, options: PublisherOptions) {
    this.#secrets = secrets;
    this.#options = options;
  }

  attach(server: PublishServer): void {
    this.#servers.push(server);
  }

  /**
   * Sends one job. Serial numbers are taken here, in sending order, because a minion drops what is not newer than the
   * last it saw; signatures are computed in parallel and awaited in turn.
   */
  send(job: PlainDict, ids?: readonly string[]): Promise<void> {
    const load = this.#secrets.aes.seal({ ...job, serial: this.#secrets.nextSerial() });
    const { sign, algorithm } = this.#options;
    const signature = sign ? signAsync(this.#secrets.pair.privateKey, load, algorithm) : Promise.resolve(undefined);
    this.#tail = this.#tail.then(async () => {
      const sig = await signature;
      const envelope: PlainDict = sig ? { enc: 'aes', load, sig_algo: algorithm, sig } : { enc: 'aes', load };
      const payload = pack(envelope);
      for (const server of this.#servers) server.publish(payload, ids);
    });
    return this.#tail;
  }
}
