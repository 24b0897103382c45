// A result as a map: `_return` on the wire, in the spool of a minion, in events and in the store of the master.

import { dictField, listField, textField } from '../../../base/codec/fields.ts';
import {
  asPlainDict,
  type Dict,
  dictEntries,
  dictGet,
  dictHas,
  dictOf,
  dictSize,
  isDict,
  isTexts,
  newDict,
  type PlainDict,
  type Value,
} from '../../../base/codec/value.ts';
import { type JobOption, type JobOptions, type PublishedJob, wireTexts } from '../../job/job.ts';
import type { JobReturn, ReturnerRequest } from '../../job/job-return.ts';
import { endedField, keptForField } from '../../job/verdict.ts';
import { given, isProblem, type Problem, problem } from './fields.ts';
import { readJobOptions, readMasterName, readPublishedJob } from './job.ts';
import { proofFields } from './request.ts';

/** The options of the job that a minion sends back. */
const returnedOptions: readonly JobOption[] = ['metadata', 'master_id', 'ret_config', 'ret_kwargs'];

const known = new Set<Value>([
  ...[
    'cmd',
    'id',
    'success',
    'return',
    'retcode',
    'jid',
    'fun',
    'fun_args',
    'arg',
    'user',
    'schedule',
    'out',
    'returners',
  ],
  ...[endedField, keptForField, ...returnedOptions, ...proofFields],
]);

/** Facts that take precedence over the load: the sender, and in bundles of syndics also the job. */
export type KnownOfReturn = Partial<Pick<JobReturn, 'id' | 'jid'>> & { readonly fun?: string };

export function readJobReturn(load: Dict, decided: KnownOfReturn = {}): JobReturn | Problem {
  const id = decided.id ?? textField(load, 'id');
  const jid = decided.jid ?? textField(load, 'jid');
  const value = dictGet(load, 'return');
  if (id === undefined || jid === undefined || value === undefined)
    return problem('a return without id, jid or return');
  const fun = readFunctions(decided.fun ?? dictGet(load, 'fun') ?? '');
  if (fun === undefined) return problem('a return with an invalid function name');
  // Always the same object form: this runs for every result.
  return {
    id,
    jid,
    fun,
    return: value,
    fun_args: listField(load, 'fun_args'),
    arg: listField(load, 'arg'),
    retcode: dictGet(load, 'retcode'),
    success: dictGet(load, 'success'),
    out: textField(load, 'out'),
    user: textField(load, 'user'),
    schedule: textField(load, 'schedule'),
    ended: textField(load, endedField),
    keptFor: readMasterName(load),
    options: readReturnedOptions(load),
    returners: readReturners(load),
    extra: unknownFields(load),
  };
}

/** Absent when no field is usable: a result that is written is then read as the same result. */
function readReturnedOptions(load: Dict): JobOptions | undefined {
  if (!returnedOptions.some((name) => dictHas(load, name))) return undefined;
  const options = readJobOptions(load, returnedOptions);
  return Object.keys(options).length > 0 ? options : undefined;
}

/** The name becomes part of keys, lines and paths in stores of results. Several functions are a list. */
function readFunctions(fun: Value): string | readonly string[] | undefined {
  if (typeof fun === 'string') return isFunctionName(fun) ? fun : undefined;
  return isTexts(fun) && fun.length <= mostFunctions && fun.every(isFunctionName) ? fun : undefined;
}
const mostFunctions = 1000;
const isFunctionName = (fun: string): boolean => fun.length <= 4096 && !/[\p{Cc}\u2028\u2029]/u.test(fun);

const mostReturners = 16;

function readReturners(load: Dict): ReturnerRequest | undefined {
  const asked = dictField(load, 'returners');
  if (!asked) return undefined;
  const named = (listField(asked, 'names') ?? []).filter((name) => typeof name === 'string');
  const names = [...new Set(named)].slice(0, mostReturners);
  return { names, ...given({ config: textField(asked, 'config'), kwargs: asPlainDict(dictGet(asked, 'kwargs')) }) };
}

function unknownFields(load: Dict): PlainDict | undefined {
  let extra: PlainDict | undefined;
  const names = load instanceof Map ? load.keys() : Object.keys(load);
  for (const name of names) {
    if (typeof name !== 'string' || known.has(name)) continue;
    extra ??= newDict();
    extra[name] = dictGet(load, name) ?? null;
  }
  return extra;
}

/**
 * The result as in events and stores, in the order in which real minions write it; its other recipients are not part of
 * it.
 */
export function returnFields(ret: JobReturn): PlainDict {
  const { fun, fun_args, arg, options, extra } = ret;
  const fields = newDict();
  fields['cmd'] = '_return';
  fields['id'] = ret.id;
  if (ret.success !== undefined) fields['success'] = ret.success;
  fields['return'] = ret.return;
  if (ret.retcode !== undefined) fields['retcode'] = ret.retcode;
  fields['jid'] = ret.jid;
  fields['fun'] = wireTexts(fun);
  if (fun_args) fields['fun_args'] = [...fun_args];
  if (arg) fields['arg'] = [...arg];
  if (ret.user !== undefined) fields['user'] = ret.user;
  if (options) writeOptions(fields, options, ['master_id', 'ret_config', 'ret_kwargs']);
  if (ret.schedule !== undefined) fields['schedule'] = ret.schedule;
  if (options) writeOptions(fields, options, ['metadata']);
  if (ret.out !== undefined) fields['out'] = ret.out;
  if (ret.ended !== undefined) fields[endedField] = ret.ended;
  if (ret.keptFor !== undefined) fields[keptForField] = ret.keptFor;
  for (const name in extra) if (!known.has(name)) fields[name] = extra[name] ?? null;
  return fields;
}

function writeOptions(fields: PlainDict, options: JobOptions, names: readonly JobOption[]): void {
  for (const name of names) {
    const value = options[name];
    if (value !== undefined) fields[name] = value;
  }
}

/** The request to the master. */
export function returnMessage(ret: JobReturn): PlainDict {
  const fields = returnFields(ret);
  if (ret.returners) fields['returners'] = returnersValue(ret.returners);
  return fields;
}

function returnersValue({ names, config, kwargs }: ReturnerRequest): PlainDict {
  return newDict(Object.entries({ names: [...names], ...given({ config, kwargs }) }));
}

/** The results of one job from a syndic. */
export interface SyndicReturn {
  readonly jid: string;
  readonly fun: string;
  /** Minion id to its part: `return`, `retcode`, `success`, `fun_args`. */
  readonly return: Dict;
  /** The job, with the first results of it: the master above may not know it. */
  readonly load: PublishedJob | undefined;
}

/** `_syndic_return`: a list of returns, or one as the load itself from old syndics. Unusable ones are skipped. */
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
  return { jid, fun: textField(item, 'fun') ?? '', return: returns, load: readLoad(dictField(item, 'load'), jid) };
}

/** Salt keeps no arguments of some jobs. A load of another job is none of this one. */
function readLoad(load: Dict | undefined, jid: string): PublishedJob | undefined {
  if (!load || dictSize(load) === 0) return undefined;
  const job = readPublishedJob(dictOf([['arg', []], ['tgt', '*'], ...dictEntries(load), ['jid', jid]]));
  return isProblem(job) || textField(load, 'jid') !== jid ? undefined : job;
}
