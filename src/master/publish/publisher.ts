// Encrypts, signs and sends publishes strictly in order.
import { pack } from '../../base/codec/msgpack/index.ts';
import type { SigAlgo } from '../../base/crypto/index.ts';
import type { PublishedJob } from '../../protocol/job/job.ts';
import { jobFields } from '../../protocol/wire/messages/job.ts';
import { publishEnvelopeValue } from '../../protocol/wire/messages/publish.ts';
import type { PublishServer } from '../../protocol/wire/transport.ts';
import { signAsync } from '../sign-in/rsa.ts';
import type { Secrets } from '../sign-in/secrets.ts';

export class Publisher {
  readonly #secrets: Secrets;
  readonly #algorithm: SigAlgo;
  readonly #servers: PublishServer[] = [];
  #tail: Promise<void> = Promise.resolve();

  constructor(secrets: Secrets, algorithm: SigAlgo) {
    this.#secrets = secrets;
    this.#algorithm = algorithm;
  }

  attach(server: PublishServer): void {
    this.#servers.push(server);
  }

  /**
   * Sends one job. Serial numbers are assigned here, in sending order, because a minion drops a publish that is not
   * newer than the last it received; signatures are computed in parallel and awaited in order.
   */
  send(job: PublishedJob, ids?: readonly string[]): Promise<void> {
    const fields = jobFields(job);
    fields['serial'] = this.#secrets.nextSerial();
    const load = this.#secrets.aes.seal(fields);
    // Always signed, independent of `sign_pub_messages`: every accepted minion has the AES key and could forge jobs.
    const signature = signAsync(this.#secrets.pair.privateKey, load, this.#algorithm);
    const sent = this.#tail.then(async () => {
      const payload = pack(publishEnvelopeValue({ load, sig: await signature, sig_algo: this.#algorithm }));
      for (const server of this.#servers) server.publish(payload, ids);
    });
    // A failure is reported to its sender; the next publish is sent in any case.
    this.#tail = sent.catch(() => {});
    return sent;
  }
}
