// Clear commands of local clients and API hosts on the request port.

import { dictField, listField, textField, textsField } from '../../../base/codec/fields.ts';
import { type Dict, dictGet, newDict, type Value } from '../../../base/codec/value.ts';
import type { AskedJob, JobOption } from '../../job/job.ts';
import { isProblem, type Problem, problem } from './fields.ts';
import { readJobOptions } from './job.ts';

/** How the caller authenticates; the first that is present applies. */
export interface ClearCredentials {
  readonly token: string | undefined;
  readonly eauth: string | undefined;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly user: string | undefined;
  readonly key: string | undefined;
}

/** The caller is authenticated afterwards. */
export type UnprovenJob = Omit<AskedJob, 'user'>;

export type ClearCommand =
  | { readonly cmd: 'ping'; readonly load: Dict }
  | { readonly cmd: 'publish'; readonly job: UnprovenJob; readonly credentials: ClearCredentials }
  | {
      readonly cmd: 'runner' | 'wheel';
      readonly fun: string;
      readonly arg: readonly Value[];
      readonly kwarg: Dict;
      /** Wheel calls have their arguments at the top level of the load. */
      readonly load: Dict;
      readonly credentials: ClearCredentials;
    }
  | { readonly cmd: 'mk_token'; readonly load: Dict; readonly credentials: ClearCredentials }
  | { readonly cmd: 'get_token'; readonly token: string }
  /** Salt answers `{}`. */
  | { readonly cmd: 'unknown'; readonly name: string };

export function readClearCommand(load: Dict): ClearCommand | Problem {
  const cmd = textField(load, 'cmd') ?? '';
  switch (cmd) {
    case 'ping':
      return { cmd, load };
    case 'publish':
      return readPublish(load);
    case 'runner':
    case 'wheel': {
      const fun = textField(load, 'fun');
      if (fun === undefined) return problem(`${cmd} without fun`);
      const kwarg = dictField(load, 'kwarg') ?? newDict();
      return { cmd, fun, arg: listField(load, 'arg') ?? [], kwarg, load, credentials: readCredentials(load) };
    }
    case 'mk_token':
      return { cmd, load, credentials: readCredentials(load) };
    case 'get_token':
      return { cmd, token: textField(load, 'token') ?? '' };
    default:
      return { cmd: 'unknown', name: cmd };
  }
}

/** Fields that remote clients may set for a job in addition to target, function and arguments. */
const clearOptions: readonly JobOption[] = [
  'metadata',
  'ret_config',
  'ret_kwargs',
  'module_executors',
  'executor_opts',
  'id',
  'master_id',
];

function readPublish(load: Dict): ClearCommand | Problem {
  const job = readAskedJob(load, clearOptions);
  if (isProblem(job)) return job;
  return { cmd: 'publish', job, credentials: readCredentials(load, dictField(load, 'kwargs') ?? newDict()) };
}

/**
 * The job of a publish, from the request port or the local socket. `options` are the accepted names in `kwargs`: other
 * names are not read.
 */
export function readAskedJob(load: Dict, options: readonly JobOption[]): UnprovenJob | Problem {
  const tgt = textsField(load, 'tgt');
  if (tgt === undefined) return problem('the target is neither text nor a list of texts');
  const fun = readFunctions(load);
  if (isProblem(fun)) return fun;
  const arg = readArguments(load, fun.fun);
  if (isProblem(arg)) return arg;
  const kwargs = dictField(load, 'kwargs') ?? newDict();
  // Salt: an empty jid asks for a new one.
  const jid = textField(load, 'jid') || undefined;
  const delimiter = textField(kwargs, 'delimiter');
  // Of a syndic, in the name of a user of a higher master.
  const authList = listField(kwargs, 'auth_list');
  return {
    tgt,
    tgt_type: textField(load, 'tgt_type') || 'glob',
    fun: fun.fun,
    arg: arg.arg,
    ret: textField(load, 'ret') ?? '',
    ...(jid === undefined ? {} : { jid }),
    ...(delimiter ? { delimiter } : {}),
    ...(authList ? { authList } : {}),
    options: readJobOptions(kwargs, options),
  };
}

/** More than any real command has. */
const mostFunctions = 1000;

/** One name, or several in a list or separated by commas; at least one. */
function readFunctions(load: Dict): { readonly fun: string | readonly string[] } | Problem {
  const given = textsField(load, 'fun');
  const fun = typeof given === 'string' && given.includes(',') ? given.split(',') : given;
  const names = typeof fun === 'string' ? [fun] : (fun ?? []);
  if (fun === undefined || names.length === 0 || names.includes('')) return problem('the job names no function');
  if (names.length > mostFunctions) return problem(`the job has more than ${mostFunctions} functions`);
  return { fun };
}

/** Exactly the arguments that the minion will bind: with several functions, one list for each. */
function readArguments(load: Dict, fun: string | readonly string[]): { readonly arg: readonly Value[] } | Problem {
  const given = dictGet(load, 'arg') ?? [];
  if (!Array.isArray(given)) return problem('the arguments are not a list');
  if (typeof fun === 'string') return { arg: given };
  if (given.length > fun.length || !given.every((each) => Array.isArray(each)))
    return problem('a job of several functions needs a list of arguments for each of them');
  return { arg: fun.map((_, at) => given[at] ?? []) };
}

/** In a publish, token and eauth are in `kwargs`, user and key are at the top level. */
export function readCredentials(load: Dict, kwargs: Dict = load): ClearCredentials {
  return {
    token: textField(kwargs, 'token'),
    eauth: textField(kwargs, 'eauth'),
    username: textField(kwargs, 'username'),
    password: textField(kwargs, 'password'),
    user: textField(load, 'user'),
    key: textField(load, 'key'),
  };
}
