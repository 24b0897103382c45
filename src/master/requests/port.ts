// The request port: decrypts each envelope in its own protocol generation, checks the sender, calls a handler, always
// replies.
import { pack } from '../../base/codec/msgpack/index.ts';
import { type Dict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import {
  type Crypticle,
  cleanKey,
  defaultEncAlgo,
  defaultSigAlgo,
  isEncAlgo,
  isSigAlgo,
} from '../../base/crypto/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { ConcurrencyLimit } from '../../base/util/concurrency-limit.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import { laterAnswer } from '../../protocol/wire/messages/auth.ts';
import { isProblem, type Problem } from '../../protocol/wire/messages/fields.ts';
import {
  type ClearEnvelope,
  type Envelope,
  type OpenedLoad,
  openLimits,
  readEnvelope,
  readOpenedLoad,
  type SealedEnvelope,
} from '../../protocol/wire/messages/request.ts';
import type { IncomingRequest } from '../../protocol/wire/transport.ts';
import type { KeyStore } from '../../store/keys.ts';
import { noteClock } from '../fleet/clock.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { SignIn } from '../sign-in/auth.ts';
import type { MasterKeyPair } from '../sign-in/master-keys.ts';
import type { Secrets } from '../sign-in/secrets.ts';
import { SignInQueue } from '../sign-in/sign-in-queue.ts';
import type { DurableJobs } from '../tracking/durable.ts';
import { type AcceptedKey, judge, SessionProofs } from './generations.ts';
import { type ChunkSeal, type HandlerTable, PackedReply } from './handlers/table.ts';
import { sealPrivate } from './private-reply.ts';
import { ReplayGuard } from './replay.ts';
import { type Refusal, RequestCounts } from './request-counts.ts';
import type { Sender } from './sender.ts';

const badLoad: Value = 'bad load';
const undecryptable = 'load does not decrypt';
type Reply = Value | PackedReply;
/** From this size on decrypting a message takes noticeable time: it yields to other requests. */
const longBytes = 1024 * 1024;
/** Maximum number of long messages at a time: each needs several times its size until it is stored. */
const longAtOnce = 2;
const longPatienceMs = 10_000;
type OpenOptions = ReturnType<typeof openLimits>;
/**
 * Any peer can request a sign-in, and each costs RSA in the four threads of Node's pool, in which jobs are signed too.
 */
const signInsAtOnce = 3;
/**
 * Minions wait five seconds (`auth_timeout`), but the port also reads no more than 2,000 requests of peers that proved
 * nothing: those that can come back later leave the room to the others.
 */
const signInPatienceMs = 1500;
/** In characters; longer than any public key that a sign-in may present. */
const longestKey = 20_000;

export interface RequestPortParts {
  readonly opts: Pick<MasterOpts, 'raw' | 'cachedir' | 'minimum_auth_version' | 'request_server_ttl'>;
  readonly log: Logger;
  readonly keys: Pick<KeyStore, 'accepted' | 'statesOf'>;
  readonly secrets: Pick<Secrets, 'aes' | 'sessions'>;
  /** The key of the master that a minion trusts. */
  keyFor(id: string, peer: string): MasterKeyPair;
  readonly fleet: Pick<Fleet, 'contact' | 'record' | 'signedIn' | 'refusedWithoutKey'>;
  readonly durable: Pick<DurableJobs, 'arrived'>;
  /** Commands of authenticated minions. */
  readonly handlers: HandlerTable;
  readonly signIn: SignIn;
  /** Commands in clear text, with their own credentials. */
  readonly clear: (load: PlainDict, peer: string) => Promise<Value>;
  /** Its name. */
  readonly transport: string;
}

export class RequestPort {
  readonly counts = new RequestCounts();
  readonly #parts: RequestPortParts;
  readonly #replays: ReplayGuard;
  readonly #long = new ConcurrencyLimit(longAtOnce, longPatienceMs);
  readonly #signIns: SignInQueue;
  /** Needed only where older protocols are allowed. */
  readonly #proofs: SessionProofs | undefined;

  constructor(parts: RequestPortParts) {
    this.#parts = parts;
    const { opts, log } = parts;
    this.#replays = new ReplayGuard(() => opts.request_server_ttl);
    this.#signIns = new SignInQueue({
      width: signInsAtOnce,
      stuckMs: longPatienceMs,
      patienceMs: signInPatienceMs,
      counted: (what) => this.counts.refused.add(what),
    });
    if (opts.minimum_auth_version < 3) {
      const failed = (error: unknown): void =>
        log.limited('proofs', 'error', 'which minions have used the newer protocol could not be stored', {
          error: messageOf(error),
        });
      this.#proofs = new SessionProofs(opts.cachedir, failed);
    }
  }

  /** Processes one request; a reply is sent in every case. */
  accept(request: IncomingRequest): void {
    const begun = performance.now();
    const reply = (value: Reply): void => {
      request.reply(value instanceof PackedReply ? value.bytes : pack(value));
      this.counts.duration.observe((performance.now() - begun) / 1000);
    };
    const fail = (error: unknown): void => {
      this.counts.refused.add('error');
      this.#parts.log.error('request failed', { peer: request.peer, error: messageOf(error) });
      reply(badLoad);
    };
    let answer: Reply | Promise<Reply>;
    try {
      answer = this.#answer(request);
    } catch (error) {
      fail(error);
      return;
    }
    if (answer instanceof Promise) answer.then(reply, fail);
    else reply(answer);
  }

  /** Most requests need no promise until something is stored: there are thousands of them a second. */
  #answer(request: IncomingRequest): Reply | Promise<Reply> {
    let envelope: Envelope | Problem;
    try {
      envelope = readEnvelope(request.payload);
    } catch (error) {
      this.#drop(request, 'malformed', `not msgpack: ${messageOf(error)}`);
      return { msg: 'bad load' };
    }
    if (isProblem(envelope)) return this.#refuse(request, 'malformed', envelope.problem, '', envelope.reply);
    if (envelope.version < this.#parts.opts.minimum_auth_version) return this.#tooOld(request, envelope);
    return envelope.enc === 'clear' ? this.#answerClear(request, envelope) : this.#answerSealed(request, envelope);
  }

  #answerClear(request: IncomingRequest, envelope: ClearEnvelope): Promise<Value> {
    const load = envelope.load instanceof Map ? newDict() : envelope.load;
    const isSignIn = load['cmd'] === '_auth';
    this.counts.handled.add(isSignIn ? '_auth' : 'clear');
    return isSignIn ? this.#signIn(request, load, envelope.version) : this.#parts.clear(load, request.peer);
  }

  async #signIn(request: IncomingRequest, load: PlainDict, version: number): Promise<Value> {
    const { keys, signIn } = this.#parts;
    const answer = await this.#signIns.run({
      isKnown: () => {
        const { id, pub } = load;
        if (!isValidMinionId(id) || typeof pub !== 'string' || pub.length > longestKey) return false;
        const stored = keys.accepted(id);
        return stored !== undefined && cleanKey(stored.pem) === cleanKey(pub);
      },
      isGone: () => request.gone,
      sign: () => signIn(load, version, request.peer),
      later: laterAnswer(load, version),
    });
    return answer ?? badLoad;
  }

  #answerSealed(request: IncomingRequest, envelope: SealedEnvelope): Reply | Promise<Reply> {
    const { secrets, keys, opts } = this.#parts;
    const { version, id: outerId, load: sealed } = envelope;
    // Only ids with an accepted key have a session.
    const accepted = version >= 3 && isValidMinionId(outerId) ? keys.accepted(outerId) : undefined;
    if (version >= 3 && !accepted) return this.#refuse(request, 'no-key', 'no accepted key of this id', outerId);
    const candidates = accepted
      ? secrets.sessions.accepted({ id: outerId as string, fingerprint: accepted.fingerprint })
      : [secrets.aes.crypticle];
    const limits = openLimits(sealed.length, opts.raw['order_masters'] === true);
    if (sealed.length >= longBytes) {
      return this.#long.run(() =>
        openLong(candidates, sealed, limits).then(
          (found) => this.#take(request, envelope, found, undefined),
          (error: unknown) => this.#refuse(request, 'malformed', messageOf(error), outerId),
        ),
      );
    }
    let found: Opened | undefined;
    try {
      found = openNow(candidates, sealed, limits);
    } catch (error) {
      return this.#refuse(request, 'malformed', messageOf(error), outerId);
    }
    return this.#take(request, envelope, found, accepted);
  }

  /** `accepted` is the key of the outer id when it was looked up just now. */
  #take(
    request: IncomingRequest,
    envelope: SealedEnvelope,
    found: Opened | undefined,
    accepted: AcceptedKey | undefined,
  ): Reply | Promise<Reply> {
    const { fleet, keys } = this.#parts;
    const { version, id: outerId, load: sealed } = envelope;
    if (!found) return this.#undecryptable(request, envelope);
    const load = readOpenedLoad(found.opened);
    if (isProblem(load)) return this.#refuse(request, 'malformed', load.problem, outerId, load.reply);
    const keyOf = (id: string) => (accepted && id === outerId ? accepted : keys.accepted(id));
    const judged = judge(load, envelope, keyOf, this.#proofs);
    if ('breach' in judged) return this.#refuse(request, 'identity', judged.breach, load.id);
    const { id, trust } = judged;
    const breach = this.#tooLate(id, load, envelope);
    if (breach) return this.#refuse(request, 'too-late', breach, id);
    // A peer with one of our keys is not unauthenticated, even if its id is not proven.
    request.trust();
    const repeated = load.cmd === '_pillar' && this.#replays.isRepeated({ id, ts: load.ts }, sealed);
    const sender: Sender = { id, trust, version, peer: request.peer, transport: this.#parts.transport, repeated };
    if (trust === 'proven' || trust === 'claimed') {
      fleet.contact(id, request.peer, this.#parts.transport, version);
      this.#parts.durable.arrived(id, 'heard');
    }
    return this.#dispatch(load, sender, found.crypticle, envelope);
  }

  #undecryptable(request: IncomingRequest, { version, id, load }: SealedEnvelope): Value {
    const late = version < 3 && this.#parts.secrets.aes.isLate(load);
    return late
      ? this.#refuse(request, 'old-key', 'sealed with the AES key of before: it must sign in again', id)
      : this.#refuse(request, 'undecryptable', undecryptable, id);
  }

  /** The sender is authenticated by now: the time of its clock is recorded, also when it is the reason to refuse. */
  #tooLate(id: string, load: OpenedLoad, { version }: SealedEnvelope): string | undefined {
    if (version < 3) return undefined;
    const record = this.#parts.fleet.record(id);
    const now = Date.now();
    const age = now / 1000 - (load.ts ?? 0);
    if (load.ts !== undefined) noteClock(record, load.ts, now);
    const ttl = this.#parts.opts.request_server_ttl;
    if (ttl <= 0 || age <= ttl) {
      record.refused = undefined;
      return undefined;
    }
    const why = 'request is older than request_server_ttl';
    record.refused = { at: now, why };
    return why;
  }

  #dispatch(
    opened: OpenedLoad,
    sender: Sender,
    crypticle: Crypticle,
    envelope: SealedEnvelope,
  ): Reply | Promise<Reply> {
    const { cmd, load } = opened;
    const nonce = sender.version >= 2 ? opened.nonce : undefined;
    const handler = this.#parts.handlers.get(cmd);
    if (!handler || load instanceof Map) {
      this.counts.refused.add('unknown-command');
      this.#parts.log.limited(`cmd:${sender.id}:${cmd}`, 'warn', 'unknown command', {
        minion: sender.id,
        command: cmd.slice(0, 40),
      });
      return crypticle.seal({}, nonce);
    }
    this.counts.handled.add(cmd);
    const finish = (value: Reply): Reply | Promise<Reply> => {
      if (value instanceof PackedReply) return value;
      if (handler.reply !== 'private') return crypticle.seal(value, nonce);
      const encAlgo = isEncAlgo(envelope.enc_algo) ? envelope.enc_algo : defaultEncAlgo;
      const sigAlgo = isSigAlgo(envelope.sig_algo) ? envelope.sig_algo : defaultSigAlgo;
      return sealPrivate(this.#parts, sender, value as Dict, nonce, encAlgo, sigAlgo);
    };
    const fail = (error: unknown): Value => this.#failed(error, sender.id, cmd) ?? crypticle.seal('', nonce);
    try {
      const run = () => handler.run(load, sender, chunkSeal(sender, crypticle, nonce));
      const value = this.#replays.once({ id: sender.id, cmd, ts: opened.ts }, envelope.load, run);
      if (value instanceof Promise) return value.then(finish).catch(fail);
      const reply = finish(value);
      return reply instanceof Promise ? reply.catch(fail) : reply;
    } catch (error) {
      return fail(error);
    }
  }

  /** The answer when it must not look like an acknowledgement. */
  #failed(error: unknown, minion: string, cmd: string): Value | undefined {
    this.counts.refused.add('error');
    const fields = { minion, command: cmd, error: messageOf(error) };
    if (error instanceof HaliteError && error.code === 'store.unavailable') {
      this.#parts.log.limited('store', 'error', 'a result is not stored: its minion keeps it', fields);
      return badLoad;
    }
    this.#parts.log.error('handler failed', fields);
    return undefined;
  }

  #refuse(request: IncomingRequest, kind: Refusal, why: string, id = '', reply: Value = badLoad): Value {
    this.#drop(request, kind, why, id);
    return reply;
  }

  /**
   * Peers with the same id or address are distinguished, and so are kinds of problems; each is logged once a minute.
   * Minions with a key have their own kind of line, so that lines about unauthenticated peers do not suppress it.
   */
  #drop(request: IncomingRequest, kind: Refusal, why: string, id = ''): void {
    this.counts.refused.add(kind);
    const known = isValidMinionId(id) && this.#parts.keys.accepted(id) !== undefined;
    const who = known ? id : request.peer.replace(/:\d+$/, '');
    const fields = { why, ...(id ? { minion: id.slice(0, 80) } : {}), peer: request.peer };
    const text = known ? 'request refused' : 'request of an unknown sender refused';
    this.#parts.log.limited(`refused:${who}:${why}`, 'warn', text, fields);
  }

  #tooOld(request: IncomingRequest, envelope: ClearEnvelope | SealedEnvelope): Value {
    const { log, fleet, opts, keys } = this.#parts;
    this.counts.refused.add('too-old');
    const named = envelope.enc === 'aes' ? envelope.id : envelope.load instanceof Map ? undefined : envelope.load['id'];
    const id = isValidMinionId(named) ? named : '';
    const detail = `speaks protocol ${envelope.version}, minimum_auth_version is ${opts.minimum_auth_version}`;
    const auth = { result: 'too-old', at: Date.now(), detail } as const;
    if (id && keys.statesOf(id).length > 0) fleet.signedIn(id, auth);
    else if (id) fleet.refusedWithoutKey(id, auth);
    log.limited(`old:${id || request.peer}`, 'warn', 'request in an older protocol refused', {
      minion: id,
      why: detail,
      peer: request.peer,
    });
    return badLoad;
  }
}

/** A load, and the key that opened it: the answer uses that one, a minion need not know that there is a newer one. */
interface Opened {
  readonly opened: Value;
  readonly crypticle: Crypticle;
}

function openNow(candidates: Iterable<Crypticle>, sealed: Uint8Array, limits: OpenOptions): Opened | undefined {
  for (const crypticle of candidates) {
    try {
      return { opened: crypticle.open(sealed, limits), crypticle };
    } catch (error) {
      refuseOther(error);
    }
  }
  return undefined;
}

async function openLong(
  candidates: Iterable<Crypticle>,
  sealed: Uint8Array,
  limits: OpenOptions,
): Promise<Opened | undefined> {
  for (const crypticle of candidates) {
    try {
      return { opened: await crypticle.openLong(sealed, limits), crypticle };
    } catch (error) {
      refuseOther(error);
    }
  }
  return undefined;
}

/** Another key is tried only when this one does not open the message. */
function refuseOther(error: unknown): void {
  if (!(error instanceof HaliteError && error.code === 'crypto.verify')) throw error;
}

/**
 * Chunks of files are encrypted with the session key that decrypted the request; older generations share their key with
 * others.
 */
function chunkSeal({ id, version }: Sender, crypticle: Crypticle, nonce: string | undefined): ChunkSeal | undefined {
  if (version < 3 || nonce === undefined) return undefined;
  return (buffer, part) => new PackedReply(crypticle.chunks.seal(buffer, { nonce, id, ...part }));
}
