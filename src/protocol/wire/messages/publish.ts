// Publishes: the envelope everybody gets, and the job inside.
import { type Dict, dictEntries, dictGet, isDict, newDict, type Value } from '../../../base/codec/value.ts';
import { bytesField, dense, listField, type Problem, problem, textField, textsField } from './fields.ts';

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

export interface PublishedJob {
  readonly jid: string;
  /** Several functions make a multi-function job, with a list of arguments for each. */
  readonly fun: string | readonly string[];
  readonly arg: readonly Value[];
  readonly tgt: string | readonly string[];
  readonly tgt_type: string;
  /** Returner names, comma separated. */
  readonly ret: string;
  readonly user: string | undefined;
  readonly delimiter: string;
  /** Who asked, when a minion did. */
  readonly id: string | undefined;
  readonly master_id: string | undefined;
  /** All other fields (`metadata`, `ret_config`, `module_executors`, ...), as they came. */
  readonly extra: Dict;
}

const known = new Set([
  'jid',
  'fun',
  'arg',
  'tgt',
  'tgt_type',
  'ret',
  'user',
  'delimiter',
  'id',
  'master_id',
  'serial',
]);

/** Reads an opened job. Salt: a minion runs it only when `tgt`, `jid`, `fun` and `arg` are there. */
export function readPublishedJob(value: Value): PublishedJob | Problem {
  if (!isDict(value)) return problem('the job is no map');
  const jid = textField(value, 'jid');
  const fun = textsField(value, 'fun');
  const arg = listField(value, 'arg');
  const tgt = textsField(value, 'tgt');
  if (jid === undefined || fun === undefined || arg === undefined || tgt === undefined) {
    return problem('the job lacks one of jid, fun, arg and tgt');
  }
  const extra = newDict();
  for (const [key, item] of dictEntries(value)) if (typeof key === 'string' && !known.has(key)) extra[key] = item;
  return {
    jid,
    fun,
    arg,
    tgt,
    tgt_type: textField(value, 'tgt_type') ?? 'glob',
    ret: textField(value, 'ret') ?? '',
    user: textField(value, 'user'),
    delimiter: textField(value, 'delimiter') ?? ':',
    id: textField(value, 'id'),
    master_id: textField(value, 'master_id'),
    extra,
  };
}

/** The job map for the wire. `tgt` stays text for everything but lists: 2015.5 minions ignore anything else. */
export function jobValue(job: PublishedJob): Dict {
  const dict = dense({
    tgt_type: job.tgt_type,
    tgt: list(job.tgt),
    jid: job.jid,
    fun: list(job.fun),
    arg: [...job.arg],
    ret: job.ret,
    user: job.user,
    delimiter: job.delimiter === ':' ? undefined : job.delimiter,
    id: job.id,
    master_id: job.master_id,
  }) as { [key: string]: Value };
  for (const [key, item] of dictEntries(job.extra)) {
    if (typeof key === 'string' && !known.has(key) && dictGet(dict, key) === undefined) dict[key] = item;
  }
  return dict;
}

function list(value: string | readonly string[]): Value {
  return typeof value === 'string' ? value : [...value];
}
