// What commands can ask of a running master, and the items that come back as a stream.
import type { JsonText } from '../../base/codec/json/index.ts';
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';

export interface BatchRequest {
  /** A number of minions, or a percentage (`25%`). */
  readonly size: string;
  readonly wait?: number;
  readonly safe_limit?: number;
  readonly safe_size?: number;
  readonly failhard?: boolean;
}

export interface PublishCall {
  readonly tgt: string | readonly string[];
  readonly tgt_type: string;
  readonly fun: string | readonly string[];
  readonly arg: readonly Value[];
  readonly ret?: string;
  readonly jid?: string;
  /** Seconds. */
  readonly timeout?: number;
  readonly gather_job_timeout?: number;
  /** `delimiter`, `metadata`, `ret_config`, `ret_kwargs`, `module_executors`, `executor_opts`. */
  readonly kwargs?: PlainDict;
  readonly batch?: BatchRequest;
  readonly subset?: number;
  readonly async?: boolean;
  /** Seconds after which minions kill the job and the wait ends. */
  readonly deadline?: number;
  /** Seconds for which the job is kept for minions that are away. */
  readonly durable?: number;
  /** `98%` or a number: nothing is sent when fewer of the targeted minions can be reached. */
  readonly require?: string;
  /** The groups of the caller's configuration, for `nodegroup` targets and `N@`: they count as of now, as in Salt. */
  readonly nodegroups?: Dict;
  readonly user?: string;
  /** External authentication, when asked for. */
  readonly eauth?: string;
  readonly token?: string;
}

export interface MissingReason {
  readonly code: string;
  readonly text: string;
  readonly evidence: Dict;
}

export type JobItem =
  | { readonly type: 'job'; readonly jid: string; readonly minions: string[]; readonly missing: string[] }
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
  /** Kept for a minion that is away (`--durable`), until the given time in milliseconds. */
  | { readonly type: 'queued'; readonly id: string; readonly until: number; readonly reason: MissingReason }
  | { readonly type: 'batch'; readonly minions: string[] }
  | { readonly type: 'progress'; readonly id: string; readonly text: string }
  | { readonly type: 'end'; readonly balance: Dict };

export type RunnerItem =
  | { readonly type: 'started'; readonly jid: string }
  | { readonly type: 'progress'; readonly text: string }
  | { readonly type: 'print'; readonly text: string }
  | {
      readonly type: 'result';
      readonly ret: Value | JsonText;
      readonly success: boolean;
      readonly retcode: number;
      readonly out?: string;
      readonly inOrder?: boolean;
    };

export interface TargetPreview {
  readonly minions: string[];
  /** Connection state by id: yes, no, unknown. */
  readonly connected: PlainDict;
  readonly unknown: string[];
  /** Ids by what is known of them (`connected`, `away`, `too_old`, …), each in one class, with the reason. */
  readonly classes: Readonly<Record<string, PlainDict>>;
  /** The same as one line. */
  readonly summary: string;
}

export interface MasterEvent {
  readonly tag: string;
  readonly data: Dict;
}

export interface LocalClient {
  publish(call: PublishCall): AsyncIterable<JobItem>;
  runner(
    fun: string,
    args: readonly Value[],
    kwargs: PlainDict,
    options?: { async?: boolean },
  ): AsyncIterable<RunnerItem>;
  wheel(fun: string, args: readonly Value[], kwargs: PlainDict): Promise<{ ret: Value; success: boolean }>;
  previewTarget(
    tgt: string | readonly string[],
    tgtType: string,
    options?: { delimiter?: string; nodegroups?: Dict },
  ): Promise<TargetPreview>;
  events(tag: string): AsyncIterable<MasterEvent>;
  /** Tells the master that key files were changed from outside, so that it fires events and rotates at once. */
  keysChanged(changes: readonly { act: 'accept' | 'reject' | 'delete'; id: string }[], rotate: boolean): Promise<void>;
  close(): void;
}
