// Job path 5/9 · from protocol/wire · to engine/exec: takes a publish apart and decides whether it is for this minion.
import { unpack } from '../../base/codec/msgpack/index.ts';
import { type Dict, dictGet, isDict, isTexts } from '../../base/codec/value.ts';
import { defaultSigAlgo, isSigAlgo, verifyPkcs1 } from '../../base/crypto/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { durableField } from '../../protocol/job/verdict.ts';
import type { RecentJobs } from '../jobs/recent-jobs.ts';
import type { Credentials } from './auth-reply.ts';

/** What a receiver needs of the link it belongs to. */
export interface ReceiverOptions {
  readonly log: Logger;
  /** `sign_pub_messages`: unsigned jobs are refused. */
  readonly requireSignature: boolean;
  readonly credentials: () => Credentials | undefined;
  readonly renew: (stale: Credentials) => Promise<Credentials>;
  readonly recent: RecentJobs;
  readonly isTarget: (tgt: string | string[], kind: string, delimiter: string) => Promise<boolean>;
  readonly accept: (job: Dict) => void;
}

/** Why a publish went no further; only for logs and tests. */
export type Dropped = 'malformed' | 'unsigned' | 'forged' | 'undecryptable' | 'replayed' | 'repeated' | 'not-targeted';

interface Envelope {
  readonly load: Uint8Array;
  readonly sig: Uint8Array | undefined;
  readonly algo: string;
}

/** After a message that even fresh keys do not open, others of that kind do not cause another sign-in for a while. */
const quietMs = 5000;

export class Receiver {
  readonly #options: ReceiverOptions;
  readonly #signed = new WeakSet<Credentials>();
  #quietUntil = 0;

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  /** Handles one publish. Never throws; what is dropped is named. */
  async receive(payload: Uint8Array): Promise<Dropped | 'accepted'> {
    try {
      return await this.#process(payload);
    } catch (error) {
      return this.#drop('malformed', messageOf(error));
    }
  }

  async #process(payload: Uint8Array): Promise<Dropped | 'accepted'> {
    const envelope = readEnvelope(payload);
    const keys = this.#options.credentials();
    if (!envelope || !keys) return this.#drop('malformed', envelope ? 'not signed in' : 'no envelope');
    const refused = this.#checkSignature(envelope, keys);
    if (refused) return refused;
    const job = await this.#decrypt(envelope, keys);
    if (typeof job === 'string') return this.#drop(job, '');
    if (job instanceof Map) return this.#drop('malformed', 'a job whose fields are not names');
    const { tgt, kind, delimiter, problem } = targetOf(job);
    if (problem) return this.#drop('malformed', problem);
    if (!(await this.#options.isTarget(tgt, kind, delimiter))) return 'not-targeted';
    // Only now: a job for others must not push ours out of the list.
    const jid = String(dictGet(job, 'jid'));
    if (!this.#options.recent.add(jid, dictGet(job, durableField) !== undefined)) return this.#drop('repeated', jid);
    this.#options.accept(job);
    return 'accepted';
  }

  #checkSignature(envelope: Envelope, keys: Credentials): Dropped | undefined {
    // Halite masters sign always, and a master that has signed once does not stop: unsigned would be somebody else.
    const required = this.#options.requireSignature || keys.halite || this.#signed.has(keys);
    if (!envelope.sig) return required ? this.#drop('unsigned', '') : undefined;
    if (!isSigAlgo(envelope.algo)) return this.#drop('forged', `unknown algorithm ${envelope.algo.slice(0, 40)}`);
    const good = verifyPkcs1(keys.masterKey, envelope.load, envelope.sig, envelope.algo);
    if (!good) return this.#drop('forged', 'the signature does not verify with the trusted master key');
    this.#signed.add(keys);
    return undefined;
  }

  /** Opens the job; after a change of the shared key signs in again and tries the same message once more. */
  async #decrypt(envelope: Envelope, keys: Credentials): Promise<Dict | 'undecryptable' | 'replayed'> {
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

  #open({ load }: Envelope, { aes }: Credentials): Dict | 'replayed' {
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

function readEnvelope(payload: Uint8Array): Envelope | undefined {
  const value = unpack(payload, { raw: true, maxDepth: 16, maxItems: 64 });
  if (!isDict(value)) return undefined;
  const enc = dictGet(value, 'enc');
  const load = dictGet(value, 'load');
  const sig = dictGet(value, 'sig');
  const algo = dictGet(value, 'sig_algo');
  if (!(enc instanceof Uint8Array) || Buffer.from(enc).toString() !== 'aes' || !(load instanceof Uint8Array))
    return undefined;
  return {
    load,
    sig: sig instanceof Uint8Array ? sig : undefined,
    // Masters before 3006.9 do not name it.
    algo: algo instanceof Uint8Array ? Buffer.from(algo).toString() : defaultSigAlgo,
  };
}

interface TargetFields {
  readonly tgt: string | string[];
  readonly kind: string;
  readonly delimiter: string;
  readonly problem?: string;
}

/** A job needs target, jid, function and arguments; anything else is not for us to guess. */
function targetOf(job: Dict): TargetFields {
  const nothing = { tgt: '', kind: 'glob', delimiter: ':' };
  const jid = dictGet(job, 'jid');
  const fun = dictGet(job, 'fun');
  if (typeof jid !== 'string' || jid === '') return { ...nothing, problem: 'a job without jid' };
  if (typeof fun !== 'string' && !isTexts(fun)) return { ...nothing, problem: 'a job without function' };
  if (!Array.isArray(dictGet(job, 'arg'))) return { ...nothing, problem: 'a job without arguments' };
  const tgt = dictGet(job, 'tgt');
  const kind = dictGet(job, 'tgt_type') ?? 'glob';
  const delimiter = dictGet(job, 'delimiter') ?? ':';
  if ((typeof tgt !== 'string' && !isTexts(tgt)) || typeof kind !== 'string' || typeof delimiter !== 'string') {
    return { ...nothing, problem: 'a job without target' };
  }
  return { tgt, kind, delimiter };
}
