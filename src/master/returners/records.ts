// The records of a spool for a returner, and the messages between the master and the thread that delivers them.

import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import type { PlainDict, Value } from '../../base/codec/value.ts';
import type { LogLevel } from '../../extend/sdk/exec.ts';

/** `jobs`: the master job cache; `events`: event_return; `via`: results that minions asked the master to pass on. */
export const purposes = ['jobs', 'events', 'via'] as const;
export type Purpose = (typeof purposes)[number];

export type SinkRecord =
  | { readonly k: 'load'; readonly jid: string; readonly load: PlainDict; readonly minions: readonly string[] }
  | { readonly k: 'ret'; readonly load: PlainDict; readonly config?: string; readonly kwargs?: PlainDict }
  | { readonly k: 'event'; readonly tag: string; readonly data: PlainDict };

export const packRecord = (record: SinkRecord): Uint8Array => pack(record as unknown as Value);
export const unpackRecord = (body: Uint8Array): SinkRecord => unpack(body) as unknown as SinkRecord;

/** Queries to a job cache; the answers are those of its functions of the same names. */
export type Question = 'load' | 'returns' | 'jids' | 'minions' | 'clean';

export type ToReturnerWorker =
  | {
      readonly t: 'open';
      readonly name: string;
      readonly purpose: Purpose;
      readonly returner: string;
      readonly folder: string;
      readonly upTo: number;
      readonly gather?: { readonly count: number; readonly ms: number };
    }
  | { readonly t: 'appended'; readonly name: string; readonly upTo: number }
  | {
      readonly t: 'ask';
      readonly n: number;
      readonly returner: string;
      readonly what: Question;
      readonly arg: string | number;
    }
  | { readonly t: 'stop' };

/** The progress of a spool; sent after each batch and on changes. */
export interface Progress {
  readonly position: number;
  readonly delivered: number;
  readonly refused: number;
  readonly damaged: number;
  /** Why the returner currently accepts nothing. */
  readonly error?: string;
  /** Segments were removed. */
  readonly removed?: boolean;
}

export type FromReturnerWorker =
  | { readonly t: 'progress'; readonly name: string; readonly progress: Progress }
  | { readonly t: 'answer'; readonly n: number; readonly body?: Uint8Array; readonly error?: string }
  | { readonly t: 'log'; readonly level: LogLevel; readonly text: string; readonly fields: Record<string, unknown> }
  | { readonly t: 'stopped' };
