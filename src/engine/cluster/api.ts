// What several masters share, as four small interfaces; one master alone uses the same ones (alone.ts). Nothing outside
// this folder knows which engine carries them.
import type { Value } from '../../base/codec/value.ts';
import type { LedgerFrame, LedgerItem, Position, Publication } from './messages.ts';

/** Ten members at most: the slot is the last digit of the jids that a member makes. */
export const mostMembers = 10;

export interface Member {
  /** The option `id` without `_master`. */
  readonly id: string;
  /** 0 to 9, claimed once and kept. */
  readonly slot: number;
  /** Random per start of the process. */
  readonly boot: string;
  readonly version: string;
  /** The highest version of the messages that it understands. */
  readonly level: number;
  /** When it started and when it was last heard from, in milliseconds since the epoch. */
  readonly since: number;
  readonly seen: number;
  /** Where minions reach it: `host:port` of its request port. */
  readonly addresses: readonly string[];
  /** Its clock minus that of the engine, in milliseconds. */
  readonly skewMs: number;
  /** Records that only its disk had when it was heard from; undefined for one that does not say. */
  readonly held?: number | undefined;
}

export type ClusterState =
  | { readonly kind: 'alone' }
  | { readonly kind: 'joined'; readonly since: number }
  | { readonly kind: 'cut-off'; readonly since: number; readonly why: string };

export type ClusterChange =
  | { readonly kind: 'joined' | 'left'; readonly member: Member }
  | { readonly kind: 'state'; readonly state: ClusterState }
  | { readonly kind: 'leader'; readonly leader: Member | undefined; readonly term: number }
  | { readonly kind: 'level'; readonly level: number }
  /** The engine lost what it had: what members have is sent again by repair. */
  | { readonly kind: 'engine-lost-data' };

export interface Cluster {
  /** Absent for a master that has none. */
  readonly name: string | undefined;
  readonly self: Member;
  readonly state: ClusterState;
  /** Live ones, this one included, by slot. */
  members(): readonly Member[];
  readonly relay: Relay;
  readonly ledger: Ledger;
  readonly registry: Registry;
  readonly signals: Signals;
  /** What members seal with; absent for a master without others. */
  readonly keyring?: Keyring;
  /** Who leads, as far as this member knows; a master without others leads. */
  leader(): Leader | undefined;
  /** Whether this member leads now: to be asked before every act of the leader. */
  leads(): boolean;
  /** How the engine is; undefined for a master without others. */
  report(): EngineReport | undefined;
  onChange(listener: (change: ClusterChange) => void): () => void;
  close(): Promise<void>;
}

/** The keys that members seal with, by number. Only their members have them. */
export interface Keyring {
  /** The one that this member seals with, and the last one that it has. */
  readonly current: number;
  readonly newest: number;
  /** Members that were not forgotten, live or not: a key is sealed for the identity of each. */
  members(): Promise<readonly { readonly id: string; readonly slot: number; readonly hasIdentity: boolean }[]>;
  /** The number of a new key that all members can take and none seals with yet; one that was begun is used. */
  make(): Promise<number>;
  /** Takes the keys that others made. */
  follow(): Promise<void>;
  use(number: number): void;
  /** Seals everything in the registry with the current key; how much could not be done. */
  reseal(): Promise<number>;
  /** Older keys open nothing from now on. */
  retire(below: number): void;
}

export interface Leader {
  readonly member: Member;
  readonly term: number;
}

export interface EngineReport {
  /** Empty while there is no connection. */
  readonly server: string;
  readonly version: string;
  /** How long the engine took for the last renewal. */
  readonly delayMs: number;
  /** The last place in the order of publications. */
  readonly place: number;
  /** Grows when the engine lost its data. */
  readonly epoch: number;
  /** Streams that are configured otherwise than Halite does. */
  readonly problems: readonly string[];
  /** How many things were not taken, by reason. */
  readonly refused: Readonly<Record<string, number>>;
}

/** Publications: short-lived, in one order for every member, the publishing one included. */
export interface Relay {
  /**
   * Resolves with its place in the order. Rejects with `cluster.cut-off` after `waitMs`, and is tried on until its time
   * to live ends: the caller may act on it alone meanwhile, and its own copy comes when it has a place. The same key
   * twice is one publication.
   */
  publish(key: string, message: Publication, waitMs: number): Promise<number>;
  /** One at a time, in order. `late`: older than its time to live when read. */
  onPublication(handler: (message: Publication, place: number, late: boolean) => Promise<void>): void;
  /** The last place that was handled, also by an earlier process; 0 when there was none. */
  readonly place: number;
}

/** History: at least once, resumed where this member left off. */
export interface Ledger {
  /** Resolves when the majority of the engine has it. Never rejects for an absent engine: the item is held on disk. */
  append(item: LedgerItem): Promise<void>;
  /** Frames of all members, in order. The caller stores `frame.position` in the transaction that stores the items. */
  follow(from: Position | undefined, apply: (frame: LedgerFrame) => Promise<void>, signal: AbortSignal): Promise<void>;
  /** What only this disk has. */
  held(): { readonly items: number; readonly bytes: number; readonly since: number };
}

/** Small shared facts, and who may act alone. */
export interface Registry {
  bucket<T extends Value>(name: BucketName): Bucket<T>;
  /**
   * One holder at a time; `term` grows with each. Resolves when this member holds it; `lost` is called before it could
   * pass to another member. Given back when the signal is aborted.
   */
  lease(name: string, options: LeaseOptions): Promise<Lease>;
  /** True for exactly one caller per name; forgotten after `ttlMs`, an hour at most. */
  claim(name: string, ttlMs: number): Promise<boolean>;
}

export interface LeaseOptions {
  readonly ttlMs: number;
  readonly lost: () => void;
  readonly signal: AbortSignal;
}

export interface Lease {
  /** Grows with each holder. */
  readonly term: number;
  /** To be asked before every act: a process that was frozen finds out before `lost` can be called. */
  isHeld(): boolean;
}

export const bucketNames = ['reg', 'keys', 'data', 'mine', 'pending', 'tokens'] as const;
export type BucketName = (typeof bucketNames)[number];

/** Grows with each change of the bucket. */
export type Revision = number;

export interface Entry<T> {
  readonly key: string;
  readonly value: T;
  readonly revision: Revision;
}

export interface Removed {
  readonly key: string;
  readonly removed: true;
  readonly revision: Revision;
}

export interface Bucket<T> {
  get(key: string): Promise<Entry<T> | undefined>;
  /** Rejects with `cluster.conflict` when it exists. */
  create(key: string, value: T): Promise<Revision>;
  /** Rejects with `cluster.conflict` when it changed since `last`. */
  update(key: string, value: T, last: Revision): Promise<Revision>;
  /** With `last`: rejects with `cluster.conflict` when it changed since. */
  remove(key: string, last?: Revision): Promise<void>;
  /** Everything there is, then `synced`, then changes; from a revision on: only changes. */
  watch(options: WatchOptions<T>): void;
}

export interface WatchOptions<T> {
  readonly from?: Revision;
  on(entry: Entry<T> | Removed): void;
  synced?(): void;
  readonly signal: AbortSignal;
}

export const signalKinds = ['event', 'presence', 'life', 'trust'] as const;
export type SignalKind = (typeof signalKinds)[number];

export const questions = [
  'presence',
  'digest',
  'items',
  'result',
  'diff',
  'status',
  'join',
  'files',
  'sync',
  'adopt',
  'drain',
] as const;
export type Question = (typeof questions)[number];

/** Best effort, without memory. Each sender numbers its messages, so that a receiver notices what it missed. */
export interface Signals {
  /** To one member, or to all others. */
  send(kind: SignalKind, body: Value, to?: string): void;
  on(kind: SignalKind, handler: (body: Value, from: Member) => void): () => void;
  /** Called when messages of a member were missed: what they told must be asked for. */
  onGap(handler: (from: Member, missed: number) => void): () => void;
  ask(to: string, what: Question, body: Value, options: { readonly timeoutMs: number }): AsyncIterable<Value>;
  answer(what: Question, handler: (body: Value, from: Member, signal: AbortSignal) => AsyncIterable<Value>): void;
  /** A machine that is no member asks for something: anybody with access to the engine can. */
  onNewcomer(handler: NewcomerHandler): void;
}

/** Gives the answer; undefined: none. */
export type NewcomerHandler = (bytes: Uint8Array) => Promise<Uint8Array | undefined>;
