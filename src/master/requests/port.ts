// The request port: decrypts each envelope in its own protocol generation, checks the sender, calls a handler, always
// replies.
import { pack } from '../../base/codec/msgpack/index.ts';
import { type Dict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { type Crypticle, defaultEncAlgo, defaultSigAlgo, isEncAlgo, isSigAlgo } from '../../base/crypto/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { ConcurrencyLimit } from '../../base/util/concurrency-limit.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
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
import type { Fleet } from '../fleet/fleet.ts';
import type { SignIn } from '../sign-in/auth.ts';
import type { Secrets } from '../sign-in/secrets.ts';
import type { DurableJobs } from '../tracking/durable.ts';
import { judge, SessionProofs } from './generations.ts';
import { type ChunkSeal, type HandlerTable, PackedReply } from './handlers/table.ts';
import { sealPrivate } from './private-reply.ts';
import { ReplayGuard } from './replay.ts';
import type { Sender } from './sender.ts';

const badLoad: Value = 'bad load';
type Reply = Value | PackedReply;
/** From this size on decrypting a message takes noticeable time: it yields to other requests. */
const longBytes = 1024 * 1024;
/** Maximum number of long messages at a time: each needs several times its size until it is stored. */
const longAtOnce = 2;
const longPatienceMs = 10_000;
/**
 * Any peer can request a sign-in, and each costs RSA in the four threads of Node's pool, in which jobs are signed too.
 */
const signInsAtOnce = 3;

export interface RequestPortParts {
  readonly opts: Pick<MasterOpts, 'raw' | 'cachedir' | 'minimum_auth_version' | 'request_server_ttl'>;
  readonly log: Logger;
  readonly keys: Pick<KeyStore, 'accepted' | 'statesOf'>;
  readonly secrets: Pick<Secrets, 'aes' | 'session' | 'pair'>;
  readonly fleet: Pick<Fleet, 'contact' | 'record' | 'signedIn' | 'refusedWithoutKey'>;
  readonly durable: Pick<DurableJobs, 'arrived'>;
  /** Commands of authenticated minions. */
  readonly handlers: HandlerTable;
  readonly signIn: SignIn;
  /** Commands in clear text, with their own credentials. */
  readonly clear: (load: PlainDict) => Promise<Value>;
  /** Its name. */
  readonly transport: string;
}

export class RequestPort {
  readonly #parts: RequestPortParts;
  readonly #replays: ReplayGuard;
  readonly #long = new ConcurrencyLimit(longAtOnce, longPatienceMs);
  readonly #signIns = new ConcurrencyLimit(signInsAtOnce, longPatienceMs);
  /** Needed only where older protocols are allowed. */
  readonly #proofs: SessionProofs | undefined;

  constructor(parts: RequestPortParts) {
    this.#parts = parts;
    const { opts, log } = parts;
    this.#replays = new ReplayGuard(() => opts.request_server_ttl);
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
    this.#answer(request)
      .catch((error: unknown) => {
        this.#parts.log.error('request failed', { peer: request.peer, error: messageOf(error) });
        return badLoad;
      })
      .then((value) => request.reply(value instanceof PackedReply ? value.bytes : pack(value)));
  }

  async #answer(request: IncomingRequest): Promise<Reply> {
    let envelope: Envelope | Problem;
    try {
      envelope = readEnvelope(request.payload);
    } catch (error) {
      this.#drop(request, `not msgpack: ${messageOf(error)}`);
      return { msg: 'bad load' };
    }
    if (isProblem(envelope)) return this.#refuse(request, envelope.problem, '', envelope.reply);
    if (envelope.version < this.#parts.opts.minimum_auth_version) return this.#tooOld(request, envelope);
    return envelope.enc === 'clear' ? this.#answerClear(request, envelope) : this.#answerSealed(request, envelope);
  }

  #answerClear(request: IncomingRequest, envelope: ClearEnvelope): Promise<Value> {
    const load = envelope.load instanceof Map ? newDict() : envelope.load;
    if (load['cmd'] !== '_auth') return this.#parts.clear(load);
    return this.#signIns.run(() => this.#parts.signIn(load, envelope.version, request.peer));
  }

  async #answerSealed(request: IncomingRequest, envelope: SealedEnvelope): Promise<Reply> {
    const { secrets, keys } = this.#parts;
    const { version, id: outerId } = envelope;
    // Only ids with an accepted key have a session: a peer cannot make us write files for invented ids.
    if (version >= 3 && !(isValidMinionId(outerId) && keys.accepted(outerId))) {
      return this.#refuse(request, 'no accepted key of this id', outerId);
    }
    const crypticle = version >= 3 ? secrets.session(outerId as string) : secrets.aes;
    if (envelope.load.length < longBytes) return this.#open(request, envelope, crypticle);
    return this.#long.run(() => this.#open(request, envelope, crypticle));
  }

  async #open(request: IncomingRequest, envelope: SealedEnvelope, crypticle: Crypticle): Promise<Reply> {
    const { fleet, opts } = this.#parts;
    const { version, id: outerId, load: sealed } = envelope;
    const limits = openLimits(sealed.length, opts.raw['order_masters'] === true);
    let opened: Value;
    try {
      opened = sealed.length < longBytes ? crypticle.open(sealed, limits) : await crypticle.openLong(sealed, limits);
    } catch (error) {
      const foreign = error instanceof HaliteError && error.code === 'crypto.verify';
      return this.#refuse(request, foreign ? 'load does not decrypt' : messageOf(error), outerId);
    }
    const load = readOpenedLoad(opened);
    if (isProblem(load)) return this.#refuse(request, load.problem, outerId, load.reply);
    const judged = judge(load, envelope, (id) => this.#parts.keys.accepted(id), this.#proofs);
    if ('breach' in judged) return this.#refuse(request, judged.breach, load.id);
    const { id, trust } = judged;
    const breach = this.#tooLate(id, load, envelope);
    if (breach) return this.#refuse(request, breach, id);
    // A peer with one of our keys is not unauthenticated, even if its id is not proven.
    request.trust();
    const repeated = load.cmd === '_pillar' && this.#replays.isRepeated({ id, ts: load.ts }, sealed);
    const sender: Sender = { id, trust, version, peer: request.peer, transport: this.#parts.transport, repeated };
    if (trust === 'proven' || trust === 'claimed') {
      fleet.contact(id, { peer: request.peer, transport: this.#parts.transport, generation: version });
      this.#parts.durable.arrived(id, 'heard');
    }
    return this.#dispatch(load, sender, crypticle, envelope);
  }

  /** The sender is authenticated by now: the time of its clock is recorded, also when it is the reason to refuse. */
  #tooLate(id: string, load: OpenedLoad, { version }: SealedEnvelope): string | undefined {
    if (version < 3) return undefined;
    const record = this.#parts.fleet.record(id);
    const age = Date.now() / 1000 - (load.ts ?? 0);
    if (load.ts !== undefined) record.skewSeconds = -age;
    const ttl = this.#parts.opts.request_server_ttl;
    if (ttl <= 0 || age <= ttl) {
      record.refused = undefined;
      return undefined;
    }
    const why = 'request is older than request_server_ttl';
    record.refused = { at: Date.now(), why };
    return why;
  }

  async #dispatch(opened: OpenedLoad, sender: Sender, crypticle: Crypticle, envelope: SealedEnvelope): Promise<Reply> {
    const { cmd, load } = opened;
    const nonce = sender.version >= 2 ? opened.nonce : undefined;
    const handler = this.#parts.handlers.get(cmd);
    if (!handler || load instanceof Map) {
      this.#parts.log.limited(`cmd:${sender.id}:${cmd}`, 'warn', 'unknown command', {
        minion: sender.id,
        command: cmd.slice(0, 40),
      });
      return crypticle.seal({}, nonce);
    }
    try {
      const run = async () => handler.run(load, sender, chunkSeal(sender, crypticle, nonce));
      const value = await this.#replays.once({ id: sender.id, cmd, ts: opened.ts }, envelope.load, run);
      if (value instanceof PackedReply) return value;
      if (handler.reply !== 'private') return crypticle.seal(value, nonce);
      const encAlgo = isEncAlgo(envelope.enc_algo) ? envelope.enc_algo : defaultEncAlgo;
      const sigAlgo = isSigAlgo(envelope.sig_algo) ? envelope.sig_algo : defaultSigAlgo;
      return await sealPrivate(this.#parts, sender, value as Dict, nonce, encAlgo, sigAlgo);
    } catch (error) {
      const fields = { minion: sender.id, command: cmd, error: messageOf(error) };
      if (error instanceof HaliteError && error.code === 'store.unavailable') {
        this.#parts.log.limited('store', 'error', 'a result is not stored: its minion keeps it', fields);
        return badLoad;
      }
      this.#parts.log.error('handler failed', fields);
      return crypticle.seal('', nonce);
    }
  }

  #refuse(request: IncomingRequest, why: string, id = '', reply: Value = badLoad): Value {
    this.#drop(request, why, id);
    return reply;
  }

  /**
   * Peers with the same id or address are distinguished, and so are kinds of problems; each is logged once a minute.
   * Minions with a key have their own kind of line, so that lines about unauthenticated peers do not suppress it.
   */
  #drop(request: IncomingRequest, why: string, id = ''): void {
    const known = isValidMinionId(id) && this.#parts.keys.accepted(id) !== undefined;
    const who = known ? id : request.peer.replace(/:\d+$/, '');
    const fields = { why, ...(id ? { minion: id.slice(0, 80) } : {}), peer: request.peer };
    const text = known ? 'request refused' : 'request of an unknown sender refused';
    this.#parts.log.limited(`refused:${who}:${why}`, 'warn', text, fields);
  }

  #tooOld(request: IncomingRequest, envelope: ClearEnvelope | SealedEnvelope): Value {
    const { log, fleet, opts, keys } = this.#parts;
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

/**
 * Chunks of files are encrypted with the session key that decrypted the request; older generations share their key with
 * others.
 */
function chunkSeal({ id, version }: Sender, crypticle: Crypticle, nonce: string | undefined): ChunkSeal | undefined {
  if (version < 3 || nonce === undefined) return undefined;
  return (buffer, part) => new PackedReply(crypticle.chunks.seal(buffer, { nonce, id, ...part }));
}
