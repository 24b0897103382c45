// Requests of commands to a running master over its local socket, and the items that are streamed back.

import { boolField, dictField, numberField, textField } from '../../../base/codec/fields.ts';
import type { JsonText } from '../../../base/codec/json/index.ts';
import {
  asPlainDict,
  type Dict,
  dictEntries,
  dictGet,
  isTexts,
  newDict,
  type PlainDict,
  type Value,
} from '../../../base/codec/value.ts';
import { type JobOption, wireTexts } from '../../job/job.ts';
import { readAskedJob, type UnprovenJob } from './clear.ts';
import { given, isProblem, type Problem, problem } from './fields.ts';

export interface BatchRequest {
  /** A number of minions, or a percentage (`25%`). */
  readonly size: string;
  /** Seconds between two minions in one slot. */
  readonly wait?: number;
  readonly safe_limit?: number;
  readonly safe_size?: number;
  readonly failhard?: boolean;
}

/** A job as requested by a command; the connection authenticates the caller. */
export interface LocalPublish {
  readonly job: UnprovenJob;
  readonly batch?: BatchRequest;
  /** `98%` or a number: nothing is published when fewer of the targeted minions are reachable. */
  readonly require?: string;
  /** The item `sending` comes first: a command that loses its master then knows which job it asked for. */
  readonly announce?: boolean;
}

/** Fields that local commands may set for a job in addition to target, function and arguments. */
const localOptions: readonly JobOption[] = [
  'metadata',
  'ret_config',
  'ret_kwargs',
  'module_executors',
  'executor_opts',
  'start_event',
  'master_id',
];

export function localPublishArgs({ job, batch, require, announce }: LocalPublish): PlainDict {
  const { delimiter, authList, options } = job;
  const kwargs = newDict(Object.entries(given({ delimiter, auth_list: authList && [...authList], ...options })));
  return newDict(
    Object.entries({
      ...{ tgt: wireTexts(job.tgt), tgt_type: job.tgt_type, fun: wireTexts(job.fun), arg: [...job.arg], kwargs },
      async: job.unwatched === true,
      ...(announce ? { announce } : {}),
      ...given({
        ...{ ret: job.ret, jid: job.jid, nodegroups: job.nodegroups, require, subset: job.subset },
        ...{ timeout: job.timeoutSeconds, gather_job_timeout: job.gatherSeconds },
        ...{ deadline: job.deadlineSeconds, durable: job.durableSeconds, from_above: job.fromAbove },
        batch: batch && newDict(Object.entries(batch)),
      }),
    }),
  );
}

export function readLocalPublish(args: Dict): LocalPublish | Problem {
  const job = readAskedJob(args, localOptions);
  if (isProblem(job)) return job;
  const batch = dictField(args, 'batch');
  return {
    job: {
      ...job,
      unwatched: boolField(args, 'async'),
      ...(boolField(args, 'from_above') ? { fromAbove: true as const } : {}),
      ...given({
        nodegroups: dictField(args, 'nodegroups'),
        timeoutSeconds: positive(args, 'timeout'),
        gatherSeconds: positive(args, 'gather_job_timeout'),
        subset: positive(args, 'subset'),
        deadlineSeconds: positive(args, 'deadline'),
        durableSeconds: positive(args, 'durable'),
      }),
    },
    ...given({ batch: batch && readBatch(batch), require: textField(args, 'require') || undefined }),
    announce: boolField(args, 'announce'),
  };
}

function readBatch(batch: Dict): BatchRequest {
  return {
    size: textField(batch, 'size') ?? '',
    failhard: boolField(batch, 'failhard'),
    ...given({
      wait: positive(batch, 'wait'),
      safe_limit: positive(batch, 'safe_limit'),
      safe_size: positive(batch, 'safe_size'),
    }),
  };
}

function positive(args: Dict, name: string): number | undefined {
  const value = numberField(args, name);
  return value !== undefined && value > 0 ? value : undefined;
}

export interface MissingReason {
  readonly code: string;
  readonly text: string;
  readonly evidence: Dict;
}

export type JobItem =
  /** Only when asked for: the job has its number, and is now stored and sent. */
  | { readonly type: 'sending'; readonly jid: string; readonly others: string[] }
  | {
      readonly type: 'job';
      readonly jid: string;
      readonly minions: string[];
      readonly missing: string[];
      /** Items of the type `more` follow. */
      readonly growing?: true;
      /** Other masters of the cluster: one of them goes on with the job when this one is gone. */
      readonly others?: string[];
    }
  | {
      readonly type: 'return';
      readonly id: string;
      readonly ret: Value;
      readonly retcode: number;
      readonly success: boolean;
      readonly out?: string;
      readonly fun?: string;
      readonly jid?: string;
      /** `deadline`: the minion killed the job at its deadline. */
      readonly ended?: string;
    }
  | { readonly type: 'missing'; readonly id: string; readonly reason: MissingReason; readonly connected: boolean }
  /** Kept for a minion that is not connected (`--durable`), until the given time in milliseconds. */
  | { readonly type: 'queued'; readonly id: string; readonly until: number; readonly reason: MissingReason }
  | { readonly type: 'batch'; readonly minions: string[] }
  /** Minions that became known after the job was sent: those of lower masters. None when these are all. */
  | { readonly type: 'more'; readonly minions: string[] }
  | { readonly type: 'progress'; readonly id: string; readonly text: string }
  | { readonly type: 'end'; readonly balance: Dict };

export type RunnerItem =
  | { readonly type: 'started'; readonly jid: string; readonly user: string }
  | { readonly type: 'progress'; readonly text: string }
  | { readonly type: 'print'; readonly text: string }
  | {
      readonly type: 'result';
      readonly ret: Value | JsonText;
      readonly success: boolean;
      readonly retcode: number;
      readonly out?: string;
      readonly inOrder?: boolean;
      /** The function did not return: `ret` is the reason. */
      readonly failed?: boolean;
    };

export interface TargetPreview {
  readonly minions: string[];
  /** Connection state by id: yes, no, unknown. */
  readonly connected: PlainDict;
  readonly unknown: string[];
  /** Ids by status (`connected`, `away`, `too_old`, …), each in one class, with the reason. */
  readonly classes: Readonly<Record<string, PlainDict>>;
  /** The same as one line. */
  readonly summary: string;
}

export interface MasterEvent {
  readonly tag: string;
  readonly data: Dict;
}

const ids = (item: Dict, name: string): string[] => {
  const value = dictGet(item, name);
  return isTexts(value) ? value : [];
};
const word = (item: Dict, name: string): string => textField(item, name) ?? '';
const count = (item: Dict, name: string): number => numberField(item, name) ?? 0;

function readReason(item: Dict): MissingReason {
  const reason = dictField(item, 'reason') ?? newDict();
  return {
    code: word(reason, 'code'),
    text: word(reason, 'text'),
    evidence: dictField(reason, 'evidence') ?? newDict(),
  };
}

/** An item of a published job. */
export function readJobItem(value: Value): JobItem | Problem {
  const item = asPlainDict(value) ?? newDict();
  const id = word(item, 'id');
  switch (dictGet(item, 'type')) {
    case 'sending':
      return { type: 'sending', jid: word(item, 'jid'), others: ids(item, 'others') };
    case 'job':
      return {
        ...{ type: 'job', jid: word(item, 'jid'), minions: ids(item, 'minions'), missing: ids(item, 'missing') },
        ...(boolField(item, 'growing') ? { growing: true } : {}),
        ...(dictGet(item, 'others') === undefined ? {} : { others: ids(item, 'others') }),
      };
    case 'return':
      return {
        ...{ type: 'return', id, ret: dictGet(item, 'ret') ?? null },
        ...{ retcode: count(item, 'retcode'), success: boolField(item, 'success') },
        ...given({ out: textField(item, 'out'), fun: textField(item, 'fun'), jid: textField(item, 'jid') }),
        ...given({ ended: textField(item, 'ended') }),
      };
    case 'missing':
      return { type: 'missing', id, reason: readReason(item), connected: boolField(item, 'connected') };
    case 'queued':
      return { type: 'queued', id, until: count(item, 'until'), reason: readReason(item) };
    case 'batch':
      return { type: 'batch', minions: ids(item, 'minions') };
    case 'more':
      return { type: 'more', minions: ids(item, 'minions') };
    case 'progress':
      return { type: 'progress', id, text: word(item, 'text') };
    case 'end':
      return { type: 'end', balance: dictField(item, 'balance') ?? newDict() };
    default:
      return problem('an item of a job with an unknown kind');
  }
}

/** An item of a runner or a wheel function. */
export function readRunnerItem(value: Value): RunnerItem | Problem {
  const item = asPlainDict(value) ?? newDict();
  switch (dictGet(item, 'type')) {
    case 'started':
      return { type: 'started', jid: word(item, 'jid'), user: word(item, 'user') };
    case 'progress':
      return { type: 'progress', text: word(item, 'text') };
    case 'print':
      return { type: 'print', text: word(item, 'text') };
    case 'result':
      return {
        ...{ type: 'result', ret: dictGet(item, 'ret') ?? null },
        ...{ success: boolField(item, 'success'), retcode: count(item, 'retcode') },
        ...given({ out: textField(item, 'out') }),
        ...(boolField(item, 'inOrder') ? { inOrder: true } : {}),
        ...(boolField(item, 'failed') ? { failed: true } : {}),
      };
    default:
      return problem('an item of a function with an unknown kind');
  }
}

export function readTargetPreview(value: Value): TargetPreview | Problem {
  const item = asPlainDict(value);
  if (!item) return problem('a preview that is not a map');
  const classes = dictEntries(dictField(item, 'classes') ?? newDict());
  return {
    minions: ids(item, 'minions'),
    unknown: ids(item, 'unknown'),
    connected: asPlainDict(dictGet(item, 'connected')) ?? newDict(),
    classes: Object.fromEntries(classes.map(([name, found]) => [String(name), asPlainDict(found) ?? newDict()])),
    summary: word(item, 'summary'),
  };
}

export function readMasterEvent(value: Value): MasterEvent | Problem {
  const item = asPlainDict(value);
  const data = item && dictField(item, 'data');
  return item && data ? { tag: word(item, 'tag'), data } : problem('an event without data');
}
