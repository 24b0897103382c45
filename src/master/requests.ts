// The request port: opens each envelope in its own protocol generation, checks the sender, calls a handler, always replies.
import { pack, unpack } from '../base/codec/msgpack/index.ts';
import { type Dict, isDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { pyStr } from '../base/codec/python/index.ts';
import {
  type Crypticle,
  defaultEncAlgo,
  defaultSigAlgo,
  isEncAlgo,
  isSigAlgo,
  verifyToken,
} from '../base/crypto/index.ts';
import { messageOf } from '../base/errors/index.ts';
import { isValidMinionId } from '../base/util/valid-id.ts';
import type { IncomingRequest } from '../protocol/wire/transport.ts';
import { authenticate } from './auth.ts';
import type { Master, Sender } from './core.ts';
import type { HandlerTable } from './handlers/table.ts';
import { sealPrivate } from './private-reply.ts';

const badLoad: Value = 'bad load';
/** Commands that old generations had to prove with a token, although the channel did not ask for one. */
const tokenRequired = new Set([
  '_master_tops',
  '_ext_nodes',
  '_mine_get',
  '_mine',
  '_mine_delete',
  '_mine_flush',
  '_file_recv',
  '_minion_event',
  'minion_runner',
  'pub_ret',
  'minion_pub',
  'minion_publish',
  'revoke_auth',
]);

export class RequestPort {
  readonly #master: Master;
  readonly #handlers: HandlerTable;
  readonly #clear: (load: PlainDict, sender: { peer: string }) => Promise<Value>;
  readonly #transport: string;
  readonly #proved = new Map<string, { key: object; token: Buffer }>();

  constructor(
    master: Master,
    handlers: HandlerTable,
    clear: (load: PlainDict, sender: { peer: string }) => Promise<Value>,
    transport: string,
  ) {
    this.#master = master;
    this.#handlers = handlers;
    this.#clear = clear;
    this.#transport = transport;
  }

  /** Takes one request off the wire; the reply is sent whatever happens. */
  accept(request: IncomingRequest): void {
    this.#answer(request)
      .catch((error: unknown) => {
        this.#master.log.error('request failed', { peer: request.peer, error: messageOf(error) });
        return badLoad;
      })
      .then((value) => request.reply(pack(value)));
  }

  async #answer(request: IncomingRequest): Promise<Value> {
    let envelope: Value;
    try {
      envelope = unpack(request.payload, { maxDepth: 64 });
    } catch (error) {
      this.#drop(request, `not msgpack: ${messageOf(error)}`);
      return { msg: 'bad load' };
    }
    if (!isDict(envelope) || envelope instanceof Map || !('enc' in envelope) || !('load' in envelope)) {
      this.#drop(request, 'no envelope');
      return badLoad;
    }
    const version = typeof envelope['version'] === 'number' ? envelope['version'] : 0;
    if (version < this.#master.opts.minimum_auth_version) {
      const id =
        isDict(envelope['load']) && !(envelope['load'] instanceof Map) ? envelope['load']['id'] : envelope['id'];
      this.#tooOld(request, typeof id === 'string' ? id : '', version);
      return badLoad;
    }
    if (envelope['enc'] === 'clear') return this.#answerClear(request, envelope['load'] as Value, version);
    if (envelope['enc'] === 'aes') return this.#answerSealed(request, envelope, version);
    this.#drop(request, 'unknown enc');
    return badLoad;
  }

  async #answerClear(request: IncomingRequest, load: Value, version: number): Promise<Value> {
    if (!isDict(load) || load instanceof Map) return 'payload and load must be a dict';
    const id = load['id'];
    if (typeof id === 'string' && id.includes('\0')) return 'bad load: id contains a null byte';
    if (id !== undefined && typeof id !== 'string') return `bad load: id ${pyStr(id)} is not a string`;
    if (load['cmd'] === '_auth') return authenticate(this.#master, load, version);
    return this.#clear(load, { peer: request.peer });
  }

  async #answerSealed(request: IncomingRequest, envelope: PlainDict, version: number): Promise<Value> {
    const { secrets } = this.#master;
    const outerId = envelope['id'];
    if (version >= 3 && !isValidMinionId(outerId)) return this.#refuse(request, 'sealed request without a valid id');
    // Only ids with an accepted key have a session: nobody can make us write files for names they invent.
    if (version >= 3 && !this.#master.keys.accepted(outerId as string))
      return this.#refuse(request, 'no accepted key of this id', String(outerId));
    const crypticle: Crypticle = version >= 3 ? secrets.session(outerId as string) : secrets.aes;
    const sealed = envelope['load'];
    let load: Value;
    try {
      load = crypticle.open(typeof sealed === 'string' ? Buffer.from(sealed) : (sealed as Uint8Array));
    } catch {
      return this.#refuse(request, 'load does not decrypt', typeof outerId === 'string' ? outerId : '');
    }
    if (!isDict(load) || load instanceof Map) return this.#refuse(request, 'sealed load is not a map');
    const problem = this.#check(load, version, outerId);
    if (problem) return this.#refuse(request, problem, typeof outerId === 'string' ? outerId : '');
    const id = load['id'] as string;
    const nonce = version >= 2 && typeof load['nonce'] === 'string' ? load['nonce'] : undefined;
    delete load['nonce'];
    delete load['tok'];
    const sender: Sender = { id, version, peer: request.peer, transport: this.#transport };
    this.#master.fleet.contact(id, { peer: request.peer, transport: this.#transport, generation: version });
    return this.#dispatch(load, sender, crypticle, nonce, envelope);
  }

  /** Everything that must hold before a handler sees the load; the text says what does not. */
  #check(load: PlainDict, version: number, outerId: Value | undefined): string | undefined {
    const { opts, keys } = this.#master;
    const id = load['id'];
    if (version >= 3 && load['id'] !== outerId) return 'inner and outer id differ';
    if (!isValidMinionId(id)) return 'sealed load without a valid id';
    const accepted = keys.accepted(id);
    if (!accepted?.key) return 'no accepted key of this id';
    const token = load['tok'];
    if (token === undefined) {
      if (version >= 3) return 'token missing';
      if (tokenRequired.has(String(load['cmd']))) return 'token missing for this command';
    } else if (!this.#tokenProves(id, accepted.key, token)) return 'token does not verify';
    if (version >= 3 && opts.request_server_ttl > 0) {
      const age = Date.now() / 1000 - Number(load['ts'] ?? 0);
      if (!(age <= opts.request_server_ttl)) return 'request is older than request_server_ttl';
    }
    return undefined;
  }

  /** A token is constant per key: after the first RSA check its bytes are compared. */
  #tokenProves(id: string, key: import('node:crypto').KeyObject, token: Value): boolean {
    const bytes =
      typeof token === 'string' ? Buffer.from(token) : token instanceof Uint8Array ? Buffer.from(token) : undefined;
    if (!bytes) return false;
    const known = this.#proved.get(id);
    if (known?.key === key && known.token.equals(bytes)) return true;
    if (!verifyToken(key, bytes)) return false;
    this.#proved.set(id, { key, token: Buffer.from(bytes) });
    return true;
  }

  async #dispatch(
    load: PlainDict,
    sender: Sender,
    crypticle: Crypticle,
    nonce: string | undefined,
    envelope: PlainDict,
  ): Promise<Value> {
    const command = typeof load['cmd'] === 'string' ? load['cmd'] : '';
    const handler = this.#handlers.get(command);
    if (!handler) {
      this.#master.log.limited(`cmd:${sender.id}:${command}`, 'warn', 'unknown command', {
        minion: sender.id,
        command: command.slice(0, 40),
      });
      return crypticle.seal({}, nonce);
    }
    try {
      const value = await handler.run(load, sender);
      if (handler.reply === 'private') {
        const encAlgo = isEncAlgo(envelope['enc_algo']) ? envelope['enc_algo'] : defaultEncAlgo;
        const sigAlgo = isSigAlgo(envelope['sig_algo']) ? envelope['sig_algo'] : defaultSigAlgo;
        return await sealPrivate(this.#master, sender, value as Dict, nonce, encAlgo, sigAlgo);
      }
      return crypticle.seal(value, nonce);
    } catch (error) {
      this.#master.log.error('handler failed', { minion: sender.id, command, error: messageOf(error) });
      return crypticle.seal('', nonce);
    }
  }

  #refuse(request: IncomingRequest, why: string, id = ''): Value {
    this.#drop(request, why, id);
    return badLoad;
  }

  #drop(request: IncomingRequest, why: string, id = ''): void {
    this.#master.log.limited(`refused:${request.peer}:${id}:${why}`, 'warn', 'request refused', {
      why,
      ...(id ? { minion: id } : {}),
      peer: request.peer,
    });
  }

  #tooOld(request: IncomingRequest, id: string, version: number): void {
    if (isValidMinionId(id)) {
      const record = this.#master.fleet.record(id);
      record.lastAuth = {
        result: 'too-old',
        at: Date.now(),
        detail: `speaks protocol ${version}, minimum_auth_version is ${this.#master.opts.minimum_auth_version}`,
      };
    }
    this.#master.log.limited(
      `old:${id || request.peer}`,
      'warn',
      'request in an older protocol than minimum_auth_version refused',
      {
        minion: id.slice(0, 80),
        version,
        peer: request.peer,
      },
    );
  }
}
