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
  /** Slot of the master that published it and follows it, in a cluster. */
  readonly owner?: number;
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
  /** Which run of the job on this minion it is of: 1 when absent. A later run replaces an earlier one. */
  readonly attempt?: number;
  /** Slot of the master that received it, in a cluster; it then has no place in the ledger yet. */
  readonly via?: number;
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
  /** Slot of the master that follows it, in a cluster. */
  readonly owner?: number;
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

/** Who did what, and what became of it. */
export interface AuditRecord {
  readonly at: number;
  readonly user: string;
  readonly eauth: string;
  /** The address, as the API says. */
  readonly origin: string;
  readonly agent: string;
  readonly request: string;
  readonly what: string;
  readonly target: string;
  readonly fun: string;
  readonly result: string;
  readonly jid: string | null;
  /** Of a request that must not be carried out twice, and the hash of what it asks for. */
  readonly key: string | null;
  readonly digest: string | null;
}

export interface StoreHealth {
  /** Why nothing can be written now. */
  readonly trouble?: string;
  /** Since when, in milliseconds since the epoch. */
  readonly since?: number;
  /** Where a damaged store was moved to, in this run. */
  readonly moved?: string;
}

/** How much a store has written since it was opened, and what waits. */
export interface StoreLoad {
  readonly written: number;
  readonly waiting: number;
  /** For how long nothing was written although something waits, in milliseconds. */
  readonly stalledMs: number;
}

/** `own`: reported by a minion. */
export type FrameItem =
  | { readonly kind: 'job' | 'own'; readonly job: JobRecord }
  | ({ readonly kind: 'ret'; readonly attempt: number } & ReturnRecord)
  | ({ readonly kind: 'verdict' } & VerdictRecord);

/** A frame of the ledger of a cluster: what one member received. */
export interface StoredFrame {
  readonly position: string;
  readonly place: number;
  /** Slot of that member; `own` when it is this one. */
  readonly from: number;
  readonly own: boolean;
  readonly items: readonly FrameItem[];
}

/** Results of one run of a job on one minion that differ: several minions use its id. */
export interface Conflict {
  readonly jid: string;
  readonly id: string;
  /** Slots of the masters that received them; null for one from before the cluster. */
  readonly via: readonly (number | null)[];
}

/** What members of a cluster compare, in this order. */
export const tallyKinds = ['job', 'ret', 'verdict'] as const;
export type TallyKind = (typeof tallyKinds)[number];

/** Number and XOR of the hashes of the rows of one hour or minute (of their jid: YYYYMMDDHH or YYYYMMDDHHMM). */
export interface Tallied {
  readonly kind: TallyKind;
  readonly span: string;
  readonly count: number;
  readonly hash: string;
}

/** Names a row and what it says; jobs have no id, and only results have the rest. */
export interface RowKey {
  readonly jid: string;
  readonly id: string;
  readonly attempt: number;
  readonly digest: string;
  /** In the ledger; smaller than 1 when it is not known. */
  readonly place: number;
}

/** A row of another member. Results say where in the ledger they are (0: unknown), and which member received them. */
export type ComparedRow =
  | { readonly kind: 'job'; readonly job: JobRecord }
  | ({ readonly kind: 'ret'; readonly attempt: number; readonly place: number; readonly via?: number } & ReturnRecord)
  | ({ readonly kind: 'verdict' } & VerdictRecord);

/** What a member of a cluster needs of its store to find out what it lacks. */
export interface ComparedStore {
  /** From one hour to another, or the minutes of these hours. Undefined while the rows are still being counted. */
  tallies(from: string, to: string, minutes: boolean): Promise<Tallied[] | undefined>;
  /** The jid up to which jobs were removed because there were too many; they are not wanted again. */
  removedTo(): Promise<string | undefined>;
  /** Rows whose jid begins with this text, in order. */
  keys(kind: TallyKind, span: string, most: number, after?: Pick<RowKey, 'jid' | 'id'>): Promise<RowKey[]>;
  /** Which of these rows are here. */
  known(kind: TallyKind, keys: readonly Pick<RowKey, 'jid' | 'id'>[]): Promise<RowKey[]>;
  rows(kind: TallyKind, keys: readonly Pick<RowKey, 'jid' | 'id'>[]): Promise<ComparedRow[]>;
  /** Adds what is not here. Of two results of the same run the first one in the ledger stays. */
  addRows(rows: readonly ComparedRow[]): Promise<AppliedFrame>;
}

/** What a frame changed here. */
export interface AppliedFrame {
  /** Which of its items were results that this store did not have. */
  readonly fresh: readonly number[];
  readonly conflicts: readonly Conflict[];
}

/** What a member of a cluster needs of its store in addition. */
export interface LedgerStore {
  /** Resolves when its items and its position are durable, in one transaction. */
  applyFrame(frame: StoredFrame): Promise<AppliedFrame>;
  /** Of the last frame that was applied. */
  ledgerPosition(): Promise<string | undefined>;
  /** Results that the ledger may not have: this process ended before it said so. */
  unplaced(most: number, after?: { readonly jid: string; readonly id: string }): Promise<ReturnRecord[]>;
  /** Slots of the member that follows a job, and of those that received its results. */
  receivers(jid: string): Promise<{ readonly owner?: number; readonly via: ReadonlyMap<string, number> }>;
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
  /** Only ever added. */
  saveAudit(records: readonly AuditRecord[]): Promise<void>;
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
  /**
   * The newest jobs of that time whose outcome is open for some minions, except those that wait to be delivered.
   * `owner`: only those of one member of the cluster.
   */
  unfinished(range: { from: number; to: number; most: number; owner?: number }): Promise<UnfinishedJob[]>;
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
