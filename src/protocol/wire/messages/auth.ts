// Sign-in messages: the request of a minion and the two forms of the answer.

import { bytesField, dictField, intField, numberField, textField } from '../../../base/codec/fields.ts';
import { asText, type Dict, dictGet, isDict, pyFloat, type Value } from '../../../base/codec/value.ts';
import { type ClusterInfo, clusterField, readClusterInfo } from './cluster.ts';
import { dense, isProblem, type Problem, problem } from './fields.ts';

export interface AuthRequest {
  readonly id: string;
  /** Public key, PEM text as the minion sent it. */
  readonly pub: string;
  /** Random key string, encrypted with the master's key; only when the minion has that key. */
  readonly token: Uint8Array | undefined;
  readonly nonce: string | undefined;
  /** Names as sent; absent means SHA-1 for both. */
  readonly enc_algo: string | undefined;
  readonly sig_algo: string | undefined;
  readonly autosign_grains: Dict | undefined;
  /** A Halite minion, which wants to know the cluster of its master. */
  readonly halite: boolean;
  /** It takes a new key of its master that the key before signed. */
  readonly nextKey: boolean;
  /** It demands `pub_sig`; a Halite minion says so. */
  readonly wantsSig: boolean;
}

/** Reads the load of an `_auth`. The key store decides whether the id is acceptable as a file name. */
export function readAuthRequest(load: Value): AuthRequest | Problem {
  if (!isDict(load)) return problem('the load of _auth is not a map', 'payload and load must be a dict');
  const id = readId(load);
  if (isProblem(id)) return id;
  const nonce = textField(load, 'nonce');
  if (nonce !== undefined && nonce.length > longestNonce) return problem('the nonce of _auth is far too long');
  return {
    id: id.id,
    pub: textField(load, 'pub') ?? '',
    token: bytesField(load, 'token'),
    nonce,
    enc_algo: textField(load, 'enc_algo'),
    sig_algo: textField(load, 'sig_algo'),
    autosign_grains: dictField(load, 'autosign_grains'),
    halite: dictGet(load, 'halite') === 1,
    nextKey: dictGet(load, nextKeyField) === 1,
    wantsSig: dictGet(load, 'wants_sig') === 1,
  };
}

/** In a request: such a text is understood. In an answer: the text, empty while there is none. */
export const nextKeyField = 'next_key';
const longestNextKey = 20_000;

/** File systems do not store longer names, and ids become keys in many places: longer ids are refused here. */
const longestId = 255;
/** Real minions send 32 digits; it is returned in the answer. */
const longestNonce = 128;

/** The id of a load, with Salt's messages for invalid ones. */
export function readId(load: Dict): { readonly id: string } | Problem {
  const id = dictGet(load, 'id');
  if (typeof id !== 'string') {
    // Maps from the wire have no prototype, and therefore no text form.
    const shown = typeof id === 'object' && id !== null ? 'of this type' : String(id ?? null);
    return problem('the id is not text', `bad load: id ${shown} is not a string`);
  }
  if (id.length > longestId) return problem('the id is far too long', 'bad load: id is too long');
  if (id.includes('\0')) return problem('the id has a null byte', 'bad load: id contains a null byte');
  return { id };
}

/** The load to send; fields in the order Salt writes them. */
export function authLoad(request: AuthRequest): Dict {
  return dense({
    cmd: '_auth',
    id: request.id,
    nonce: request.nonce,
    pub: request.pub,
    enc_algo: request.enc_algo,
    sig_algo: request.sig_algo,
    autosign_grains: request.autosign_grains,
    token: request.token,
    halite: request.halite ? 1 : undefined,
    [nextKeyField]: request.nextKey ? 1 : undefined,
    wants_sig: request.wantsSig ? 1 : undefined,
  });
}

/** The `ret` of an answer that only tells a Halite minion when to come back. */
const busyWord = 'busy';
const retryAfterField = 'retry_after';

/**
 * The answer of a master that has too many sign-ins to do, as the peer understands it; undefined for minions of Salt from
 * P2 on, which believe nothing that is not signed, and signing would be the work that there is too much of.
 */
export function laterAnswer(load: Dict, version: number): ((seconds: number) => Value) | undefined {
  if (dictGet(load, 'halite') === 1) {
    return (seconds) => ({ enc: 'clear', load: dense({ ret: busyWord, [retryAfterField]: pyFloat(seconds) }) });
  }
  // As if its key was not accepted yet: it asks again after its acceptance_wait_time.
  return version < 2 ? () => ({ enc: 'clear', load: dense({ ret: true }) }) : undefined;
}

/** An answer as received, not yet verified. */
export type AuthReply =
  | { readonly kind: 'signed'; readonly load: Uint8Array; readonly sig: Uint8Array }
  /** Not signed: a P0 master, a refused algorithm, or an attacker. */
  | { readonly kind: 'unsigned'; readonly load: Dict }
  /** A plain text such as `bad load`. */
  | { readonly kind: 'text'; readonly text: string };

export function readAuthReply(value: Value): AuthReply | Problem {
  if (typeof value === 'string') return { kind: 'text', text: value };
  if (!isDict(value)) return problem('the answer is not a map');
  const sig = bytesField(value, 'sig');
  const inner = dictGet(value, 'load');
  // A P0 success is the inner map itself, whose `sig` has another meaning: it is recognized by `pub_key`.
  if (textField(value, 'pub_key') !== undefined) return { kind: 'unsigned', load: value };
  if (isDict(inner)) return { kind: 'unsigned', load: inner };
  const load = bytesField(value, 'load');
  if (load && sig) return { kind: 'signed', load, sig };
  return problem('the answer to _auth has no load');
}

/** The inner map of an answer: either a refusal or wait (`ret`), or the keys. */
export interface AuthAnswer {
  /** `true` pending, `false` refused, or a text (`full`, `bad enc algo`, `bad sig algo`); absent on success. */
  readonly ret: boolean | string | undefined;
  readonly nonce: string | undefined;
  readonly pub_key: string | undefined;
  readonly publish_port: number | undefined;
  readonly pub_sig: string | undefined;
  readonly token: Uint8Array | undefined;
  readonly aes: Uint8Array | undefined;
  readonly session: Uint8Array | undefined;
  readonly sig: Uint8Array | undefined;
  /** The master supports what only Halite minions send. */
  readonly halite: boolean;
  /** The cluster it is a member of; only of a Halite master. */
  readonly cluster: ClusterInfo | undefined;
  /** What it says about its next key; empty while there is none, absent from a master that never says anything. */
  readonly nextKey: string | undefined;
  /** Seconds after which to ask again; only of a master that is too busy to answer. */
  readonly retryAfter: number | undefined;
}

export function readAuthAnswer(value: Value): AuthAnswer | Problem {
  if (!isDict(value)) return problem('the inner part of the answer to _auth is not a map');
  const ret = dictGet(value, 'ret');
  const halite = dictGet(value, 'halite') === 1;
  const nextKey = halite ? textField(value, nextKeyField) : undefined;
  return {
    ret: typeof ret === 'boolean' ? ret : asText(ret),
    nonce: textField(value, 'nonce'),
    pub_key: textField(value, 'pub_key'),
    publish_port: intField(value, 'publish_port'),
    pub_sig: textField(value, 'pub_sig'),
    token: bytesField(value, 'token'),
    aes: bytesField(value, 'aes'),
    session: bytesField(value, 'session'),
    sig: bytesField(value, 'sig'),
    halite,
    cluster: halite ? readClusterInfo(dictGet(value, clusterField)) : undefined,
    nextKey: nextKey !== undefined && nextKey.length <= longestNextKey ? nextKey : undefined,
    retryAfter: ret === busyWord ? numberField(value, retryAfterField) : undefined,
  };
}
