// Returners: where results go beside the master, and job caches and event stores that a master keeps in other databases.
import type { PlainDict, Value } from '../../base/codec/value.ts';
import type { Availability } from './availability.ts';
import type { ExecOptions, ExecResult, ExtensionLog } from './exec.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';
import type { ArgsOf, Params } from './params.ts';

/** What a returner sees; it runs on minions and on masters. */
export interface ReturnerContext {
  /** The minion's id, or the master's. */
  readonly id: string;
  readonly opts: Readonly<Record<string, Value>>;
  readonly grains: PlainDict;
  readonly pillar: PlainDict;
  readonly log: ExtensionLog;
  readonly signal: AbortSignal;
  exec(file: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  /** A result as an outputter shows it (`highstate`, `nested`, …), without colours. */
  show(data: Value, outputter: string): Promise<string>;
  /** Another returner with its own options, for those that pass results on. */
  open(name: string): Promise<ReturnerSession>;
  /** Calls an execution function; undefined where there are none (results kept by a master). */
  call?(fun: string, ...args: Value[]): Promise<Value>;
  /**
   * Options that came with the job (`--return_kwargs`) instead of this machine's configuration. What would run code, such
   * as a renderer that a template names, must not come from there.
   */
  readonly fromJob?: ReadonlySet<string>;
  /** Renders a text as state files are rendered (subjects of mails): only texts of the configuration. */
  render?(source: string, context: PlainDict): Promise<Value>;
}

/** An event of the master's bus as it is kept. */
export interface StoredEvent {
  readonly tag: string;
  readonly data: PlainDict;
  /** It may be there already, written by a master that was killed before it could note so: look, where that is possible. */
  readonly again?: boolean;
}

/**
 * Jobs in another database, as Salt's masters keep them. Every write may come twice (a spool replays what was not
 * acknowledged): the second one changes nothing.
 */
export interface JobCache {
  saveLoad(jid: string, load: PlainDict, minions: readonly string[]): Promise<void>;
  load(jid: string): Promise<PlainDict | undefined>;
  /** Minion → its return load (`return`, `retcode`, `success`, `fun`, … as far as the database keeps them). */
  returns(jid: string): Promise<Map<string, PlainDict>>;
  /** Minion → the last return of a function. */
  lastOf(fun: string): Promise<Map<string, PlainDict>>;
  /** Every job: jid → load. */
  jids(): Promise<Map<string, PlainDict>>;
  minions(): Promise<string[]>;
  /** Removes jobs older than that; how many, where it is known. */
  clean?(keepSeconds: number): Promise<number>;
}

/** An open returner: one connection or pool, used until `close`. */
export interface ReturnerSession {
  /** Keeps one return load (`jid`, `id`, `fun`, `fun_args`, `return`, `retcode`, `success`, …); throws when it could not. */
  save(ret: PlainDict): Promise<void>;
  /** The same for many, in order, all or nothing; without it they are saved one by one. */
  saveMany?(rets: readonly PlainDict[]): Promise<void>;
  /** For `event_return`. */
  saveEvents?(events: readonly StoredEvent[]): Promise<void>;
  readonly jobCache?: JobCache;
  close?(): Promise<void>;
}

export type ReturnerKeeps = 'jobs' | 'events';

export interface ReturnerSpec<O extends Params = Params> {
  readonly name: string;
  /** The name in `--return` when it differs from the file's. */
  readonly virtualName?: string;
  readonly doc: string;
  /**
   * By Salt's names below the returner's: `host` is `redis.host` in the configuration, `alternative.redis.host` under
   * `--return_config alternative`, and `host` in `--return_kwargs`.
   */
  readonly options: O;
  /** The first word of the option names when it is not the returner's name (`smtp.…` for several of them). */
  readonly optionPrefix?: string;
  /** What its sessions keep besides results: `jobCache` and `saveEvents`. Shown by `sys.list_returner_functions`. */
  readonly keeps?: readonly ReturnerKeeps[];
  /** true, or the reason why not. */
  readonly available?: (system: Availability) => true | string | Promise<true | string>;
  open(options: ArgsOf<O>, ctx: ReturnerContext): Promise<ReturnerSession> | ReturnerSession;
}

/** A returner as loaders see it. */
export interface Returner {
  readonly kind: 'returners';
  readonly name: string;
  readonly virtualName?: string;
  readonly doc: string;
  readonly options: Params;
  readonly optionPrefix?: string;
  readonly keeps?: readonly ReturnerKeeps[];
  readonly available?: (system: Availability) => true | string | Promise<true | string>;
  open(options: never, ctx: ReturnerContext): Promise<ReturnerSession> | ReturnerSession;
}

const returnerKeys: KnownKeys<ReturnerSpec> = {
  ...{ name: true, virtualName: true, doc: true, options: true },
  ...{ optionPrefix: true, keeps: true, available: true, open: true },
};

export function defineReturner<const O extends Params>(spec: ReturnerSpec<O>): Returner {
  return { kind: 'returners', ...withKnownKeys('defineReturner()', spec, returnerKeys) };
}
