// The envelope of every request, and the fields that a decrypted one must have.

import { bytesField, intField, listField, textField } from '../../../base/codec/fields.ts';
import { PackedValue, type UnpackOptions, unpack, unpackShallow } from '../../../base/codec/msgpack/index.ts';
import { type Dict, dictGet, isDict, type Value } from '../../../base/codec/value.ts';
import { readId } from './auth.ts';
import { dense, isProblem, type Problem, problem } from './fields.ts';

/** The generation of the request protocol: absent is 0; 1 was never used. */
export type Generation = number;

export interface ClearEnvelope {
  readonly enc: 'clear';
  readonly load: Dict;
  readonly version: Generation;
}

export interface SealedEnvelope {
  readonly enc: 'aes';
  readonly load: Uint8Array;
  readonly version: Generation;
  /** P3: the minion whose session key decrypts the load. */
  readonly id: string | undefined;
  readonly enc_algo: string | undefined;
  readonly sig_algo: string | undefined;
}

export type Envelope = ClearEnvelope | SealedEnvelope;

/** Commands of API hosts have their arguments in clear text; all other clear messages are much shorter. */
const maxClearBytes = 4 * 1024 * 1024;
/** Deeper than any real message, and within the stack. */
const maxDepth = 64;
/** The sender is unknown: a clear load may use little more memory than its length. */
const clearLimits = { maxDepth, maxItems: 200_000, maxCost: 10 * 1024 * 1024, maxBytes: maxClearBytes };
const envelopeLimits = { ...clearLimits, maxFields: 16, longText: 512 };

/**
 * Reads only the outermost map; an encrypted load stays as bytes, of any length. Throws HaliteError codec.* for
 * input that is not msgpack or exceeds the limits.
 */
export function readEnvelope(payload: Uint8Array): Envelope | Problem {
  const value = unpackShallow(payload, envelopeLimits);
  if (!value) return problem('the request is not a map');
  const { enc, load } = value;
  if (load === undefined || typeof enc !== 'string') return problem('the request has no enc or no load');
  const version = Math.max(0, intField(value, 'version') ?? 0);
  if (enc === 'clear') {
    const dict = load instanceof PackedValue ? unpack(load, clearLimits) : undefined;
    if (!isDict(dict)) return problem('the clear load is not a map', 'payload and load must be a dict');
    return { enc, load: dict, version };
  }
  if (load instanceof PackedValue) return problem('the encrypted load is not a byte string');
  const sealed = bytesField(value, 'load');
  if (enc !== 'aes' || !sealed) return problem(`the request has an unknown form (enc ${enc.slice(0, 20)})`);
  return {
    enc,
    load: sealed,
    version,
    id: textField(value, 'id'),
    enc_algo: textField(value, 'enc_algo'),
    sig_algo: textField(value, 'sig_algo'),
  };
}

export function envelopeValue(envelope: Envelope): Dict {
  if (envelope.enc === 'clear') return dense({ enc: 'clear', load: envelope.load, version: envelope.version });
  const { load, version, id, enc_algo, sig_algo } = envelope;
  return dense({ enc: 'aes', load, version: version > 0 ? version : undefined, id, enc_algo, sig_algo });
}

/**
 * Commands whose answer is the same for every accepted minion. Before P3 minions send neither id nor token with them.
 */
export const openToFleet: ReadonlySet<string> = new Set([
  '_master_opts',
  '_file_envs',
  '_file_find',
  '_file_hash',
  '_file_hash_and_stat',
  '_file_list',
  '_file_list_emptydirs',
  '_dir_list',
  '_symlink_list',
  '_serve_file',
]);

/**
 * Fields that authenticate a request: only for the channel. They are removed from forwarded loads (events, results).
 */
export const proofFields: ReadonlySet<Value> = new Set(['nonce', 'tok']);

/** The fields that the channel itself reads in a decrypted load, before the command's handler. */
export interface OpenedLoad {
  readonly cmd: string;
  /** Before P3 minions omit it where the answer is the same for all. */
  readonly id: string | undefined;
  readonly nonce: string | undefined;
  readonly ts: number | undefined;
  readonly tok: Uint8Array | undefined;
  readonly load: Dict;
}

/** Heap that a load may use in addition to its own length: about two hundred thousand small maps. */
const baseCost = 64 * 1024 * 1024;
/** A result of this size or larger is forwarded without decoding. */
const longReturn = 256 * 1024;

/**
 * Limits for an encrypted load of this many bytes; `bundles` for syndics, which send the results of many minions at
 * once.
 */
export function openLimits(bytes: number, bundles: boolean): UnpackOptions {
  return {
    maxDepth,
    maxCost: baseCost + bytes * (bundles ? 8 : 1),
    packed: { field: 'return', from: longReturn, maxCost: baseCost + bytes * 8 },
  };
}

export function readOpenedLoad(value: Value): OpenedLoad | Problem {
  if (!isDict(value)) return problem('the encrypted load is not a map');
  const named = dictGet(value, 'id') === undefined ? firstBundle(value) : value;
  const said = named && readId(named);
  if (said && isProblem(said)) return said;
  return {
    cmd: textField(value, 'cmd') ?? '',
    id: said?.id,
    nonce: textField(value, 'nonce'),
    ts: intField(value, 'ts'),
    tok: bytesField(value, 'tok'),
    load: value,
  };
}

/** Syndics before P3 say who they are only in each bundle of results. */
function firstBundle(value: Dict): Dict | undefined {
  if (textField(value, 'cmd') !== '_syndic_return') return undefined;
  const [first] = listField(value, 'load') ?? [];
  return first !== undefined && isDict(first) && dictGet(first, 'id') !== undefined ? first : undefined;
}
