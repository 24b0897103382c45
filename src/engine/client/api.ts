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

export interface LocalClient {
  publish(call: LocalPublish): AsyncIterable<JobItem>;
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
  close(): void;
}
