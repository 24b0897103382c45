// Many minions in one process, over the real wire: they sign in, subscribe, and answer pings. For measuring masters.
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { pack, unpack } from '../../src/base/codec/msgpack/index.ts';
import type { PlainDict, Value } from '../../src/base/codec/value.ts';
import { Crypticle, makeToken, oaepDecrypt, publicPem } from '../../src/base/crypto/index.ts';
import type { RequestClient, Subscription, Transport } from '../../src/protocol/wire/transport.ts';
import { getTransport } from '../../src/protocol/wire/transports.ts';

const nonce = (): string => randomUUID().replaceAll('-', '');

interface SimulatedMinion {
  readonly id: string;
  session: Crypticle;
}

export class SimulatedFleet {
  readonly #minions: SimulatedMinion[] = [];
  readonly #subscriptions: Subscription[] = [];
  readonly #clients: RequestClient[];
  readonly #key: KeyObject;
  readonly #pem: string;
  readonly #token: Buffer;
  #aes!: Crypticle;
  #publishPort = 0;
  #host = '';
  /** Sends a result until it is acknowledged, and signs in again when it has to, as real minions do. */
  #steady = false;
  #closed = false;
  #renewal: Promise<void> | undefined;
  /** Answers sent and acknowledged. */
  answered = 0;
  /** Answers begun. */
  sent = 0;
  /** Which ones: `<jid> <minion>`. */
  readonly acknowledged = new Set<string>();

  private constructor(clients: RequestClient[]) {
    this.#clients = clients;
    // One key for all: making keys is not what is measured.
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    this.#key = privateKey;
    this.#pem = publicPem(publicKey);
    this.#token = makeToken(privateKey);
  }

  static async start(
    port: number,
    count: number,
    options: { subscribe?: boolean; prefix?: string; host?: string; steady?: boolean } = {},
  ): Promise<SimulatedFleet> {
    const transport = await getTransport('zeromq');
    const { host = '127.0.0.1' } = options;
    const fleet = new SimulatedFleet(Array.from({ length: 4 }, () => transport.dial({ host, port })));
    fleet.#host = host;
    fleet.#steady = options.steady === true;
    for (let at = 0; at < count; at++) {
      const id = `${options.prefix ?? 'sim'}-${String(at).padStart(4, '0')}`;
      fleet.#minions.push({ id, session: await fleet.#signIn(id) });
    }
    if (options.subscribe !== false) for (const minion of fleet.#minions) await fleet.#subscribe(transport, minion);
    return fleet;
  }

  close(): void {
    this.#closed = true;
    for (const subscription of this.#subscriptions) subscription.close();
    for (const client of this.#clients) client.close();
  }

  /** Every minion asks for its pillar, sixteen at a time; the sizes of the answers in bytes. */
  async pillars(grains: PlainDict, count: number): Promise<number[]> {
    const sizes: number[] = [];
    const waiting = this.#minions.slice(0, count);
    const ask = async (): Promise<void> => {
      for (let minion = waiting.pop(); minion; minion = waiting.pop()) sizes.push(await this.#pillar(minion, grains));
    };
    await Promise.all(Array.from({ length: 16 }, ask));
    return sizes;
  }

  async #pillar(minion: SimulatedMinion, grains: PlainDict): Promise<number> {
    const load: PlainDict = {
      ...{ cmd: '_pillar', id: minion.id, grains: { ...grains, id: minion.id }, saltenv: 'base', pillarenv: null },
      ...{ pillar_override: {}, extra_minion_data: {}, ver: '2', nonce: nonce(), tok: this.#token },
    };
    return (await this.ask(this.seal(this.#minions.indexOf(minion), load), 120_000)).length;
  }

  /** All sign in again, as after a new AES key of the master. */
  async renew(): Promise<void> {
    for (const minion of this.#minions) minion.session = await this.#signIn(minion.id);
  }

  /** A request of one of them, with any content, ready to be sent: once or again. */
  seal(at: number, load: PlainDict): Buffer {
    const { id, session } = this.#minions[at]!;
    return pack({
      ...{ enc: 'aes', load: session.seal({ id, nonce: nonce(), tok: this.#token, ...load }), version: 3, id },
      ...{ enc_algo: 'OAEP-SHA1', sig_algo: 'PKCS1v15-SHA1' },
    });
  }

  /** Sends ready bytes; the answer as it came. */
  ask(request: Buffer, timeoutMs = 30_000): Promise<Uint8Array> {
    return this.#client().request(request, { timeoutMs });
  }

  #client(): RequestClient {
    return this.#clients[Math.floor(Math.random() * this.#clients.length)]!;
  }

  async #signIn(id: string): Promise<Crypticle> {
    const load = { cmd: '_auth', id, pub: this.#pem, nonce: nonce(), enc_algo: 'OAEP-SHA1', sig_algo: 'PKCS1v15-SHA1' };
    const reply = unpack(
      await this.#client().request(pack({ enc: 'clear', load, version: 3 }), { timeoutMs: 30_000 }),
      { raw: true },
    );
    const inner = unpack((reply as PlainDict)['load'] as Uint8Array, { raw: true }) as PlainDict;
    const open = (name: string): string => oaepDecrypt(this.#key, inner[name] as Uint8Array).toString();
    this.#aes = new Crypticle(open('aes'));
    this.#publishPort = Number(inner['publish_port']);
    return new Crypticle(open('session'));
  }

  async #subscribe(transport: Transport, minion: SimulatedMinion): Promise<void> {
    const subscription = await new Promise<Subscription>((resolve, reject) => {
      let made: Subscription | undefined;
      const ready = (): void => {
        if (made) resolve(made);
      };
      transport
        .subscribe({
          host: this.#host,
          port: this.#publishPort,
          id: minion.id,
          reconnectMinMs: 100,
          reconnectMaxMs: 1000,
          // Answers on their way when the fleet closes are lost on purpose.
          onPublish: (payload) => void this.#receive(minion, payload).catch(() => {}),
          onState: (state) => state === 'connected' && setImmediate(ready),
        })
        .then((result) => {
          made = result;
        }, reject);
    });
    this.#subscriptions.push(subscription);
  }

  async #receive(minion: SimulatedMinion, payload: Uint8Array): Promise<void> {
    const job = await this.#open(payload);
    const tgt = job['tgt'];
    if (Array.isArray(tgt) && !tgt.includes(minion.id)) return;
    const value: Value = job['fun'] === 'test.ping' ? true : {};
    const load: PlainDict = {
      cmd: '_return',
      id: minion.id,
      jid: job['jid'] as string,
      fun: job['fun'] as string,
      fun_args: [],
      return: value,
      retcode: 0,
      success: true,
      ts: Math.floor(Date.now() / 1000),
      tok: this.#token,
    };
    this.sent++;
    await this.#deliver(minion, load);
    this.answered++;
    this.acknowledged.add(`${String(job['jid'])} ${minion.id}`);
  }

  async #deliver(minion: SimulatedMinion, load: PlainDict): Promise<void> {
    for (let attempt = 0; !this.#closed; attempt++) {
      const { id, session } = minion;
      const request = pack({
        enc: 'aes',
        load: session.seal({ ...load, nonce: nonce() }),
        version: 3,
        id,
        enc_algo: 'OAEP-SHA1',
        sig_algo: 'PKCS1v15-SHA1',
      });
      try {
        const reply = await this.#client().request(request, { timeoutMs: this.#steady ? 5_000 : 60_000 });
        if (!this.#steady) return;
        // What is no answer under the session is a refusal: sign in again.
        session.decrypt(unpack(reply, { raw: true }) as Uint8Array);
        return;
      } catch (error) {
        if (!this.#steady) throw error;
        if (attempt > 0) minion.session = await this.#signIn(id).catch(() => minion.session);
      }
    }
    throw new Error('the fleet was closed');
  }

  /** The job in a publication; under a key that this fleet does not know, after it has signed in again. */
  async #open(payload: Uint8Array): Promise<PlainDict> {
    const sealed = (unpack(payload, { raw: true }) as PlainDict)['load'] as Uint8Array;
    try {
      return this.#aes.open(sealed) as PlainDict;
    } catch (error) {
      if (!this.#steady) throw error;
      this.#renewal ??= this.#signIn(this.#minions[0]!.id)
        .then(() => undefined)
        .finally(() => {
          this.#renewal = undefined;
        });
      await this.#renewal;
      return this.#aes.open(sealed) as PlainDict;
    }
  }
}
