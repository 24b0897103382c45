// The interface of a job store. Writes are acknowledged when they are durable; reads never wait for writes.
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
  /** Published by Halite itself (find_job …): stored separately from the jobs of users. */
  readonly internal: boolean;
  /** Reported by a minion: never overwrites an existing job, and is overwritten by a published one. */
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

/** A job that waits for a minion to reconnect. */
export interface PendingDelivery {
  readonly jid: string;
  readonly id: string;
  /** When it expires, in milliseconds since the epoch. */
  readonly until: number;
}

/** A job with minions for which neither a result nor the reason for its absence is stored. */
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
  /** Number of newest events to keep; 0 keeps none. */
  readonly keepEvents?: number;
}

/** An event of the master's bus. Results are not stored twice: `jid` and `id` refer to the data. */
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
  /** A short name for logs and doctor output: `sqlite /var/cache/…/jobs.db`. */
  readonly description: string;
  saveJob(job: JobRecord): Promise<void>;
  /**
   * Resolves when it is durable, however long a full disk delays that: the caller then acknowledges.
   * Returns 'duplicate' when the return of this minion for this job was already stored; the first one stays.
   */
  saveReturn(ret: ReturnRecord): Promise<'stored' | 'duplicate'>;
  saveVerdicts(verdicts: readonly VerdictRecord[]): Promise<void>;
  saveEvents(events: readonly EventRecord[]): Promise<void>;
  saveMinionData(id: string, data: MinionData): Promise<void>;
  dropMinionData(id: string): Promise<void>;

  savePending(deliveries: readonly PendingDelivery[]): Promise<void>;
  dropPending(jid: string, id: string): Promise<void>;
  pending(): Promise<PendingDelivery[]>;

  /** The mine data of a minion, as one map; an empty one removes it. */
  saveMine(id: string, data: Dict): Promise<void>;
  loadMine(): Promise<Map<string, Dict>>;

  loadMinionData(): Promise<Map<string, MinionData>>;
  load(jid: string): Promise<Dict | undefined>;
  expected(jid: string): Promise<string[]>;
  returns(jid: string): Promise<Map<string, Dict>>;
  hasReturn(jid: string, id: string): Promise<boolean>;
  /** Of one minion, when an id is given. */
  verdicts(jid: string, id?: string): Promise<VerdictRecord[]>;
  /** The newest jobs of that time whose outcome is open for some minions, except those that wait to be delivered. */
  unfinished(range: { from: number; to: number; most: number }): Promise<UnfinishedJob[]>;
  list(filter: JobFilter): Promise<JobSummary[]>;
  /** The list as `jobs.list_jobs` returns it, oldest first; undefined when it must be built from `list`. */
  listText(filter: JobFilter): Promise<JsonText | undefined>;
  /** The results of minions, by id, with their outputter; undefined when it must be built from `returns`. */
  returnsText(jid: string): Promise<JsonText | undefined>;
  /** Read-only SQL over the views `jids`, `salt_returns`, … */
  query(sql: string, parameters?: readonly Value[]): Promise<Dict[]>;

  health(): StoreHealth;
  clean(retention: Retention): Promise<{ jobs: number }>;
  close(): Promise<void>;
}
