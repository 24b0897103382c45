// Encrypts, signs and sends publishes strictly in order.
import { setTimeout as sleep } from 'node:timers/promises';
import { pack } from '../../base/codec/msgpack/index.ts';
import type { SigAlgo } from '../../base/crypto/index.ts';
import type { PublishedJob } from '../../protocol/job/job.ts';
import { jobFields } from '../../protocol/wire/messages/job.ts';
import { publishEnvelopeValue } from '../../protocol/wire/messages/publish.ts';
import type { Audience, PublishServer } from '../../protocol/wire/transport.ts';
import type { MasterKeyPair } from '../sign-in/master-keys.ts';
import { signAsync } from '../sign-in/rsa.ts';
import type { Secrets } from '../sign-in/secrets.ts';

export interface Audiences {
  readonly current?: Audience;
  readonly former?: Audience | 'nobody';
}

export class Publisher {
  readonly #secrets: Pick<Secrets, 'aes' | 'ring'>;
  readonly #algorithm: SigAlgo;
  readonly #servers: PublishServer[] = [];
  #tail: Promise<void> = Promise.resolve();
  #audiences: () => Audiences = () => ({});

  constructor(secrets: Pick<Secrets, 'aes' | 'ring'>, algorithm: SigAlgo) {
    this.#secrets = secrets;
    this.#algorithm = algorithm;
  }

  /** Who gets which form while there are two. */
  divide(audiences: () => Audiences): void {
    this.#audiences = audiences;
  }

  attach(server: PublishServer): void {
    this.#servers.push(server);
  }

  /**
   * Sends one job. Serial numbers are assigned here, in sending order, because a minion drops a publish that is not
   * newer than the last it received; signatures are computed in parallel and awaited in order. In a cluster the place
   * of the publication is the `serial`: a minion may then get the next one from another master. `afterMs`: sealed now, in
   * order with changes of the key, and sent so much later.
   */
  async send(
    job: PublishedJob,
    ids?: readonly string[],
    serial: number = this.#secrets.aes.nextSerial(),
    afterMs = 0,
  ): Promise<void> {
    const fields = jobFields(job);
    fields['serial'] = serial;
    const load = this.#secrets.aes.crypticle.seal(fields);
    // Always signed, independent of `sign_pub_messages`: every accepted minion has the AES key and could forge jobs.
    const { current, former } = this.#secrets.ring;
    const form = async ({ privateKey }: MasterKeyPair): Promise<Uint8Array> =>
      pack(
        publishEnvelopeValue({
          load,
          sig: await signAsync(privateKey, load, this.#algorithm),
          sig_algo: this.#algorithm,
        }),
      );
    // The same message for those that trust the key before: what arrives twice has one serial and one jid.
    const forms = Promise.all([form(current), former && form(former)]);
    const due = afterMs > 0 ? sleep(afterMs, undefined, { ref: false }) : undefined;
    const sent = this.#tail.then(async () => {
      const [payload, before] = await forms;
      await due;
      const to = before ? this.#audiences() : undefined;
      for (const server of this.#servers) {
        server.publish(payload, ids, to?.current);
        if (before && to?.former !== 'nobody') server.publish(before, ids, to?.former);
      }
    });
    // A failure is reported to its sender; the next publish is sent in any case.
    this.#tail = sent.catch(() => {});
    return sent;
  }
}
