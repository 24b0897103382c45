// What extension code may access: narrow interfaces, passed as parameters, never global.

import type { JsonText } from '../../base/codec/json/index.ts';
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import type { Login } from './auth.ts';
import type { CallArguments, KnownFunction } from './calls.ts';
import type { ClusterMembership, ClusterView } from './cluster.ts';
import type { ExecOptions, ExecResult, ExtensionLog } from './exec.ts';
import type { FileClient, FileServerView, FileSlice } from './files.ts';
import type { JobOutcome, JobRequest } from './job-request.ts';
import type { OrchestrationServices, OwnCallOptions, OwnCallOutcome } from './orchestration.ts';
import type { OutputOptions } from './outputters.ts';
import type { PillarView } from './pillars.ts';
import type { ProxyServices } from './proxies.ts';
import type { RenderRequest } from './renderers.ts';
import type { SdbServices } from './sdb-services.ts';
import type { UserSerializer } from './serializer-services.ts';
import type { StateServices } from './state-services.ts';

export interface RunningJob {
  readonly jid: string;
  readonly fun: string;
  readonly arg: Value[];
  readonly tgt: Value;
  readonly tgt_type: string;
  readonly ret: string;
  readonly user: string;
  readonly pid: number;
  /** Its function has ended; the master has not acknowledged the result yet. */
  readonly delivering?: boolean;
}

export interface MasterRequestOptions {
  /** Byte strings in the reply stay bytes. */
  readonly raw?: boolean;
  readonly timeoutMs?: number;
  /** Fields of the request that only a Halite master receives. */
  readonly halite?: PlainDict;
}

/** Services of the minion daemon for functions; in a job process these calls are forwarded to the daemon. */
export interface MinionServices {
  /** False under `salt-call --local`. */
  readonly hasMaster: boolean;
  running(): Promise<RunningJob[]>;
  /**
   * Sends a signal to the process tree of a job; returns the text for the operator, or '' when there is no such job.
   */
  signalJob(jid: string, signal: number): Promise<string>;
  /** One request to the master of this job (`{cmd: '_mine_get', …}`); the reply value. */
  masterRequest(load: PlainDict, options?: MasterRequestOptions): Promise<Value>;
  /** Fires an event on the master's bus. */
  fire(tag: string, data: Dict): Promise<boolean>;
  refreshGrains(): Promise<void>;
  refreshPillar(): Promise<boolean>;
  /** Compiles the pillar again and returns it without storing it (pillar.items pillar=…). */
  compilePillar(options: { override?: Dict; pillarenv?: string; saltenv?: string; ext?: Value }): Promise<Dict>;
  /**
   * Writes a slice of a file of the master to a local file and returns the number of bytes. Only where requests
   * are forwarded to the daemon: large files would otherwise be forwarded chunk by chunk.
   */
  fetchSlice?(slice: FileSlice): Promise<number>;
  /** User extensions changed: new job processes load them. */
  reloadExtensions(): Promise<void>;
  /**
   * Sends a request to the scheduler: `{func: 'add', name, schedule, persist}` and so on; returns `{complete,
   * schedule}`.
   */
  schedule?(request: PlainDict): Promise<PlainDict>;
  /**
   * Sends a request about beacons: `{func: 'add', name, beacon_data}` and so on; returns `{complete, comment,
   * beacons}`.
   */
  beacons?(request: PlainDict): Promise<PlainDict>;
  /** The masters of this minion and how it stands with each; only in a running minion. */
  masters?(): Promise<PlainDict[]>;
  /** Moves this minion to another master: `{to, hold, finish, test}`; returns what was done. */
  handover?(request: PlainDict): Promise<PlainDict>;
  /** Asks the masters for their next key and stores it; fingerprints of the keys that this minion has. */
  masterKey?(): Promise<PlainDict>;
  /** Asks the device of a proxy minion: `{func: 'call', fun, args, kwargs}`, `has` or `reconnect`; see `ProxyServices`. */
  proxy?(request: PlainDict): Promise<Value>;
}

export interface FunctionInfo {
  readonly name: string;
  readonly doc: string;
  readonly params: Readonly<Record<string, import('./params.ts').Param>>;
}

/** Information about loaded extensions, for `sys.*`. */
export interface Registry {
  functionNames(kind: string): Promise<string[]>;
  moduleNames(kind: string): Promise<string[]>;
  functionInfo(kind: string, name: string): Promise<FunctionInfo | undefined>;
  moduleDoc(kind: string, name: string): Promise<string | undefined>;
}

/** The context of execution modules. */
export interface ModuleContext {
  readonly id: string;
  readonly opts: Readonly<Record<string, Value>>;
  readonly grains: Dict;
  readonly pillar: Dict;
  /** The job this call belongs to; `{jid, fun, arg, tgt, tgt_type, ret, user, pid}` as far as known. */
  readonly job: Readonly<Record<string, Value>>;
  readonly test: boolean;
  readonly log: ExtensionLog;
  readonly signal: AbortSignal;
  readonly minion: MinionServices;
  /** Files of the file server, of the web and of the minion's cache. */
  readonly files: FileClient;
  readonly registry: Registry;
  /** Compiles and applies states; undefined where there is no state engine (pillar templates on a master). */
  readonly states?: StateServices | undefined;
  /** Secret stores; undefined in tests that have none. */
  readonly sdb?: SdbServices | undefined;
  /** The master, while it applies states to itself (orchestration); undefined on minions. */
  readonly master?: OrchestrationServices | undefined;
  /** The device of a proxy minion; undefined on other minions. */
  readonly proxy?: ProxyServices | undefined;
  /** Shared by the functions of one job process: a cache that ends with the process. */
  readonly cache: Map<string, unknown>;
  /** Calls an execution function, built-in or not. `callWith` also passes keyword arguments. */
  call<F extends string>(fun: F & KnownFunction<F>, ...args: CallArguments<F>): Promise<Value>;
  callWith<F extends string>(fun: F & KnownFunction<F>, args: readonly Value[], kwargs: PlainDict): Promise<Value>;
  exec(file: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  /** Whether this minion (its id, grains and pillar) matches a target expression of a kind: `glob`, `compound`, `grain_pcre`, … */
  match(expr: string, kind: string): Promise<boolean>;
  /** Renders a text: `{ pipe: 'jinja', context }` for the template of a file, else by its `#!` line or the option `renderer`. */
  render(source: string, request?: RenderRequest): Promise<Value>;
  /** Renders a file of this machine; one that is missing or empty gives an empty map. */
  renderFile(path: string, request?: RenderRequest): Promise<Value>;
  /** A value formatted by an outputter; undefined when there is none of that name. */
  show?(data: Value, outputter: string, options: OutputOptions): Promise<string | undefined>;
  /** A serializer of users; undefined when there is none of that name. */
  serializer?(name: string): Promise<UserSerializer | undefined>;
  /** The job's exit status, shown to the operator as failure when not 0. */
  setRetcode(retcode: number): void;
  /** Reports a line of progress to the master (last output line of a running job). */
  progress(text: string): void;
}

/** The context of a grain collector. */
export interface GrainContext {
  readonly opts: Readonly<Record<string, Value>>;
  /** The device of a proxy minion; undefined on other minions, and while there is no connection to it. */
  readonly proxy?: ProxyServices | undefined;
  readonly log: ExtensionLog;
  exec(file: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
}

/** Services of the master daemon for runners and wheel functions. */
export interface MasterServices {
  readonly opts: Readonly<Record<string, Value>>;
  /** Publishes a job and waits until every minion has a verdict; the full return map per minion. */
  runJob(job: JobRequest): Promise<JobOutcome>;
  fire(tag: string, data: Dict): Promise<void>;
  readonly keys: KeyServices;
  readonly jobs: JobHistory;
  readonly fleet: FleetView;
  readonly files: FileServerView;
  readonly pillars: PillarView;
  /** Mine values: function → minion → value. */
  mine(tgt: string, tgtType: string, functions: readonly string[]): Promise<PlainDict>;
  callRunner(fun: string, args: readonly Value[], kwargs: PlainDict): Promise<Value>;
  callWheel(fun: string, args: readonly Value[], kwargs: PlainDict): Promise<Value>;
  /** Runs an execution function on the master itself, which acts as a minion with its own files and pillar. */
  callModule(fun: string, args: readonly Value[], kwargs: PlainDict, options: OwnCallOptions): Promise<OwnCallOutcome>;
  subscribe(tag: string, signal: AbortSignal): AsyncIterable<{ tag: string; data: Dict }>;
  readonly reactor: ReactorView;
  readonly cluster: ClusterView;
  readonly membership: ClusterMembership;
  readonly logins: LoginServices;
  readonly trust: ClusterServices;
  readonly rollover: RolloverServices;
  readonly retirement: RetirementServices;
}

/** How a master stands that leaves its minions to another one. */
export interface RetirementStatus {
  readonly active: boolean;
  /** The address of the new master. */
  readonly to: string;
  /** In milliseconds since the epoch. */
  readonly since: number;
  /** The master ends when no minion came for so long. */
  readonly quietSeconds: number;
  /** When the last minion was here; undefined while one is connected. */
  readonly quietSince: number | undefined;
  /** Jobs that still wait for results. */
  readonly jobs: readonly string[];
}

/** Ends the work of a master whose minions have moved. */
export interface RetirementServices {
  status(): Promise<RetirementStatus>;
  begin(to: string, quietSeconds: number): Promise<void>;
  undo(): Promise<void>;
}

/** A new key for the master, step by step. */
export interface RolloverServices {
  /** `{phase, from, to, announced, at, switched, until, compromised, minions: [{id, standing, halite, seen}]}`. */
  status(): Promise<PlainDict>;
  /** `at`: when it is to switch, in milliseconds since the epoch; 0: on command; 1: when nobody would be late. Returns the backup. */
  announce(options: { readonly at: number; readonly graceMs: number }): Promise<string | undefined>;
  abort(): Promise<void>;
  /** These three return the folder with the backup. */
  switchOver(): Promise<string>;
  back(): Promise<string>;
  compromised(): Promise<string>;
  end(): Promise<void>;
  /** The public key with which minions verify the signature of the master's key; made when there is none. */
  signingKey(): Promise<string>;
  /** From now on this minion demands that signature, or no longer. */
  demandSignature(id: string, wanted: boolean): Promise<void>;
}

/** What masters share; a master without others has only what does not need them. */
export interface ClusterServices {
  /** Changes the AES key of the fleet; the number of the new one. */
  rotateAes(): Promise<number>;
  /** Ends the present sessions of these minions: they sign in again. */
  renewSessions(ids: readonly string[]): Promise<void>;
  /**
   * Takes the states of keys from a folder of keys, or from those that differed when this master started; a dry run only
   * tells. Of two decisions the stricter counts; deleted and differing keys are taken only with `force`.
   */
  importKeys(options: ImportKeysOptions): Promise<PlainDict>;
}

export interface ImportKeysOptions {
  readonly folder?: string;
  readonly force: boolean;
  readonly dryRun: boolean;
}

/** A token of external authentication. */
export interface LoginToken {
  readonly token: string;
  readonly name: string;
  readonly eauth: string;
  /** In seconds since 1970. */
  readonly start: number;
  readonly expire: number;
}

export interface LoginServices {
  /** The new token, in the form in which Salt stores it. */
  make(login: Login & { readonly eauth: string }, seconds?: number): Promise<PlainDict>;
  list(): Promise<readonly LoginToken[]>;
  drop(token: string): Promise<boolean>;
}

/** The reactions to events. */
export interface ReactorView {
  list(): Value[];
  /** False when the tag already has reactions. */
  add(tag: string, files: readonly string[]): boolean;
  /** False when the tag has none. */
  delete(tag: string): boolean;
  /** Whether events trigger reactions. */
  leader: boolean;
  /** Counters: events, reactions, failed, dropped, waiting, running; and the last error. */
  status(): PlainDict;
}

export type KeyState = 'accepted' | 'pending' | 'rejected' | 'denied';

export interface KeyServices {
  list(): Promise<Record<KeyState, string[]>>;
  read(state: KeyState, id: string): Promise<string | undefined>;
  accept(ids: readonly string[], from?: readonly KeyState[]): Promise<string[]>;
  reject(ids: readonly string[], from?: readonly KeyState[]): Promise<string[]>;
  remove(ids: readonly string[]): Promise<string[]>;
  /** Stores a public key, for keys created on the master. */
  write(state: KeyState, id: string, pem: string): Promise<void>;
  /** Local keys of the master: file name → PEM text (master.pem, master.pub). */
  local(): Promise<Record<string, string>>;
  /** As `salt-key -F` prints it. */
  fingerprint(pem: string): string;
}

/** Job history; every list is newest first unless stated otherwise. */
export interface JobHistory {
  /** `source` names a returner to query instead of the configured job cache, here and below. */
  load(jid: string, source?: string): Promise<Dict | undefined>;
  /** Returns as stored: minion → `{return, retcode, success, out?, …}`. */
  returns(jid: string, source?: string): Promise<Record<string, Dict>>;
  expected(jid: string, source?: string): Promise<string[]>;
  list(filter: JobFilter, source?: string): Promise<JobSummary[]>;
  /** The list as `jobs.list_jobs` returns it, oldest first, as JSON text; undefined: build it from `list`. */
  listText(filter: JobFilter, source?: string): Promise<JsonText | undefined>;
  /** Results by minion, as JSON text; undefined: build it from `returns`. */
  returnsText(jid: string, source?: string): Promise<JsonText | undefined>;
  /** Running runners and wheel functions, as `jobs.master` returns them. */
  running(): Promise<PlainDict[]>;
  /** The status of the stores: `store`, and for each returner how many records wait for it. */
  health(): Promise<PlainDict>;
  /** The timeline of every minion of a job, oldest first. */
  timeline(jid: string): Promise<TimelineEntry[]>;
  /** Deliveries that wait for minions to reconnect. */
  pending(): Promise<{ jid: string; id: string; until: Date }[]>;
  /** Cancels deliveries that are still pending; returns their minion ids. */
  cancel(jid: string, ids?: readonly string[]): Promise<string[]>;
  /** Read-only SQL over the store's tables and views. */
  query(sql: string, parameters?: readonly Value[]): Promise<Dict[]>;
}

export interface TimelineEntry {
  readonly at: Date;
  readonly id: string;
  readonly what: string;
  readonly text: string;
}

export interface JobFilter {
  readonly functions?: readonly string[];
  readonly targets?: readonly string[];
  readonly metadata?: Dict;
  readonly startAfter?: Date;
  readonly startBefore?: Date;
  readonly limit?: number;
  /** Include find_job and other jobs that Halite publishes itself. */
  readonly internal?: boolean;
}

export interface JobSummary {
  readonly jid: string;
  readonly load: Dict;
}

export interface MinionStatus {
  readonly id: string;
  readonly connected: 'yes' | 'no' | 'unknown';
  readonly lastContact?: Date;
  readonly address?: string;
  readonly version?: string;
  readonly transport?: string;
  readonly generation?: number;
  /** In a cluster: the members to which it is connected. */
  readonly masters?: readonly string[];
}

/** What a master has stored about each minion. */
export type RememberedPart = 'grains' | 'pillar' | 'mine';

export interface FleetView {
  status(id: string): MinionStatus | undefined;
  all(): MinionStatus[];
  grains(id: string): Promise<Dict | undefined>;
  pillar(id: string): Promise<Dict | undefined>;
  /** Its mine data. */
  mine(id: string): Promise<Dict | undefined>;
  /** Accepted minions that a target matches, as far as the stored data allows. */
  match(tgt: string | readonly string[], kind: string): string[];
  /** Removes stored data until the minion sends it again; of the mine also a single function. */
  forget(id: string, part: RememberedPart, fun?: string): Promise<void>;
  /** Everything known about a minion, and the reason why it would currently not return, if any. */
  explain(id: string): Promise<Dict>;
  /** Accepted minions with a known problem, without asking them. */
  troubles(): MinionTrouble[];
}

export interface MinionTrouble {
  readonly id: string;
  /** A code of `docs/guide/jobs.md`. */
  readonly code: string;
  readonly text: string;
}

/** The context of runners and wheel functions. */
export interface MasterContext {
  readonly opts: Readonly<Record<string, Value>>;
  readonly log: ExtensionLog;
  readonly signal: AbortSignal;
  readonly master: MasterServices;
  readonly registry: Registry;
  readonly job: Readonly<Record<string, Value>>;
  readonly cache: Map<string, unknown>;
  call(fun: string, ...args: Value[]): Promise<Value>;
  callWith(fun: string, args: readonly Value[], kwargs: PlainDict): Promise<Value>;
  exec(file: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  setRetcode(retcode: number): void;
  /** A line for the operator while the runner runs (`salt-run` prints it to stderr). */
  progress(text: string): void;
  /** A line of output before the result (`salt-run` prints it to stdout). */
  print(text: string): void;
}
