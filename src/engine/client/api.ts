// The calls of commands to a running master, and the items that are streamed back.
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import type {
  JobItem,
  LocalPublish,
  MasterEvent,
  RunnerItem,
  TargetPreview,
} from '../../protocol/wire/messages/local.ts';

export type {
  BatchRequest,
  JobItem,
  LocalPublish,
  MissingReason,
  RunnerItem,
} from '../../protocol/wire/messages/local.ts';

/** A caller who proves itself by external authentication. */
export type ExternalCaller =
  | { readonly token: string }
  | { readonly eauth: string; readonly username: string; readonly password: string };

/** Whether the master can do its work, and what keeps it from that, by the name of the check. */
export interface MasterHealth {
  readonly ready: boolean;
  readonly why: Readonly<Record<string, string>>;
}

export interface LocalClient {
  publish(call: LocalPublish): AsyncIterable<JobItem>;
  /** What is known of a job that was published before, then the rest of it. */
  attach(jid: string): AsyncIterable<JobItem>;
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
  /** Tells the master that key files were changed from outside, so that it fires events and rotates immediately. */
  keysChanged(changes: readonly { act: 'accept' | 'reject' | 'delete'; id: string }[], rotate: boolean): Promise<void>;
  /** Tells the master of a job of salt-ssh, or of a result of one. */
  recordSsh(record: PlainDict): Promise<void>;
  /** In the text format of Prometheus; for operators only. */
  metrics(): Promise<string>;
  health(): Promise<MasterHealth>;
  /** Makes a token for the name and password of this caller. */
  login(): Promise<string>;
  /** Deletes the token of this caller. */
  logout(): Promise<void>;
  close(): void;
}
