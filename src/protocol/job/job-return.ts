// The last stage of a job: its result on one minion.
import { dictEntries, isDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { JobOptions } from './job.ts';

export interface JobReturn {
  /** Minion id. */
  readonly id: string;
  /** `req` for a run that was not published: the master assigns a jid. `nocache`: fire an event but do not store it. */
  readonly jid: string;
  readonly fun: string | readonly string[];
  readonly fun_args?: readonly Value[] | undefined;
  /** The same, for a run that was not published. */
  readonly arg?: readonly Value[] | undefined;
  readonly return: Value;
  /** Jobs of several functions have a map or a list, here and in `success`; `exitCode` reads all forms. */
  readonly retcode?: Value | undefined;
  readonly success?: Value | undefined;
  /** The outputter to print it with. */
  readonly out?: string | undefined;
  readonly user?: string | undefined;
  /** The name of the schedule entry, for a run of the minion's schedule. */
  readonly schedule?: string | undefined;
  /** `deadline` when the minion ended the job itself. */
  readonly ended?: string | undefined;
  /**
   * The name of the master that asked, `host:port`, when the result is given to another one to keep because that one is
   * away.
   */
  readonly keptFor?: string | undefined;
  /** The options of the job that are returned with its result. */
  readonly options?: JobOptions | undefined;
  /** Returners to which the master shall send the result (`return_via_master`). */
  readonly returners?: ReturnerRequest | undefined;
  /** Other fields of the message: forwarded unchanged, and never in place of a field above. */
  readonly extra?: PlainDict | undefined;
}

export interface ReturnerRequest {
  readonly names: readonly string[];
  readonly config?: string;
  readonly kwargs?: PlainDict;
}

/** One code for the whole job: of several functions, the worst one. */
export function exitCode({ retcode }: Pick<JobReturn, 'retcode'>): number {
  return worst(retcode);
}

function worst(code: Value | undefined): number {
  if (typeof code === 'number') return Number.isSafeInteger(code) ? code : 0;
  const several = Array.isArray(code) ? code : isDict(code) ? dictEntries(code).map(([, each]) => each) : [];
  const failed = several.filter((each): each is number => typeof each === 'number' && each !== 0);
  return failed.length > 0 ? Math.max(...failed) : 0;
}

/** Whether the function reports success; the exit code may say otherwise. */
export const saysSuccess = ({ success }: Pick<JobReturn, 'success'>): boolean => success !== false;
export const isFailure = (ret: JobReturn): boolean => !saysSuccess(ret) || exitCode(ret) !== 0;
