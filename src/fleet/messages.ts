// Requests of simulated minions after the sign-in, sealed as each generation of the protocol does it.
import { pack, unpack } from '../base/codec/msgpack/index.ts';
import { isDict, newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { Crypticle, defaultEncAlgo, defaultSigAlgo, oaepDecrypt } from '../base/crypto/index.ts';
import { messageOf } from '../base/errors/index.ts';
import { isProblem } from '../protocol/wire/messages/fields.ts';
import { readPillarContent, readPillarReply, readSignedPillar } from '../protocol/wire/messages/reply.ts';
import { envelopeValue } from '../protocol/wire/messages/request.ts';
import type { MinionKey } from './keys.ts';
import type { Protocol } from './options.ts';

/** `load` may be changed: it is made for this request. */
export function sealRequest(
  protocol: Protocol,
  id: string,
  key: MinionKey,
  session: Crypticle,
  load: PlainDict,
  nonce: string,
): Buffer {
  if (protocol >= 2) load['nonce'] = nonce;
  if (protocol >= 3) load['ts'] = Math.floor(Date.now() / 1000);
  load['tok'] = key.tok;
  load['id'] = id;
  const named = protocol === 3;
  return pack(
    envelopeValue({
      ...{ enc: 'aes', load: session.seal(load), version: protocol, id: named ? id : undefined },
      ...{ enc_algo: named ? defaultEncAlgo : undefined, sig_algo: named ? defaultSigAlgo : undefined },
    }),
  );
}

export type Opened = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly why: string };

const limits = { raw: true, maxDepth: 64, maxItems: 1_000_000 };

/** A reply that is sealed for this minion and answers this request; anything else is a refusal. */
export function openReply(protocol: Protocol, bytes: Uint8Array, session: Crypticle, nonce: string): Opened {
  try {
    const reply = unpack(bytes, limits);
    if (!(reply instanceof Uint8Array)) return { ok: false, why: refusal(reply) };
    if (reply.length < 64) return { ok: false, why: refusal(reply) };
    return { ok: true, value: session.open(reply, protocol >= 2 ? { nonce } : {}) };
  } catch (error) {
    return { ok: false, why: messageOf(error) };
  }
}

/** The pillar, as a real minion opens it. */
export function openPillar(protocol: Protocol, bytes: Uint8Array, key: MinionKey, nonce: string): Opened {
  try {
    const reply = unpack(bytes, limits);
    const outer = readPillarReply(reply);
    if (isProblem(outer)) return { ok: false, why: refusal(reply) };
    const once = new Crypticle(oaepDecrypt(key.privateKey, outer.key));
    if (protocol < 2) return { ok: true, value: once.open(outer.pillar) };
    const signed = readSignedPillar(once.open(outer.pillar, { raw: true }));
    if (isProblem(signed)) return { ok: false, why: signed.problem };
    const content = readPillarContent(unpack(signed.data));
    if (isProblem(content)) return { ok: false, why: content.problem };
    if (content.nonce !== nonce) return { ok: false, why: 'the pillar answers another request' };
    return { ok: true, value: content.pillar };
  } catch (error) {
    return { ok: false, why: messageOf(error) };
  }
}

function refusal(reply: Value): string {
  const text = reply instanceof Uint8Array ? Buffer.from(reply).toString('latin1') : reply;
  if (typeof text === 'string' && /^[\x20-\x7e]{1,100}$/.test(text)) return `the master answered "${text}"`;
  return isDict(text) ? 'the master answered with a map' : 'the master answered with something that is not sealed';
}

export function pillarLoad(grains: PlainDict): PlainDict {
  return newDict(
    Object.entries({
      ...{ cmd: '_pillar', grains, saltenv: null, pillarenv: null },
      ...{ pillar_override: newDict(), extra_minion_data: newDict(), ver: '2' },
    }),
  );
}

export function eventLoad(tag: string, data: Value): PlainDict {
  return newDict([
    ['cmd', '_minion_event'],
    ['pretag', null],
    ['tag', tag],
    ['data', data],
  ]);
}
