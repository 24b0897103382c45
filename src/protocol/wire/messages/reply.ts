// Replies of a master that are neither encrypted nor signed as a whole: pillar, and the request to retry later.

import { bytesField, textField } from '../../../base/codec/fields.ts';
import { dictGet, isDict, type Value } from '../../../base/codec/value.ts';
import { type Problem, problem } from './fields.ts';

/** `_pillar`: encrypted with a one-time key that only the minion can decrypt. */
export interface PillarReply {
  readonly key: Uint8Array;
  readonly pillar: Uint8Array;
}

export function readPillarReply(value: Value): PillarReply | Problem {
  if (!isDict(value)) return problem('the pillar reply is not a map');
  const error = textField(value, 'error');
  if (error !== undefined) return problem(`the master refused: ${error.slice(0, 500)}`);
  const key = bytesField(value, 'key');
  const pillar = bytesField(value, 'pillar');
  return key && pillar ? { key, pillar } : problem('the pillar reply has no key or no pillar');
}

/** The content for P2 and P3: the signed bytes, and their signature. */
export function readSignedPillar(value: Value): { readonly data: Uint8Array; readonly sig: Uint8Array } | Problem {
  if (!isDict(value)) return problem('the decrypted pillar is not a map');
  const data = bytesField(value, 'data');
  const sig = bytesField(value, 'sig');
  return data && sig ? { data, sig } : problem('the decrypted pillar is not signed');
}

/** The verified bytes: pillar, the outer key again, and the nonce of the request. */
export interface PillarContent {
  readonly key: Uint8Array;
  readonly nonce: string;
  readonly pillar: Value;
}

export function readPillarContent(value: Value): PillarContent | Problem {
  if (!isDict(value)) return problem('the signed pillar is not a map');
  const key = bytesField(value, 'key');
  const nonce = textField(value, 'nonce');
  const pillar = dictGet(value, 'pillar');
  if (!key || nonce === undefined || pillar === undefined)
    return problem('the signed pillar lacks key, nonce or pillar');
  return { key, nonce, pillar };
}

/** A 3008 cluster member that is not ready yet: the request must be repeated later. */
export function isRetryLater(value: Value): boolean {
  if (!isDict(value)) return false;
  const load = dictGet(value, 'load');
  return isDict(load) && dictGet(load, 'cluster_retry') === true;
}
