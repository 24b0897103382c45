// Engines: programs of their own that run beside a daemon as long as it does, each in its own process.
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import type { Availability } from './availability.ts';
import type { ExecOptions, ExecResult, ExtensionLog } from './exec.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';
import type { OrchestrationServices } from './orchestration.ts';
import type { ArgsOf, Params } from './params.ts';

export interface EngineEvent {
  readonly tag: string;
  readonly data: Dict;
}

/** The context of an engine. */
export interface EngineContext {
  /** The id of the minion, or of the master. */
  readonly id: string;
  /** The name under which it is configured; differs from the engine's with `engine_module`. */
  readonly name: string;
  readonly role: 'master' | 'minion';
  readonly opts: Readonly<Record<string, Value>>;
  readonly grains: Dict;
  readonly pillar: Dict;
  readonly log: ExtensionLog;
  /** Aborted when the engine has to end; one that does not end then is killed a moment later. */
  readonly signal: AbortSignal;
  /** The master, for engines that run on it; undefined on minions. */
  readonly master?: OrchestrationServices | undefined;
  /**
   * Fires an event on the bus of the master, from a minion through its connection. Waits when it is called more often
   * than an engine may.
   */
  fire(tag: string, data: Dict): Promise<boolean>;
  /**
   * Events as they happen: on a master all those of its bus, on a minion those it sends to its masters. `tags` are
   * globs; without any, all events. Those that a slow engine does not fetch are dropped, the oldest first.
   */
  events(tags?: readonly string[]): AsyncIterableIterator<EngineEvent>;
  call(fun: string, ...args: Value[]): Promise<Value>;
  callWith(fun: string, args: readonly Value[], kwargs: PlainDict): Promise<Value>;
  exec(file: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
}

export interface EngineSpec<P extends Params = Params> {
  readonly name: string;
  readonly virtualName?: string;
  readonly doc: string;
  /** Configuration as YAML. */
  readonly examples?: readonly string[];
  /** Its configuration: the map below its name in `engines`. */
  readonly params: P;
  /** true, or the reason why it is not usable. */
  readonly available?: (system: Availability) => true | string | Promise<true | string>;
  /** Runs until `ctx.signal` is aborted. One that returns or throws earlier is started again after a while. */
  start(config: ArgsOf<P>, ctx: EngineContext): Promise<void>;
}

/** An engine as seen by the loader. */
export interface Engine extends Omit<EngineSpec, 'start'> {
  readonly kind: 'engines';
  start(config: never, ctx: EngineContext): Promise<void>;
}

const engineKeys: KnownKeys<EngineSpec> = {
  ...{ name: true, virtualName: true, doc: true, examples: true },
  ...{ params: true, available: true, start: true },
};

export function defineEngine<const P extends Params>(spec: EngineSpec<P>): Engine {
  return { kind: 'engines', ...withKnownKeys('defineEngine()', spec, engineKeys as KnownKeys<EngineSpec<P>>) };
}
