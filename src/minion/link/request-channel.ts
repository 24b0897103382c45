// Requests to one master: encrypted, with a nonce, and repeated after a new sign-in when the keys have changed.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { type ChunkRequest, Crypticle, oaepDecrypt, verifyPkcs1 } from '../../base/crypto/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { withTimeout } from '../../base/util/with-timeout.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import {
  isRetryLater,
  readPillarContent,
  readPillarReply,
  readSignedPillar,
} from '../../protocol/wire/messages/reply.ts';
import { envelopeValue, openToFleet } from '../../protocol/wire/messages/request.ts';
import type { RequestClient } from '../../protocol/wire/transport.ts';
import type { Credentials } from './auth-reply.ts';
import type { Identity } from './identity.ts';

export interface ChannelOptions {
  readonly identity: Identity;
  readonly client: RequestClient;
  /** The keys of the last sign-in; waits for the first. */
  readonly credentials: () => Promise<Credentials>;
  /** Signs in again unless that has already happened since `stale`. */
  readonly renew: (stale: Credentials) => Promise<Credentials>;
}

export interface RequestOptions {
  readonly timeoutMs: number;
  /** Byte strings in the reply stay bytes (file chunks). */
  readonly raw?: boolean;
  /** Fields of the load that only a Halite master receives. */
  readonly halite?: PlainDict;
  readonly signal?: AbortSignal;
}

/** A master of a cluster that is not ready asks to retry later. */
const clusterRetries = 5;

/** The reply shows that the master does not have our keys (any more). */
class StaleKeys extends Error {
  /** Thrown when new keys have not helped. */
  get lasting(): HaliteError {
    if (this.cause instanceof HaliteError) return this.cause;
    return new HaliteError('auth.failed', `The master refuses the request: ${this.message}`);
  }
}

export class RequestChannel {
  readonly #options: ChannelOptions;

  constructor(options: ChannelOptions) {
    this.#options = options;
  }

  /** One request, one reply value. */
  request(load: PlainDict, options: RequestOptions): Promise<Value> {
    return this.#exchange(load, options, (reply, keys, nonce) => {
      const chunk = Array.isArray(reply) ? askedChunk(load, ownFields(options, keys)) : undefined;
      return chunk ? this.#openChunk(reply, chunk, keys, nonce) : this.#openReply(reply, keys, nonce, options);
    });
  }

  /** A request whose reply is encrypted for this minion alone and signed by the master (`_pillar`). */
  requestPrivate(load: PlainDict, options: RequestOptions): Promise<Value> {
    return this.#exchange(load, options, (reply, keys, nonce) => this.#openPrivate(reply, keys, nonce));
  }

  async #exchange(
    load: PlainDict,
    options: RequestOptions,
    read: (reply: Value, keys: Credentials, nonce: string) => Value,
  ): Promise<Value> {
    let keys = await inTime(this.#options.credentials(), options);
    let renewed = false;
    for (let patience = clusterRetries; ; ) {
      const { payload, nonce } = this.#seal(load, keys, options);
      const bytes = await this.#options.client.request(payload, options);
      const reply = unpack(bytes, { raw: true });
      if (isRetryLater(reply) && patience-- > 0) {
        await sleep(1000 + Math.random() * 1000, undefined, { signal: options.signal });
        continue;
      }
      try {
        return read(reply, keys, nonce);
      } catch (error) {
        if (!(error instanceof StaleKeys)) throw error;
        if (renewed) throw error.lasting;
        renewed = true;
        keys = await inTime(this.#options.renew(keys), options);
      }
    }
  }

  #seal(load: PlainDict, keys: Credentials, options: RequestOptions): { payload: Buffer; nonce: string } {
    const { identity } = this.#options;
    const nonce = randomUUID().replaceAll('-', '');
    const { generation } = keys;
    const inner = newDict([...Object.entries(load), ...Object.entries(ownFields(options, keys))]);
    if (generation >= 2) inner['nonce'] = nonce;
    if (generation >= 3) inner['ts'] = Math.floor(Date.now() / 1000);
    // Masters of 2019.2 on Python 2 fail on bytes where they expect text.
    if (generation >= 3 || !openToFleet.has(String(load['cmd']))) {
      inner['tok'] = identity.tok;
      inner['id'] = identity.id;
    }
    const envelope = {
      ...{ enc: 'aes' as const, load: keys.session.seal(inner), version: generation },
      id: generation >= 3 ? identity.id : undefined,
      enc_algo: generation >= 2 ? identity.encAlgo : undefined,
      sig_algo: generation >= 2 ? identity.sigAlgo : undefined,
    };
    return { payload: pack(envelopeValue(envelope)), nonce };
  }

  #openReply(reply: Value, keys: Credentials, nonce: string, options: RequestOptions): Value {
    if (!(reply instanceof Uint8Array)) throw new StaleKeys('the reply is not encrypted');
    if (isPlainText(reply)) throw plainAnswer(reply);
    try {
      return keys.session.open(reply, { nonce: keys.generation >= 2 ? nonce : undefined, raw: options.raw === true });
    } catch (error) {
      if (error instanceof HaliteError && error.code === 'crypto.verify') throw new StaleKeys(error.message);
      throw error;
    }
  }

  #openChunk(reply: Value, chunk: AskedChunk, keys: Credentials, nonce: string): Value {
    const request = { nonce, id: this.#options.identity.id, ...chunk };
    try {
      return newDict([['data', keys.session.chunks.open(reply, request)]]);
    } catch (error) {
      throw new StaleKeys(messageOf(error), { cause: error });
    }
  }

  #openPrivate(reply: Value, keys: Credentials, nonce: string): Value {
    if (reply instanceof Uint8Array && isPlainText(reply)) throw plainAnswer(reply);
    const outer = readPillarReply(reply);
    if (isProblem(outer)) throw new StaleKeys(outer.problem);
    const { identity } = this.#options;
    const once = new Crypticle(oaepDecrypt(identity.privateKey, outer.key, identity.encAlgo));
    if (keys.generation < 2) return once.open(outer.pillar);
    const signed = readSignedPillar(once.open(outer.pillar, { raw: true }));
    if (isProblem(signed)) throw notTrusted('is not signed');
    if (!verifyPkcs1(keys.masterKey, signed.data, signed.sig, identity.sigAlgo))
      throw notTrusted('has a wrong signature');
    // The signed map contains its encryption key and the nonce of the request; both must be ours.
    const content = readPillarContent(unpack(signed.data));
    if (isProblem(content) || !Buffer.from(content.key).equals(outer.key)) throw notTrusted('was made for another key');
    if (content.nonce !== nonce) throw notTrusted('answers another request');
    return content.pillar;
  }
}

const none = newDict();

/** Real masters never get these, nor do masters that share one key among all minions. */
function ownFields({ halite }: RequestOptions, keys: Credentials): PlainDict {
  return halite && keys.halite && keys.generation >= 3 ? halite : none;
}

type AskedChunk = Pick<ChunkRequest, 'path' | 'saltenv' | 'loc'>;

/**
 * The requested chunk of a file: a master that supports the field answers in the format of ADR 0009, another in Salt's.
 */
function askedChunk({ cmd, path, saltenv, loc = 0 }: PlainDict, own: PlainDict): AskedChunk | undefined {
  if (cmd !== '_serve_file' || own['chunk'] === undefined || typeof loc !== 'number') return undefined;
  return typeof path === 'string' && typeof saltenv === 'string' ? { path, saltenv, loc } : undefined;
}

/** A sign-in may take arbitrarily long (a key that waits for acceptance); a request may not. */
async function inTime<T>(waiting: Promise<T>, options: RequestOptions): Promise<T> {
  let aborted: (() => void) | undefined;
  const givenUp = new Promise<never>((_, reject) => {
    aborted = () => reject(new HaliteError('wire.closed', 'The request was cancelled'));
    options.signal?.addEventListener('abort', aborted, { once: true });
  });
  try {
    return await withTimeout(Promise.race([waiting, givenUp]), options.timeoutMs, () => {
      throw new HaliteError('wire.timeout', 'Not signed in at the master');
    });
  } finally {
    if (aborted) options.signal?.removeEventListener('abort', aborted);
  }
}

function notTrusted(what: string): HaliteError {
  return new HaliteError('crypto.verify', `The pillar of the master ${what}`);
}

/** Encrypted replies are at least 64 random bytes; refusals are short printable texts. */
function isPlainText(reply: Uint8Array): boolean {
  return reply.length < 80 && reply.every((byte) => byte >= 32 && byte < 127);
}

function plainAnswer(reply: Uint8Array): Error {
  const text = Buffer.from(reply).toString('latin1');
  return text.startsWith('bad load')
    ? new StaleKeys(text)
    : new HaliteError('wire.closed', `The master answered "${text}"`);
}
