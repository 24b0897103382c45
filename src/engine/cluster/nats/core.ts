// What all parts of the NATS cluster use: the connection, the seal, where things are on disk, and who must be told.
import type { Value } from '../../../base/codec/value.ts';
import type { Logger } from '../../../base/log/index.ts';
import type { ClusterChange, Member } from '../api.ts';
import type { ClusterOptions } from '../options.ts';
import type { LocalTable } from '../ports.ts';
import type { Envelope, SealProblem } from './envelope.ts';
import type { JetStream } from './jetstream.ts';

export interface Core {
  readonly options: ClusterOptions;
  readonly log: Logger;
  readonly envelope: Envelope;
  readonly table: LocalTable;
  /** Takes keys that were made while this member was away. */
  readonly keyring: { follow(): Promise<void> };
  /** Aborted when the cluster is closed. */
  readonly signal: AbortSignal;
  /** Rejects with `cluster.cut-off` while there is no connection yet. */
  js(): JetStream;
  /** Resolves when the member has its slot and the streams are there; rejects when that takes long. */
  ready(): Promise<void>;
  /** Resolves at that time, however long it takes; rejects when the cluster is closed. */
  established(): Promise<void>;
  slot(): number;
  /** Whether the engine answered within the last seconds. */
  isJoined(): boolean;
  /** The engine's clock, in milliseconds since the epoch. */
  engineNow(): number;
  /** Grows when the engine lost its data. */
  epoch(): number;
  /** Which of all streams of this name it is. */
  birth(stream: string): string;
  /** How far it was when this member joined. */
  joinedAt(stream: string): number;
  /** Makes the missing streams again and tells that the engine lost data; one at a time. */
  lost(stream: string, why: string): Promise<void>;
  members(): readonly Member[];
  member(slot: number, boot: string): Member | undefined;
  /** A request failed: when the stream is gone, it is made again. */
  failed(error: unknown, stream: string): void;
  /** The record of what the engine has was changed. */
  recorded(value: Value): void;
  /** Another process renews the entry of this slot. */
  counterpart(member: Member): void;
  changed(change: ClusterChange): void;
  /** Counts and names something that is not taken. */
  refused(where: string, why: SealProblem | Refusal): void;
}

export type Refusal = 'wrong' | 'went-back' | 'replayed' | 'unknown-kind' | 'no-member';

const explained: Readonly<Record<SealProblem | Refusal, string>> = {
  foreign: 'it is not sealed by a member of this cluster',
  'unknown-version': 'a newer version of Halite wrote it: upgrade this master',
  'unknown-key': 'it is sealed with a key of the cluster that this master does not have',
  'retired-key': 'it is sealed with a key of the cluster that was replaced',
  wrong: 'its content is not what belongs there',
  'went-back': 'it is older than what was there before',
  replayed: 'it was received before',
  'unknown-kind': 'this version of Halite does not know its kind',
  'no-member': 'its sender is no live member',
};

/** Counts what is refused by reason, and says so in the log, seldom. */
export class Refusals {
  readonly counts = new Map<string, number>();
  readonly #log: Pick<Logger, 'limited'>;

  constructor(log: Pick<Logger, 'limited'>) {
    this.#log = log;
  }

  add(where: string, why: SealProblem | Refusal): void {
    this.counts.set(why, (this.counts.get(why) ?? 0) + 1);
    this.#log.limited(`refused:${why}`, 'warn', 'something from the nats-servers is not taken', {
      where,
      why: explained[why],
    });
  }
}
