// Minions of long ago on the wire: they sign in, listen and answer as Salt 2015.5 (P0) and 3005 (P2) did.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { pack, unpack } from '../../src/base/codec/msgpack/index.ts';
import { isDict, newDict, type PlainDict, type Value } from '../../src/base/codec/value.ts';
import {
  Crypticle,
  loadPublicKey,
  makeToken,
  oaepDecrypt,
  publicPem,
  verifyPkcs1,
} from '../../src/base/crypto/index.ts';
import { matches, parseTarget } from '../../src/protocol/target/index.ts';
import type { RequestClient, Subscription } from '../../src/protocol/wire/transport.ts';
import { getTransport } from '../../src/protocol/wire/transports.ts';
import { matches2015 } from './matcher-2015.ts';

export interface OldMinionOptions {
  readonly id: string;
  /** 0: no nonce, no signature, no version. 2: nonce and signed sign-in. Both share the one AES key. */
  readonly generation: 0 | 2;
  readonly version: string;
  readonly requests: number;
  /** PEM of its private key; a new one otherwise. */
  readonly key?: string;
}

const kinds: Record<string, string> = { '': 'glob', G: 'grain', P: 'grain_pcre', L: 'list', S: 'ipcidr', E: 'pcre' };

export class OldMinion {
  readonly options: OldMinionOptions;
  /** What the master said to the last sign-in. */
  signedIn = false;
  readonly #client: RequestClient;
  readonly #key: KeyObject;
  readonly #pem: string;
  #subscription: Subscription | undefined;
  #aes: Crypticle | undefined;

  private constructor(options: OldMinionOptions, client: RequestClient) {
    this.options = options;
    this.#client = client;
    this.#key = options.key
      ? createPrivateKey(options.key)
      : generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    this.#pem = publicPem(createPublicKey(this.#key));
  }

  static async start(options: OldMinionOptions): Promise<OldMinion> {
    const transport = await getTransport('zeromq');
    const minion = new OldMinion(options, transport.dial({ host: '127.0.0.1', port: options.requests }));
    const port = await minion.signIn();
    minion.#subscription = await transport.subscribe({
      host: '127.0.0.1',
      port,
      id: options.id,
      reconnectMinMs: 100,
      reconnectMaxMs: 500,
      onPublish: (payload) => void minion.#receive(payload).catch(() => undefined),
      onState: () => undefined,
    });
    return minion;
  }

  stop(): void {
    this.#subscription?.close();
    this.#client.close();
  }

  /** Asks for the keys of the wire; gives the port of the jobs, or 0 when the master refuses. */
  async signIn(): Promise<number> {
    const { id, generation } = this.options;
    const nonce = randomUUID().replaceAll('-', '');
    const load: PlainDict = { cmd: '_auth', id, pub: this.#pem };
    const message: PlainDict = { enc: 'clear', load };
    if (generation === 2) {
      load['nonce'] = nonce;
      message['version'] = 2;
    }
    const reply = await this.#ask(message);
    // A refusal is the bare text `bad load`.
    this.signedIn = isDict(reply);
    if (!isDict(reply)) return 0;
    const inner = generation === 0 ? (reply as PlainDict) : this.#signed(reply as PlainDict, nonce);
    this.#aes = new Crypticle(oaepDecrypt(this.#key, inner['aes'] as Uint8Array).toString());
    return Number(inner['publish_port']);
  }

  #signed(reply: PlainDict, nonce: string): PlainDict {
    const inner = unpack(reply['load'] as Uint8Array, { raw: true }) as PlainDict;
    const same = Buffer.from(inner['nonce'] as Uint8Array).toString() === nonce;
    const masterKey = Buffer.from(inner['pub_key'] as Uint8Array).toString();
    if (!same || !verifyPkcs1(loadPublicKey(masterKey), reply['load'] as Uint8Array, reply['sig'] as Uint8Array))
      throw new Error('the sign-in is not signed by the master');
    return inner;
  }

  async #ask(message: PlainDict): Promise<Value> {
    return unpack(await this.#client.request(pack(message), { timeoutMs: 120_000 }), { raw: true });
  }

  async #receive(payload: Uint8Array): Promise<void> {
    const load = (unpack(payload, { raw: true }) as PlainDict)['load'] as Uint8Array;
    let job: PlainDict;
    try {
      job = (this.#aes as Crypticle).open(load) as PlainDict;
    } catch {
      // Another key: sign in again, and read the message once more.
      await this.signIn();
      job = (this.#aes as Crypticle).open(load) as PlainDict;
    }
    if (this.#isForMe(job)) await this.#return(job);
  }

  /** The decision of the old release; what it does not understand is not for it, without a word. */
  #isForMe(job: PlainDict): boolean {
    const target = { tgt: job['tgt'], tgt_type: String(job['tgt_type'] ?? 'glob') };
    const subject = { id: this.options.id, grains: newDict(), pillar: newDict() };
    return matches2015(target, subject as { id: string }, (kind, pattern) => {
      const parsed = parseTarget(pattern, kinds[kind] ?? kind, { lenient: true });
      return matches(parsed, subject) === 'match';
    });
  }

  async #return(job: PlainDict): Promise<void> {
    const { id, version } = this.options;
    const answers: Record<string, Value> = { 'test.ping': true, 'test.version': version };
    await this.send({
      cmd: '_return',
      id,
      jid: job['jid'] as string,
      fun: job['fun'] as string,
      fun_args: job['arg'] as Value[],
      return: answers[String(job['fun'])] ?? newDict(),
      retcode: 0,
      success: true,
    });
  }

  /** Sends any load, sealed and with this minion's proof: also what an honest minion would never send. */
  async send(load: PlainDict): Promise<void> {
    await this.ask(load);
  }

  /** The same with the answer: opened, or the bare text of a refusal. Without a token when `unproven`. */
  async ask(load: PlainDict, unproven = false): Promise<Value> {
    const nonce = randomUUID().replaceAll('-', '');
    const reply = await this.#ask(this.#message(load, nonce, unproven));
    if (isDict(reply)) return reply;
    const bytes = Buffer.from(reply as Uint8Array);
    const aes = this.#aes as Crypticle;
    try {
      return this.options.generation === 2 ? aes.open(bytes, { nonce }) : aes.open(bytes);
    } catch {
      return bytes.toString();
    }
  }

  /** The bytes of a request, for somebody who records and sends them himself. */
  sealed(load: PlainDict): Buffer {
    return pack(this.#message(load, randomUUID().replaceAll('-', ''), false));
  }

  #message(load: PlainDict, nonce: string, unproven: boolean): PlainDict {
    const sent: PlainDict = unproven ? { ...load } : { ...load, tok: makeToken(this.#key) };
    const message: PlainDict = { enc: 'aes', load: '' };
    if (this.options.generation === 2) {
      sent['nonce'] = nonce;
      message['version'] = 2;
    }
    message['load'] = (this.#aes as Crypticle).seal(sent);
    return message;
  }
}
