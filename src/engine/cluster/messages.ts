// What members of a cluster tell each other: publications and the items of the ledger.
import type { Dict, Value } from '../../base/codec/value.ts';
import type { PublishedJob } from '../../protocol/job/job.ts';

/** The record of a job, as every member stores it. */
export interface SharedJob {
  readonly jid: string;
  readonly fun: string;
  readonly tgt: string;
  readonly tgt_type: string;
  readonly user: string;
  readonly load: Dict;
  readonly expected: readonly string[];
  readonly started: number;
  readonly internal: boolean;
  readonly adopted?: boolean;
  /** Slot of the member that published it and follows it. */
  readonly owner: number;
}

/** Goes to minions, of every member. */
export interface JobPublication {
  readonly kind: 'job';
  readonly job: PublishedJob;
  readonly owner: number;
  /** When it was published, in milliseconds since the epoch. */
  readonly at: number;
  readonly ttlMs: number;
  /** The minions it is for; absent: only the target says. */
  readonly ids?: readonly string[];
}

/** From its place on, every member uses this AES key. */
export interface RotatePublication {
  readonly kind: 'rotate';
  readonly generation: number;
  readonly term: number;
}

/** Something all members do at the same place: steps of a key roll-over. */
export interface MarkPublication {
  readonly kind: 'mark';
  readonly what: string;
  readonly data: Value;
}

export type Publication = JobPublication | RotatePublication | MarkPublication;

export interface SharedReturn {
  readonly kind: 'ret';
  readonly jid: string;
  readonly id: string;
  readonly attempt: number;
  readonly fun: string;
  readonly retcode: number;
  readonly success: boolean;
  readonly received: number;
  /** The result as its minion sent it, without tokens. */
  readonly load: Dict;
}

export interface SharedVerdict {
  readonly kind: 'verdict';
  readonly jid: string;
  readonly id: string;
  readonly verdict: string;
  readonly reason: string;
  readonly text: string;
  readonly evidence: Dict;
  readonly at: number;
}

/** `job`: published here; `own`: reported by a minion (`salt-call`, its schedule). */
export interface SharedJobItem {
  readonly kind: 'job' | 'own';
  readonly job: SharedJob;
}

export type LedgerItem = SharedJobItem | SharedReturn | SharedVerdict;

/** Where a reader of the ledger is: the engine's own text, stored and given back unchanged. */
export type Position = string;

export interface LedgerFrame {
  /** Slot of the member that received these items. */
  readonly from: number;
  readonly position: Position;
  /** Grows with every frame, equal on all members: decides between two results of the same run. */
  readonly place: number;
  readonly items: readonly LedgerItem[];
}
