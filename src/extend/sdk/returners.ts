// Returners: destinations of results in addition to the master, and job caches and event stores of a master in other
// databases.
import type { PlainDict, Value } from '../../base/codec/value.ts';
import type { Availability } from './availability.ts';
import type { ExecOptions, ExecResult, ExtensionLog } from './exec.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';
import type { ArgsOf, Params } from './params.ts';

/** The context of a returner; it runs on minions and on masters. */
export interface ReturnerContext {
  /** The minion's id, or the master's. */
  readonly id: string;
  readonly opts: Readonly<Record<string, Value>>;
  readonly grains: PlainDict;
  readonly pillar: PlainDict;
  readonly log: ExtensionLog;
  readonly signal: AbortSignal;
  exec(file: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  /** A result formatted by an outputter (`highstate`, `nested`, …), without colours. */
  show(data: Value, outputter: string): Promise<string>;
  /** Another returner with its own options, for returners that forward results. */
  open(name: string): Promise<ReturnerSession>;
  /** Calls an execution function; undefined where there are none (results stored by a master). */
  call?(fun: string, ...args: Value[]): Promise<Value>;
  /**
   * Options of the job (`--return_kwargs`) that override this machine's configuration. Anything that would run code,
   * such as a renderer named by a template, must not come from there.
   */
  readonly fromJob?: ReadonlySet<string>;
  /** Renders a text as state files are rendered (subjects of mails): only texts of the configuration. */
  render?(source: string, context: PlainDict): Promise<Value>;
}

/** An event of the master's bus in the form in which it is stored. */
export interface StoredEvent {
  readonly tag: string;
  readonly data: PlainDict;
  /** It may already be stored, by a master that was killed before it could record that: check, where possible. */
  readonly again?: boolean;
}

/**
 * Jobs in another database, in the form of Salt's masters. Every write may be repeated (a spool replays what was not
 * acknowledged): the second one changes nothing.
 */
export interface JobCache {
  saveLoad(jid: string, load: PlainDict, minions: readonly string[]): Promise<void>;
  load(jid: string): Promise<PlainDict | undefined>;
  /** Minion → its return load (`return`, `retcode`, `success`, `fun`, … as far as the database stores them). */
  returns(jid: string): Promise<Map<string, PlainDict>>;
  /** Minion → the last return of a function. */
  lastOf(fun: string): Promise<Map<string, PlainDict>>;
  /** Every job: jid → load. */
  jids(): Promise<Map<string, PlainDict>>;
  minions(): Promise<string[]>;
  /** Removes jobs older than that; returns their number where it is known. */
  clean?(keepSeconds: number): Promise<number>;
}

/** An open returner: one connection or pool, used until `close`. */
export interface ReturnerSession {
  /** Stores one return load (`jid`, `id`, `fun`, `fun_args`, `return`, `retcode`, `success`, …); throws on failure. */
  save(ret: PlainDict): Promise<void>;
  /** The same for many, in order, atomically; without it they are saved one by one. */
  saveMany?(rets: readonly PlainDict[]): Promise<void>;
  /** For `event_return`. */
  saveEvents?(events: readonly StoredEvent[]): Promise<void>;
  readonly jobCache?: JobCache;
  close?(): Promise<void>;
}

export type ReturnerKeeps = 'jobs' | 'events';

export interface ReturnerSpec<O extends Params = Params> {
  readonly name: string;
  /** The name in `--return` when it differs from that of the file. */
  readonly virtualName?: string;
  readonly doc: string;
  /**
   * Options by Salt's names below the returner's: `host` is `redis.host` in the configuration, `alternative.redis.host`
   * with `--return_config alternative`, and `host` in `--return_kwargs`.
   */
  readonly options: O;
  /** The first word of the option names when it is not the returner's name (`smtp.…` for several of them). */
  readonly optionPrefix?: string;
  /**
   * What its sessions store in addition to results: `jobCache` and `saveEvents`. Shown by
   * `sys.list_returner_functions`.
   */
  readonly keeps?: readonly ReturnerKeeps[];
  /** true, or the reason why it is not usable. */
  readonly available?: (system: Availability) => true | string | Promise<true | string>;
  open(options: ArgsOf<O>, ctx: ReturnerContext): Promise<ReturnerSession> | ReturnerSession;
}

/** A returner as seen by loaders. */
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
