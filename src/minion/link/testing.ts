// A master in memory for tests: real cryptography, no sockets, and options for every failure.
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { loadMinionConfig, type MinionOpts } from '../../base/config/index.ts';
import {
  Crypticle,
  cleanKey,
  loadPublicKey,
  oaepDecrypt,
  oaepEncrypt,
  signPkcs1,
  verifyToken,
  x931Sign,
} from '../../base/crypto/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { RequestClient, SubscribeOptions, Transport } from '../../protocol/wire/transport.ts';

const vectors = new URL('../../../test/fixtures/vectors/', import.meta.url);
const read = (name: string) => JSON.parse(readFileSync(new URL(name, vectors), 'utf8'));
export const testKeys = read('keys.json') as Record<'master' | 'minion' | 'master_sign', { pem: string; pub: string }>;
export const recorded = (version: string) => read(`session-${version}.json`);

type Answer = PlainDict | string | undefined;

export class FakeMaster {
  key: KeyObject = createPrivateKey(testKeys.master.pem);
  keyText = cleanKey(testKeys.master.pub);
  /** 'accept', or the value of `ret`. */
  decision: 'accept' | true | false | 'full' = 'accept';
  generation: 0 | 2 | 3 = 3;
  halite = true;
  aes = new Crypticle(Crypticle.generateKeyString());
  session = new Crypticle(Crypticle.generateKeyString());
  serial = 0;
  /** All requests of minions, in order. */
  readonly requests: PlainDict[] = [];
  signIns = 0;
  /** Changes the finished inner map of a sign-in reply. */
  tamperInner: (inner: PlainDict) => void = () => undefined;
  tamperReply: (reply: PlainDict) => Answer = (reply) => reply;
  /** Answers an encrypted request; a bare text is sent unencrypted. */
  handle: (load: PlainDict) => Value | Promise<Value> = () => null;
  /** Sent unchanged instead of an encrypted reply, once each. */
  readonly plainReplies: Value[] = [];
  pillar: PlainDict = newDict([['from', 'master']]);
  pubSig: string | undefined;
  down = false;
  subscriber: SubscribeOptions | undefined;
  presence: string[] = [];

  readonly transport: Transport = {
    name: 'zeromq',
    listenRequests: () => Promise.reject(new Error('not here')),
    listenPublish: () => Promise.reject(new Error('not here')),
    dial: (): RequestClient => ({
      request: async (payload) => {
        await Promise.resolve();
        if (this.down) throw new HaliteError('wire.timeout', 'No answer in time');
        return pack(await this.#answer(unpack(payload) as PlainDict, unpack(payload, { raw: true }) as PlainDict));
      },
      close: () => undefined,
    }),
    subscribe: async (options) => {
      this.subscriber = options;
      if (options.presenceTopic) this.presence.push(options.presenceTopic);
      queueMicrotask(() => options.onState('connected', ''));
      return { setPresence: (topic) => void this.presence.push(topic), close: () => undefined };
    },
  };

  /** A new shared key, as at a restart or after a key was deleted. */
  rotate(): void {
    this.aes = new Crypticle(Crypticle.generateKeyString());
    this.serial = 0;
  }

  /** Sends a job to the subscriber. */
  publish(job: PlainDict, change: (envelope: PlainDict) => void = () => undefined): void {
    this.subscriber?.onPublish(this.publishPayload(job, change));
  }

  publishPayload(job: PlainDict, change: (envelope: PlainDict) => void = () => undefined): Buffer {
    const load = this.aes.seal(newDict([...Object.entries(job), ['serial', ++this.serial]]));
    const envelope = newDict([
      ['enc', 'aes'],
      ['load', load],
      ['sig_algo', 'PKCS1v15-SHA1'],
      ['sig', signPkcs1(this.key, load)],
    ]);
    change(envelope);
    return pack(envelope);
  }

  async #answer(envelope: PlainDict, raw: PlainDict): Promise<Value> {
    if (envelope['enc'] === 'clear') {
      const load = envelope['load'] as PlainDict;
      return load['cmd'] === 'ping' ? load : this.#signIn(load, (raw['load'] as PlainDict)['token']);
    }
    if (this.plainReplies.length > 0) return this.plainReplies.shift()!;
    const key = this.generation === 3 ? this.session : this.aes;
    let load: PlainDict;
    try {
      load = key.open(raw['load'] as Uint8Array) as PlainDict;
    } catch {
      return 'bad load';
    }
    const token = (key.open(raw['load'] as Uint8Array, { raw: true }) as PlainDict)['tok'] as Uint8Array;
    if (!verifyToken(createPublicKey(testKeys.minion.pub), token)) return 'bad load';
    const nonce = load['nonce'] as string;
    this.requests.push(newDict(Object.entries(load).filter(([name]) => !['nonce', 'tok', 'ts'].includes(name))));
    if (load['cmd'] === '_pillar') return this.#sealPillar(nonce);
    return key.seal(await this.handle(load), this.generation >= 2 ? nonce : undefined);
  }

  #sealPillar(nonce: string): Value {
    const text = Crypticle.generateKeyString();
    const key = oaepEncrypt(loadPublicKey(testKeys.minion.pub), text);
    const data = pack(
      newDict([
        ['key', key],
        ['pillar', this.pillar],
        ['nonce', nonce],
      ]),
    );
    return newDict([
      ['key', key],
      [
        'pillar',
        new Crypticle(text).seal(
          newDict([
            ['data', data],
            ['sig', signPkcs1(this.key, data)],
          ]),
        ),
      ],
    ]);
  }

  #signIn(load: PlainDict, token: Value | undefined): Value {
    this.signIns++;
    const inner = this.decision === 'accept' ? this.#grant(load, token) : newDict([['ret', this.decision]]);
    if (this.generation === 0) {
      this.tamperInner(inner);
      return (
        this.tamperReply(
          this.decision === 'accept'
            ? inner
            : newDict([
                ['enc', 'clear'],
                ['load', inner],
              ]),
        ) ?? null
      );
    }
    inner['nonce'] = load['nonce'] ?? null;
    this.tamperInner(inner);
    const packed = pack(inner);
    return (
      this.tamperReply(
        newDict([
          ['enc', 'clear'],
          ['load', packed],
          ['sig', signPkcs1(this.key, packed)],
        ]),
      ) ?? null
    );
  }

  #grant(load: PlainDict, token: Value | undefined): PlainDict {
    const minion = loadPublicKey(String(load['pub']));
    const inner = newDict([
      ['enc', 'pub'],
      ['pub_key', this.keyText],
      ['publish_port', 14505],
    ]);
    if (this.pubSig !== undefined) inner['pub_sig'] = this.pubSig;
    if (token instanceof Uint8Array) {
      try {
        inner['token'] = oaepEncrypt(minion, oaepDecrypt(this.key, token));
      } catch {
        // As real masters: a token that cannot be decrypted is omitted.
      }
    }
    inner['aes'] = oaepEncrypt(minion, this.aes.keyString);
    if (this.generation === 3) inner['session'] = oaepEncrypt(minion, this.session.keyString);
    inner['sig'] = x931Sign(this.key, Buffer.from(createHash('sha256').update(this.aes.keyString).digest('hex')));
    if (this.halite) inner['halite'] = 1;
    return inner;
  }
}

/** A configuration folder of its own, with the test key pair in place. */
export function testFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'halite-minion-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Options for a minion below `folder`. */
export function testOpts(folder: string, overrides: PlainDict = newDict()): MinionOpts {
  const base: PlainDict = {
    id: 'm1',
    master: 'salt.example',
    root_dir: folder,
    pki_dir: '/pki',
    cachedir: '/cache',
    conf_file: join(folder, 'minion'),
    acceptance_wait_time: 0.05,
    auth_timeout: 1,
  };
  const { opts } = loadMinionConfig({
    configDir: folder,
    env: {},
    overrides: newDict([...Object.entries(base), ...Object.entries(overrides)]),
  });
  return opts;
}

/** Waits for a condition, with a deadline. */
export async function eventually(check: () => boolean | Promise<boolean>, ms = 45_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await check())) {
    if (Date.now() > end) throw new Error('condition not met in time');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
