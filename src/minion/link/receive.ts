// Decrypts a publish and decides whether it is for this minion.
import { createHash, type KeyObject } from 'node:crypto';
import { unpack } from '../../base/codec/msgpack/index.ts';
import type { Dict } from '../../base/codec/value.ts';
import { defaultSigAlgo, isSigAlgo, loadPublicKey, verifyPkcs1 } from '../../base/crypto/index.ts';
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
  /** Its address: whose publishes these are. */
  readonly master: string;
  /** `sign_pub_messages`: unsigned jobs are refused. */
  readonly requireSignature: boolean;
  readonly credentials: () => Credentials | undefined;
  readonly renew: (stale: Credentials) => Promise<Credentials>;
  /** Public keys of the master that this minion knows besides that of its last sign-in: the trusted one, and its next. */
  readonly otherKeys: () => readonly string[];
  readonly recent: RecentJobs;
  /** What makes two publishes the same; the jid when it is not given. */
  readonly jobKey?: ((job: PublishedJob) => string) | undefined;
  readonly isTarget: (job: PublishedJob) => Promise<boolean>;
  readonly accept: (job: PublishedJob) => void;
}

/** Why a publish was dropped; only for logs and tests. */
export type Dropped = 'malformed' | 'unsigned' | 'forged' | 'undecryptable' | 'replayed' | 'repeated' | 'not-targeted';

/** After a message that even new keys do not decrypt, similar ones do not cause another sign-in for a while. */
const quietMs = 5000;
const mostVerified = 64;

export class Receiver {
  readonly #options: ReceiverOptions;
  readonly #signed = new WeakSet<Credentials>();
  /** Of the last messages with a good signature. */
  readonly #verified = new Set<string>();
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
    const usable = await this.#signer(envelope, keys);
    if (typeof usable === 'string') return usable;
    const opened = await this.#decrypt(envelope, usable);
    if (typeof opened === 'string') return this.#drop(opened, '');
    const job = readPublishedJob(opened);
    if (isProblem(job)) return this.#drop('malformed', job.problem);
    if (!(await this.#options.isTarget(job))) return 'not-targeted';
    // Only now: a job for others must not displace ours in the list.
    if (!this.#options.recent.add(this.#options.jobKey?.(job) ?? job.jid, job.durableUntil !== undefined))
      return this.#drop('repeated', job.jid);
    this.#options.accept(job);
    return 'accepted';
  }

  /**
   * The keys to open it with. While a master changes its key, it sends the same message twice, signed with each: the
   * form for others is no forgery, and one that the next key signed tells that it is time to sign in again.
   */
  async #signer(envelope: PublishEnvelope, keys: Credentials): Promise<Credentials | Dropped> {
    if (envelope.sig && !signedBy(keys.masterKey, envelope)) {
      const known = this.#otherForm(envelope.load);
      if (known) return 'repeated';
      const others = this.#options.otherKeys().filter((pem) => pem !== keys.masterKeyText);
      if (others.some((pem) => signedBy(loadPublicKey(pem), envelope))) {
        const fresh = await this.#options.renew(keys);
        return this.#checkSignature(envelope, fresh) ?? fresh;
      }
    }
    return this.#checkSignature(envelope, keys) ?? keys;
  }

  #otherForm(load: Uint8Array): boolean {
    return this.#verified.has(digestOf(load));
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
    this.#verified.add(digestOf(envelope.load));
    const [oldest] = this.#verified;
    if (this.#verified.size > mostVerified && oldest !== undefined) this.#verified.delete(oldest);
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
    recent.resume(aes, this.#options.master);
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

const digestOf = (load: Uint8Array): string => createHash('sha256').update(load).digest('base64');

function signedBy(key: KeyObject, { load, sig, sig_algo: algorithm = defaultSigAlgo }: PublishEnvelope): boolean {
  return sig !== undefined && isSigAlgo(algorithm) && verifyPkcs1(key, load, sig, algorithm);
}

const isWrongKey = (error: unknown): boolean => error instanceof HaliteError && error.code === 'crypto.verify';

/** Only a few fields and the encrypted job: the sender is not authenticated yet. */
const envelopeLimits = { maxDepth: 16, maxItems: 64 };
