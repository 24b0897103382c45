// Publishes: the envelope that all minions receive. The job inside is in job.ts.

import { bytesField, textField } from '../../../base/codec/fields.ts';
import { type Dict, isDict, type Value } from '../../../base/codec/value.ts';
import { dense, type Problem, problem } from './fields.ts';

export interface PublishEnvelope {
  readonly load: Uint8Array;
  readonly sig: Uint8Array | undefined;
  /** Absent from masters before 3006.9: then it is PKCS1v15-SHA1. */
  readonly sig_algo: string | undefined;
}

export function readPublishEnvelope(value: Value): PublishEnvelope | Problem {
  if (!isDict(value) || textField(value, 'enc') !== 'aes') return problem('the publish is not sealed');
  const load = bytesField(value, 'load');
  if (!load) return problem('the publish has no load');
  return { load, sig: bytesField(value, 'sig'), sig_algo: textField(value, 'sig_algo') };
}

/** Order as Salt writes it; an unsigned publish has only `enc` and `load`. */
export function publishEnvelopeValue(envelope: PublishEnvelope): Dict {
  const { load, sig, sig_algo } = envelope;
  return dense({ enc: 'aes', load, sig_algo: sig ? sig_algo : undefined, sig });
}
