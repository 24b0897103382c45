// Sign-in messages: the request of a minion and the two shapes of the answer.
import { type Dict, dictGet, isDict, type Value } from '../../../base/codec/value.ts';
import { bytesField, dense, dictField, intField, isProblem, type Problem, problem, textField } from './fields.ts';

export interface AuthRequest {
  readonly id: string;
  /** Public key, PEM text as the minion sent it. */
  readonly pub: string;
  /** Random key string under the master's key; only when the minion knows that key. */
  readonly token: Uint8Array | undefined;
  readonly nonce: string | undefined;
  /** Names as sent; absent means the SHA-1 pair. */
  readonly enc_algo: string | undefined;
  readonly sig_algo: string | undefined;
  readonly autosign_grains: Dict | undefined;
}

/** Reads the load of an `_auth`. Whether the id may be used as a file name is for the key store to say. */
export function readAuthRequest(load: Value): AuthRequest | Problem {
  if (!isDict(load)) return problem('the load of _auth is no map', 'payload and load must be a dict');
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
  };
}

/** File systems store no longer names, and ids become keys of many things: nothing longer gets any further. */
const longestId = 255;
/** An id of 32 digits; it comes back in the answer. */
const longestNonce = 128;

/** The id of a load, with Salt's own words for those that are none. */
export function readId(load: Dict): { readonly id: string } | Problem {
  const id = dictGet(load, 'id');
  if (typeof id !== 'string') {
    // Maps from the wire have no prototype, and so no text form.
    const shown = typeof id === 'object' && id !== null ? 'of this type' : String(id ?? null);
    return problem('the id is no text', `bad load: id ${shown} is not a string`);
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
  });
}

/** An answer as it came, before anything is believed. */
export type AuthReply =
  | { readonly kind: 'signed'; readonly load: Uint8Array; readonly sig: Uint8Array }
  /** Not signed: a P0 master, a refused algorithm, or somebody else. */
  | { readonly kind: 'unsigned'; readonly load: Dict }
  /** A plain text such as `bad load`. */
  | { readonly kind: 'text'; readonly text: string };

export function readAuthReply(value: Value): AuthReply | Problem {
  if (typeof value === 'string') return { kind: 'text', text: value };
  if (!isDict(value)) return problem('the answer is not a map');
  const sig = bytesField(value, 'sig');
  const inner = dictGet(value, 'load');
  // A P0 success is the inner map itself, whose `sig` is something else: it has a `pub_key`.
  if (textField(value, 'pub_key') !== undefined) return { kind: 'unsigned', load: value };
  if (isDict(inner)) return { kind: 'unsigned', load: inner };
  const load = bytesField(value, 'load');
  if (load && sig) return { kind: 'signed', load, sig };
  return problem('the answer to _auth has no load');
}

/** The inner map of an answer: either a verdict (`ret`) or the keys. */
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
  /** The master understands what only Halite minions send. */
  readonly halite: boolean;
}

export function readAuthAnswer(value: Value): AuthAnswer | Problem {
  if (!isDict(value)) return problem('the inner part of the answer to _auth is no map');
  const ret = dictGet(value, 'ret');
  return {
    ret: typeof ret === 'boolean' || typeof ret === 'string' ? ret : undefined,
    nonce: textField(value, 'nonce'),
    pub_key: textField(value, 'pub_key'),
    publish_port: intField(value, 'publish_port'),
    pub_sig: textField(value, 'pub_sig'),
    token: bytesField(value, 'token'),
    aes: bytesField(value, 'aes'),
    session: bytesField(value, 'session'),
    sig: bytesField(value, 'sig'),
    halite: dictGet(value, 'halite') === 1,
  };
}
