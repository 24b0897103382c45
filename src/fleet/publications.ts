// Publications: every minion gets the same bytes, so a process opens each of them once.
import { unpack } from '../base/codec/msgpack/index.ts';
import { defaultSigAlgo, isSigAlgo, verifyPkcs1 } from '../base/crypto/index.ts';
import { HaliteError, messageOf } from '../base/errors/index.ts';
import type { PublishedJob } from '../protocol/job/job.ts';
import { isProblem } from '../protocol/wire/messages/fields.ts';
import { readPublishedJob } from '../protocol/wire/messages/job.ts';
import { readPublishEnvelope } from '../protocol/wire/messages/publish.ts';
import type { KnownMaster } from './sign-in.ts';

export type Heard =
  | { readonly kind: 'job'; readonly job: PublishedJob }
  /** Sealed with a key that this fleet does not have: real minions then sign in again. */
  | { readonly kind: 'sealed' }
  | { readonly kind: 'forged' | 'useless'; readonly why: string };

const limits = { maxDepth: 16, maxItems: 64 };
const mostKept = 128;
const mostKeptBytes = 8 * 1024 * 1024;

export class Publications {
  readonly #kept = new Map<string, { readonly payload: Buffer; readonly heard: Heard }>();
  readonly #verify: boolean;
  #bytes = 0;

  constructor(verify: boolean) {
    this.#verify = verify;
  }

  hear(payload: Buffer, master: KnownMaster): Heard {
    // Its end is a signature or an authentication code: different for each.
    const key = payload.toString('latin1', Math.max(0, payload.length - 32));
    const kept = this.#kept.get(key);
    if (kept?.payload.equals(payload)) return kept.heard;
    const heard = this.#open(payload, master);
    // With the next key it may be readable.
    if (heard.kind !== 'sealed') this.#keep(key, payload, heard);
    return heard;
  }

  #keep(key: string, payload: Buffer, heard: Heard): void {
    this.#forget(key);
    this.#kept.set(key, { payload, heard });
    this.#bytes += payload.length;
    // The newest one stays, however large: all other minions are about to get it too.
    while (this.#kept.size > 1 && (this.#kept.size > mostKept || this.#bytes > mostKeptBytes))
      this.#forget(this.#kept.keys().next().value ?? '');
  }

  #forget(key: string): void {
    this.#bytes -= this.#kept.get(key)?.payload.length ?? 0;
    this.#kept.delete(key);
  }

  #open(payload: Buffer, master: KnownMaster): Heard {
    try {
      const envelope = readPublishEnvelope(unpack(payload, limits));
      if (isProblem(envelope)) return { kind: 'useless', why: envelope.problem };
      const { load, sig, sig_algo: algorithm = defaultSigAlgo } = envelope;
      const signed = sig !== undefined && isSigAlgo(algorithm);
      if (this.#verify && !(signed && verifyPkcs1(master.key, load, sig, algorithm)))
        return { kind: 'forged', why: 'a publication is not signed by the master' };
      const job = readPublishedJob(master.aes.open(load));
      return isProblem(job) ? { kind: 'useless', why: job.problem } : { kind: 'job', job };
    } catch (error) {
      if (error instanceof HaliteError && error.code === 'crypto.verify') return { kind: 'sealed' };
      return { kind: 'useless', why: messageOf(error) };
    }
  }
}
