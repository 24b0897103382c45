// Decrypts a publish and decides whether it is for this minion.
import { unpack } from '../../base/codec/msgpack/index.ts';
import type { Dict } from '../../base/codec/value.ts';
import { defaultSigAlgo, isSigAlgo, verifyPkcs1 } from '../../base/crypto/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { PublishedJob } from '../../protocol/job/job.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { readPublishedJob } from '../../protocol/wire/messages/job.ts';
import { type PublishEnvelope, readPublishEnvelope } from '../../protocol/wire/messages/publish.ts';
import type { RecentJobs } from '../jobs/recent-jobs.ts';
import type { Credentials } from './auth-reply.ts';

/** What a receiver needs from its link. */
export interface ReceiverOptions {
  readonly log: Logger;
  /** `sign_pub_messages`: unsigned jobs are refused. */
  readonly requireSignature: boolean;
  readonly credentials: () => Credentials | undefined;
  readonly renew: (stale: Credentials) => Promise<Credentials>;
  readonly recent: RecentJobs;
  readonly isTarget: (job: PublishedJob) => Promise<boolean>;
  readonly accept: (job: PublishedJob) => void;
}

/** Why a publish was dropped; only for logs and tests. */
export type Dropped = 'malformed' | 'unsigned' | 'forged' | 'undecryptable' | 'replayed' | 'repeated' | 'not-targeted';

/** After a message that even new keys do not decrypt, similar ones do not cause another sign-in for a while. */
const quietMs = 5000;

export class Receiver {
  readonly #options: ReceiverOptions;
  readonly #signed = new WeakSet<Credentials>();
  #quietUntil = 0;

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  /** Handles one publish. Never throws; returns the reason when it is dropped. */
  async receive(payload: Uint8Array): Promise<Dropped | 'accepted'> {
    try {
      return await this.#process(payload);
    } catch (error) {
      return this.#drop('malformed', messageOf(error));
    }
  }

  async #process(payload: Uint8Array): Promise<Dropped | 'accepted'> {
    const envelope = readPublishEnvelope(unpack(payload, envelopeLimits));
    if (isProblem(envelope)) return this.#drop('malformed', envelope.problem);
    const keys = this.#options.credentials();
    if (!keys) return this.#drop('malformed', 'not signed in');
    const refused = this.#checkSignature(envelope, keys);
    if (refused) return refused;
    const opened = await this.#decrypt(envelope, keys);
    if (typeof opened === 'string') return this.#drop(opened, '');
    const job = readPublishedJob(opened);
    if (isProblem(job)) return this.#drop('malformed', job.problem);
    if (!(await this.#options.isTarget(job))) return 'not-targeted';
    // Only now: a job for others must not displace ours in the list.
    if (!this.#options.recent.add(job.jid, job.durableUntil !== undefined)) return this.#drop('repeated', job.jid);
    this.#options.accept(job);
    return 'accepted';
  }

  #checkSignature(envelope: PublishEnvelope, keys: Credentials): Dropped | undefined {
    // Halite masters always sign, and a master that has signed once continues to do so: an unsigned message is from
    // another sender.
    const required = this.#options.requireSignature || keys.halite || this.#signed.has(keys);
    if (!envelope.sig) return required ? this.#drop('unsigned', '') : undefined;
    // Masters before 3006.9 do not send its name.
    const algorithm = envelope.sig_algo ?? defaultSigAlgo;
    if (!isSigAlgo(algorithm)) return this.#drop('forged', `unknown algorithm ${algorithm.slice(0, 40)}`);
    const good = verifyPkcs1(keys.masterKey, envelope.load, envelope.sig, algorithm);
    if (!good) return this.#drop('forged', 'the signature does not verify with the trusted master key');
    this.#signed.add(keys);
    return undefined;
  }

  /** Decrypts the job; after a change of the shared key signs in again and tries the same message once more. */
  async #decrypt(envelope: PublishEnvelope, keys: Credentials): Promise<Dict | 'undecryptable' | 'replayed'> {
    try {
      return this.#open(envelope, keys);
    } catch (error) {
      if (!isWrongKey(error)) throw error;
    }
    if (performance.now() < this.#quietUntil) return 'undecryptable';
    const fresh = await this.#options.renew(keys);
    try {
      return this.#open(envelope, fresh);
    } catch (error) {
      if (!isWrongKey(error)) throw error;
      this.#quietUntil = performance.now() + quietMs;
      return 'undecryptable';
    }
  }

  #open({ load }: PublishEnvelope, { aes }: Credentials): Dict | 'replayed' {
    const { recent } = this.#options;
    recent.resume(aes);
    const job = aes.openPublish(load);
    recent.opened(aes);
    return job ?? 'replayed';
  }

  #drop(why: Dropped, detail: string): Dropped {
    const level = why === 'replayed' || why === 'repeated' ? 'debug' : 'warn';
    this.#options.log.limited(`publish ${why}`, level, 'a published message was dropped', {
      why,
      ...(detail ? { detail } : {}),
    });
    return why;
  }
}

const isWrongKey = (error: unknown): boolean => error instanceof HaliteError && error.code === 'crypto.verify';

/** Only a few fields and the encrypted job: the sender is not authenticated yet. */
const envelopeLimits = { maxDepth: 16, maxItems: 64 };
