// The loads minions send, one type per command.
import {
  type Dict,
  dictEntries,
  dictGet,
  isDict,
  newDict,
  type PlainDict,
  type Value,
} from '../../../base/codec/value.ts';
import {
  boolField,
  bytesField,
  dictField,
  intField,
  isProblem,
  listField,
  type Problem,
  problem,
  saltenvField,
  textField,
  textsField,
} from './fields.ts';

/**
 * `_return`: the outcome of a job on one minion. `load` is kept, because events and job caches carry all of it; what the
 * minion wants done with the result is no part of it.
 */
export interface MinionReturn {
  readonly id: string;
  /** `req` from salt-call: the master allots one. */
  readonly jid: string;
  readonly fun: string;
  readonly fun_args: readonly Value[];
  readonly return: Value;
  readonly retcode: number;
  readonly success: boolean;
  /** Names of returners that the master shall hand the result to (`return_via_master`). */
  readonly returners: readonly string[];
  readonly load: PlainDict;
}

const mostReturners = 16;

/** `decided` is what the master knows better than the load: who sends, and the jid of a run that nobody published. */
export function readMinionReturn(given: Dict, decided: PlainDict = newDict()): MinionReturn | Problem {
  const load = newDict();
  for (const [key, value] of dictEntries(given)) if (typeof key === 'string' && key !== 'returners') load[key] = value;
  for (const [key, value] of Object.entries(decided)) load[key] = value;
  const id = textField(load, 'id');
  const jid = textField(load, 'jid');
  const value = dictGet(load, 'return');
  if (id === undefined || jid === undefined || value === undefined)
    return problem('a return without id, jid or return');
  if (!isFunctionName(dictGet(load, 'fun') ?? '')) return problem('a return whose function is none');
  const retcode = dictGet(load, 'retcode');
  return {
    id,
    jid,
    fun: textField(load, 'fun') ?? '',
    fun_args: listField(load, 'fun_args') ?? [],
    return: value,
    // Multi-function jobs send a map of codes; any failure counts.
    retcode: isDict(retcode) ? worst(retcode) : (intField(load, 'retcode') ?? 0),
    success: dictGet(load, 'success') !== false,
    returners: readReturners(given),
    load,
  };
}

/** It becomes part of keys, lines and paths of what stores results. Several functions are a list. */
function isFunctionName(fun: Value): boolean {
  if (Array.isArray(fun))
    return fun.length <= 1000 && fun.every((name) => typeof name === 'string' && isFunctionName(name));
  return typeof fun === 'string' && fun.length <= 4096 && !/[\p{Cc}\u2028\u2029]/u.test(fun);
}

function readReturners(load: Dict): string[] {
  const names = listField(dictField(load, 'returners') ?? newDict(), 'names') ?? [];
  return [...new Set(names.filter((name) => typeof name === 'string'))].slice(0, mostReturners);
}

function worst(codes: Dict): number {
  const values = codes instanceof Map ? [...codes.values()] : Object.values(codes);
  const numbers = values.filter((code): code is number => typeof code === 'number');
  return numbers.find((code) => code !== 0) ?? 0;
}

export interface MinionEvent {
  readonly tag: string;
  readonly data: Dict;
}

/** `_minion_event`, in either form, as the events to fire; filtering by tag is for minion-event-filter.ts. */
export function readMinionEvents(load: Dict): readonly MinionEvent[] | Problem {
  const list = listField(load, 'events');
  const pretag = textField(load, 'pretag');
  if (!list) {
    const tag = textField(load, 'tag');
    // Salt: the data of a single event is the whole load.
    return tag === undefined ? problem('an event without tag') : [{ tag, data: load }];
  }
  const events: MinionEvent[] = [];
  for (const item of list) {
    const tag = isDict(item) ? textField(item, 'tag') : undefined;
    if (!isDict(item) || tag === undefined) continue;
    const data = dictField(item, 'data') ?? newDict();
    events.push({ tag, data });
    if (pretag) events.push({ tag: `${pretag}/${tag}`, data });
  }
  return events;
}

/** `_pillar`. */
export interface PillarRequest {
  readonly grains: Dict;
  readonly saltenv: string;
  readonly pillarenv: string | undefined;
  readonly pillar_override: Dict;
  readonly extra_minion_data: Dict;
  /** `2` asks for the private, signed reply; anything else is older than any supported minion. */
  readonly ver: string;
}

export function readPillarRequest(load: Dict): PillarRequest | Problem {
  const grains = dictField(load, 'grains');
  if (!grains) return problem('a pillar request without grains');
  return {
    grains,
    saltenv: saltenvField(load),
    pillarenv: textField(load, 'pillarenv'),
    pillar_override: dictField(load, 'pillar_override') ?? newDict(),
    extra_minion_data: dictField(load, 'extra_minion_data') ?? newDict(),
    ver: textField(load, 'ver') ?? '',
  };
}

/** `_mine`: values to keep, replacing all others when `clear`. */
export function readMineUpdate(load: Dict): { readonly data: Dict; readonly clear: boolean } | Problem {
  const data = dictField(load, 'data');
  return data ? { data, clear: boolField(load, 'clear') } : problem('a mine update without data');
}

export interface MineQuery {
  readonly tgt: string | readonly string[];
  readonly tgt_type: string;
  readonly fun: readonly string[];
  /** One function gives its values directly, several give a map by function. */
  readonly single: boolean;
}

/** `_mine_get`; `fun` is a text, a comma separated text or a list, and old minions say `expr_form`. */
export function readMineQuery(load: Dict): MineQuery | Problem {
  const tgt = textsField(load, 'tgt');
  const fun = textsField(load, 'fun');
  if (tgt === undefined || fun === undefined) return problem('a mine query without tgt or fun');
  const names = (typeof fun === 'string' ? fun.split(',') : fun)
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return {
    tgt,
    tgt_type: (textField(load, 'tgt_type') ?? textField(load, 'expr_form') ?? 'glob').toLowerCase(),
    fun: names,
    single: typeof fun === 'string' && names.length === 1,
  };
}

/** The file server reads: `_serve_file`, `_file_hash`, `_file_find`, `_file_list` and their kin. */
export interface FileRequest {
  readonly path: string;
  readonly saltenv: string;
  readonly loc: number;
  /** Compression level, 0 for none. */
  readonly gzip: number;
  readonly prefix: string;
}

export function readFileRequest(load: Dict): FileRequest | Problem {
  const loc = intField(load, 'loc') ?? 0;
  if (loc < 0) return problem('a file request with a negative position');
  return {
    path: textField(load, 'path') ?? '',
    saltenv: saltenvField(load),
    loc,
    gzip: Math.min(9, Math.max(0, intField(load, 'gzip') ?? 0)),
    prefix: textField(load, 'prefix') ?? '',
  };
}

/** `_file_recv`: a piece of a file pushed by a minion. Components are checked again where they become a path. */
export interface FilePush {
  readonly path: readonly string[];
  readonly loc: number;
  readonly size: number;
  readonly data: Uint8Array;
}

export function readFilePush(load: Dict): FilePush | Problem {
  const path = textsField(load, 'path');
  const loc = intField(load, 'loc') ?? 0;
  const data = bytesField(load, 'data');
  if (!Array.isArray(path) || path.length === 0 || loc < 0 || !data) return problem('a file push of the wrong form');
  return { path, loc, size: Math.max(0, intField(load, 'size') ?? data.length), data };
}

/** `minion_pub` and `minion_publish`: a minion asks the master to run something on others. */
export interface PeerPublish {
  readonly tgt: string | readonly string[];
  readonly tgt_type: string;
  /** At least one; several come with a list of arguments for each. */
  readonly functions: readonly string[];
  readonly arg: readonly Value[];
  readonly ret: string;
  /** Seconds. */
  readonly timeout: number;
  readonly full: boolean;
}

/** A minion that waits longer than that comes back for the results (`pub_ret`). */
const longestPeerWait = 3600;

export function readPeerPublish(load: Dict): PeerPublish | Problem {
  const tgt = textsField(load, 'tgt');
  const functions = (textField(load, 'fun') ?? '').split(',');
  if (tgt === undefined || functions.includes('')) return problem('a peer publish without tgt or fun');
  const given = listField(load, 'arg') ?? [];
  const timeout = Math.max(0, intField(load, 'tmo') ?? intField(load, 'timeout') ?? 5);
  return {
    tgt,
    tgt_type: textField(load, 'tgt_type') ?? textField(load, 'expr_form') ?? 'glob',
    functions,
    arg: functions.length === 1 ? given : functions.map((_, at) => ownArguments(given[at])),
    ret: textField(load, 'ret') ?? '',
    timeout: Math.min(longestPeerWait, timeout),
    full: textField(load, 'form') === 'full',
  };
}

/** Salt: with several functions the arguments of each are a list, or words. */
function ownArguments(value: Value | undefined): Value[] {
  if (Array.isArray(value)) return value;
  return typeof value === 'string' ? value.split(/\s+/).filter((word) => word !== '') : [];
}

/** `minion_runner`. */
export function readPeerRunner(load: Dict): { readonly fun: string; readonly arg: readonly Value[] } | Problem {
  const fun = textField(load, 'fun');
  return fun === undefined ? problem('a runner call without fun') : { fun, arg: listField(load, 'arg') ?? [] };
}

export interface SyndicReturn {
  readonly id: string;
  readonly jid: string;
  readonly fun: string;
  readonly load: Dict | undefined;
  /** Minion id to its part: `return`, `retcode`, `success`, `fun_args`. */
  readonly return: Dict;
}

/** `_syndic_return`: a list of returns, or one as the load itself from old syndics. Unusable ones are left out. */
export function readSyndicReturns(load: Dict): readonly SyndicReturn[] {
  const given = listField(load, 'load') ?? [load];
  const read = given.map((item) => (isDict(item) ? readSyndicReturn(item) : problem('no map')));
  return read.filter((item): item is SyndicReturn => !isProblem(item));
}

function readSyndicReturn(item: Dict): SyndicReturn | Problem {
  const id = textField(item, 'id');
  const jid = textField(item, 'jid');
  const returns = dictField(item, 'return');
  if (id === undefined || jid === undefined || !returns) return problem('a syndic return without id, jid or return');
  return { id, jid, fun: textField(item, 'fun') ?? '', load: dictField(item, 'load'), return: returns };
}
