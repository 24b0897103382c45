// What the master needs of a job store. Writes are acknowledged when they are safe; reads never wait for writes.
import type { JsonText } from '../base/codec/json/index.ts';
import type { Dict, Value } from '../base/codec/value.ts';
import type { JobFilter, JobSummary } from '../extend/sdk/context.ts';

export interface JobRecord {
  readonly jid: string;
  readonly fun: string;
  readonly tgt: string;
  readonly tgt_type: string;
  readonly user: string;
  /** The published load, without secrets. */
  readonly load: Dict;
  readonly expected: readonly string[];
  readonly started: number;
  /** Sent by Halite itself (find_job …): kept apart from what people asked for. */
  readonly internal: boolean;
  /** Told by a minion: never written over a job that is there, and gives way to one that is published. */
  readonly adopted?: boolean;
}

export interface ReturnRecord {
  readonly jid: string;
  readonly id: string;
  readonly fun: string;
  readonly retcode: number;
  readonly success: boolean;
  /** The return load as the minion sent it (`return`, `retcode`, `fun_args`, …), without tokens. */
  readonly load: Dict;
  readonly received: number;
}

export interface VerdictRecord {
  readonly jid: string;
  readonly id: string;
  readonly verdict: string;
  readonly reason: string;
  readonly text: string;
  readonly evidence: Dict;
  readonly at: number;
}

export interface MinionData {
  readonly grains: Dict;
  readonly pillar: Dict;
}

/** A job that waits for a minion to come back. */
export interface PendingDelivery {
  readonly jid: string;
  readonly id: string;
  /** When it expires, in milliseconds since the epoch. */
  readonly until: number;
}

/** A job with minions of which nothing is stored, neither a result nor why there is none. */
export interface UnfinishedJob {
  readonly jid: string;
  readonly fun: string;
  readonly user: string;
  readonly ids: readonly string[];
}

/** Limits by age and by size; zero means no limit. */
export interface Retention {
  readonly keepSeconds: number;
  readonly maxBytes: number;
  /** The newest events that stay; 0 keeps none. */
  readonly keepEvents?: number;
}

/** An event of the master's bus. Results are not stored twice: `jid` and `id` say where the data is. */
export interface EventRecord {
  readonly tag: string;
  readonly data: Dict | null;
  readonly jid?: string;
  readonly id?: string;
  readonly at: number;
}

export interface StoreHealth {
  /** Why nothing can be written now. */
  readonly trouble?: string;
  /** Since when, in milliseconds since the epoch. */
  readonly since?: number;
  /** Where a damaged store was moved to, in this run. */
  readonly moved?: string;
}

export interface JobStore {
  /** A word for logs and doctor output: `sqlite /var/cache/…/jobs.db`. */
  readonly description: string;
  saveJob(job: JobRecord): Promise<void>;
  /**
   * Resolves when it is safe, however long a full disk makes that take: the caller acknowledges then.
   * Answers 'duplicate' when this minion's return for this job was already there; the first one stays.
   */
  saveReturn(ret: ReturnRecord): Promise<'stored' | 'duplicate'>;
  saveVerdicts(verdicts: readonly VerdictRecord[]): Promise<void>;
  saveEvents(events: readonly EventRecord[]): Promise<void>;
  saveMinionData(id: string, data: MinionData): Promise<void>;
  dropMinionData(id: string): Promise<void>;

  savePending(deliveries: readonly PendingDelivery[]): Promise<void>;
  dropPending(jid: string, id: string): Promise<void>;
  pending(): Promise<PendingDelivery[]>;

  /** What a minion publishes for others (the mine), as one map; an empty one removes it. */
  saveMine(id: string, data: Dict): Promise<void>;
  loadMine(): Promise<Map<string, Dict>>;

  loadMinionData(): Promise<Map<string, MinionData>>;
  load(jid: string): Promise<Dict | undefined>;
  expected(jid: string): Promise<string[]>;
  returns(jid: string): Promise<Map<string, Dict>>;
  hasReturn(jid: string, id: string): Promise<boolean>;
  /** Of one minion, when it is named. */
  verdicts(jid: string, id?: string): Promise<VerdictRecord[]>;
  /** The newest jobs of that time whose fate is open for some minions; those that wait to be delivered are not meant. */
  unfinished(range: { from: number; to: number; most: number }): Promise<UnfinishedJob[]>;
  list(filter: JobFilter): Promise<JobSummary[]>;
  /** The list as `jobs.list_jobs` shows it, oldest first; undefined when it must be made from `list`. */
  listText(filter: JobFilter): Promise<JsonText | undefined>;
  /** What minions answered, by id, with the outputter they name; undefined when it must be made from `returns`. */
  returnsText(jid: string): Promise<JsonText | undefined>;
  /** Read-only SQL over the views `jids`, `salt_returns`, … */
  query(sql: string, parameters?: readonly Value[]): Promise<Dict[]>;

  health(): StoreHealth;
  clean(retention: Retention): Promise<{ jobs: number }>;
  close(): Promise<void>;
}
