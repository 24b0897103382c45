// Beacons: what a minion watches on its machine, and the events it tells its masters about it.
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import type { Availability } from './availability.ts';
import type { ExecOptions, ExecResult, ExtensionLog } from './exec.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';

/** What a beacon sees. It runs in a process of its own, so that nothing it does holds the minion up. */
export interface BeaconContext {
  /** The minion's id. */
  readonly id: string;
  /** The name it is configured by; differs from the beacon's with `beacon_module`. */
  readonly name: string;
  readonly opts: Readonly<Record<string, Value>>;
  readonly grains: Dict;
  readonly log: ExtensionLog;
  /** Ends with the beacon. */
  readonly signal: AbortSignal;
  call(fun: string, ...args: Value[]): Promise<Value>;
  callWith(fun: string, args: readonly Value[], kwargs: PlainDict): Promise<Value>;
  exec(file: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
}

/** A beacon at work with one configuration. */
export interface BeaconSession {
  /** What is to be told now: one map for each event; its `tag` is appended to the event's tag and left out of the data. */
  read(): readonly PlainDict[] | Promise<readonly PlainDict[]>;
  /** Lets go of files and processes. */
  close?(): void | Promise<void>;
}

export interface BeaconSpec {
  readonly name: string;
  readonly virtualName?: string;
  readonly doc: string;
  /** Configuration as YAML. */
  readonly examples?: readonly string[];
  /** true, or the reason why not. */
  readonly available?: (system: Availability) => true | string | Promise<true | string>;
  /**
   * What is wrong with a configuration, in words that name the key; undefined when it is fine. `settings` is the
   * configured list of maps as one map, without what the minion itself reads (`interval`, `enabled`, …).
   */
  validate?(settings: PlainDict, ctx: BeaconContext): string | undefined | Promise<string | undefined>;
  open(settings: PlainDict, ctx: BeaconContext): BeaconSession | Promise<BeaconSession>;
}

/** A beacon as loaders see it. */
export interface Beacon extends BeaconSpec {
  readonly kind: 'beacons';
}

const beaconKeys: KnownKeys<BeaconSpec> = {
  ...{ name: true, virtualName: true, doc: true, examples: true },
  ...{ available: true, validate: true, open: true },
};

export function defineBeacon(spec: BeaconSpec): Beacon {
  return { kind: 'beacons', ...withKnownKeys('defineBeacon()', spec, beaconKeys) };
}
