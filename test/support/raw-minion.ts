// An accepted minion at the level of bytes: it signs in over the real wire, then seals and sends whatever a test made.
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { pack, unpack } from '../../src/base/codec/msgpack/index.ts';
import type { PlainDict, Value } from '../../src/base/codec/value.ts';
import { Crypticle, makeToken, oaepDecrypt, publicPem } from '../../src/base/crypto/index.ts';
import type { RequestClient } from '../../src/protocol/wire/transport.ts';
import { getTransport } from '../../src/protocol/wire/transports.ts';
import type { Deployment } from './deployment.ts';

const algorithms = { enc_algo: 'OAEP-SHA1', sig_algo: 'PKCS1v15-SHA1' };
const newNonce = (): string => randomUUID().replaceAll('-', '');

/** The head of a list, map, text or extension with a 32-bit count. */
export function head32(code: number, count: number): Buffer {
  const bytes = Buffer.alloc(5, code);
  bytes.writeUInt32BE(count, 1);
  return bytes;
}

export class RawMinion {
  readonly id: string;
  readonly #client: RequestClient;
  readonly #key: KeyObject;
  /** The key of its session; a test may exchange it. */
  session: Crypticle | undefined;
  #shared: Crypticle | undefined;

  private constructor(id: string, client: RequestClient, key: KeyObject) {
    this.id = id;
    this.#client = client;
    this.#key = key;
  }

  /** Signs in to the master of a deployment, which accepts every key. */
  static async start(fleet: Deployment, id: string, transport: 'zeromq' | 'tcp' = 'zeromq'): Promise<RawMinion> {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const client = (await getTransport(transport)).dial({ host: '127.0.0.1', port: fleet.ports.requests });
    const minion = new RawMinion(id, client, privateKey);
    const load = { cmd: '_auth', id, pub: publicPem(publicKey), nonce: newNonce(), ...algorithms };
    const reply = (await minion.ask(pack({ enc: 'clear', load, version: 3 }))) as PlainDict;
    const keys = unpack(reply['load'] as Uint8Array) as PlainDict;
    minion.session = new Crypticle(oaepDecrypt(privateKey, keys['session'] as Uint8Array).toString());
    minion.#shared = new Crypticle(oaepDecrypt(privateKey, keys['aes'] as Uint8Array).toString());
    return minion;
  }

  stop(): void {
    this.#client.close();
  }

  /** Any bytes as a request; what comes back, read but not opened. */
  async ask(payload: Uint8Array, timeoutMs = 60_000): Promise<Value> {
    return unpack(await this.#client.request(payload, { timeoutMs }));
  }

  /** The fields that prove a load, as an honest minion sends them. */
  proof(): PlainDict {
    return { nonce: newNonce(), ts: Math.floor(Date.now() / 1000), tok: makeToken(this.#key), id: this.id };
  }

  /** What a minion on TCP says first on its publish connection: who it is, under the shared key of its sign-in. */
  identification(id = this.id): Buffer {
    return pack({ enc: 'aes', load: (this.#shared as Crypticle).seal({ id, tok: makeToken(this.#key) }), version: 3 });
  }

  /** A load as the request an honest minion would make of it. */
  seal(load: PlainDict): Buffer {
    return this.sealBytes(pack({ ...load, ...this.proof() }));
  }

  /** Bytes that need be no valid load. */
  sealBytes(packed: Uint8Array): Buffer {
    const load = (this.session as Crypticle).encrypt(Buffer.concat([Buffer.from('pickle::'), packed]));
    return pack({ enc: 'aes', load, version: 3, id: this.id, ...algorithms });
  }

  /** What a sealed reply holds; undefined when the master refused. */
  open(reply: Value): { readonly value: Value } | undefined {
    if (!(reply instanceof Uint8Array)) return undefined;
    const plain = (this.session as Crypticle).decrypt(reply);
    return { value: unpack(plain.subarray('pickle::'.length + newNonce().length)) };
  }
}
