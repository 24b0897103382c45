// The envelope of every request, and what an opened one must have.
import { type Dict, dictGet, isDict, type Value } from '../../../base/codec/value.ts';
import { readId } from './auth.ts';
import { bytesField, dense, intField, isProblem, type Problem, problem, textField } from './fields.ts';

/** The generation of the request protocol: absent is 0, and nobody ever sent 1. */
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
  /** P3: whose session key opens the load. */
  readonly id: string | undefined;
  readonly enc_algo: string | undefined;
  readonly sig_algo: string | undefined;
}

export type Envelope = ClearEnvelope | SealedEnvelope;

export function readEnvelope(value: Value): Envelope | Problem {
  if (!isDict(value)) return problem('the request is no map');
  const enc = dictGet(value, 'enc');
  const load = dictGet(value, 'load');
  if (load === undefined || typeof enc !== 'string') return problem('the request has no enc or no load');
  const version = Math.max(0, intField(value, 'version') ?? 0);
  if (enc === 'clear') {
    if (!isDict(load)) return problem('the clear load is no map', 'payload and load must be a dict');
    return { enc, load, version };
  }
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

/** What the channel itself reads in an opened load, before any command sees it. */
export interface OpenedLoad {
  readonly cmd: string;
  /** Before P3 minions leave it out where the answer is the same for all. */
  readonly id: string | undefined;
  readonly nonce: string | undefined;
  readonly ts: number | undefined;
  readonly tok: Uint8Array | undefined;
  readonly load: Dict;
}

export function readOpenedLoad(value: Value): OpenedLoad | Problem {
  if (!isDict(value)) return problem('the sealed load is no map');
  const said = dictGet(value, 'id') === undefined ? undefined : readId(value);
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
