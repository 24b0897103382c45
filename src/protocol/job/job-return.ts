// The last stage of a job: what came of it on one minion.
import { dictEntries, isDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { JobOptions } from './job.ts';

export interface JobReturn {
  /** Of the minion. */
  readonly id: string;
  /** `req` for a run that nobody published: the master gives it a number. `nocache`: it is to be told, not stored. */
  readonly jid: string;
  readonly fun: string | readonly string[];
  readonly fun_args?: readonly Value[] | undefined;
  /** The same, of a run that nobody published. */
  readonly arg?: readonly Value[] | undefined;
  readonly return: Value;
  /** Jobs of several functions have a map or a list, here and in `success`; `exitCode` reads any of them. */
  readonly retcode?: Value | undefined;
  readonly success?: Value | undefined;
  /** The outputter to show it with. */
  readonly out?: string | undefined;
  readonly user?: string | undefined;
  /** The name of the entry, for a run of the minion's schedule. */
  readonly schedule?: string | undefined;
  /** `deadline` when the minion ended the job itself. */
  readonly ended?: string | undefined;
  /** Those of the job that come back with its result. */
  readonly options?: JobOptions | undefined;
  /** Returners that the master shall hand the result to (`return_via_master`). */
  readonly returners?: ReturnerRequest | undefined;
  /** What else came with it: passed on as it is, and never in place of a field above. */
  readonly extra?: PlainDict | undefined;
}

export interface ReturnerRequest {
  readonly names: readonly string[];
  readonly config?: string;
  readonly kwargs?: PlainDict;
}

/** One code for the whole: the worst of several functions speaks for the minion. */
export function exitCode({ retcode }: Pick<JobReturn, 'retcode'>): number {
  return worst(retcode);
}

function worst(code: Value | undefined): number {
  if (typeof code === 'number') return Number.isSafeInteger(code) ? code : 0;
  const several = Array.isArray(code) ? code : isDict(code) ? dictEntries(code).map(([, each]) => each) : [];
  const failed = several.filter((each): each is number => typeof each === 'number' && each !== 0);
  return failed.length > 0 ? Math.max(...failed) : 0;
}

/** Whether its function says that it went well; the exit code may say otherwise. */
export const saysSuccess = ({ success }: Pick<JobReturn, 'success'>): boolean => success !== false;
export const isFailure = (ret: JobReturn): boolean => !saysSuccess(ret) || exitCode(ret) !== 0;
