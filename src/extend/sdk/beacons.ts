// Beacons: what a minion watches on its machine, and the events it sends to its masters about it.
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import type { Availability } from './availability.ts';
import type { ExecOptions, ExecResult, ExtensionLog } from './exec.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';

/** The context of a beacon. It runs in its own process, so that it never blocks the minion. */
export interface BeaconContext {
  /** The minion's id. */
  readonly id: string;
  /** The name under which it is configured; differs from the beacon's with `beacon_module`. */
  readonly name: string;
  readonly opts: Readonly<Record<string, Value>>;
  readonly grains: Dict;
  readonly log: ExtensionLog;
  /** Aborted when the beacon ends. */
  readonly signal: AbortSignal;
  call(fun: string, ...args: Value[]): Promise<Value>;
  callWith(fun: string, args: readonly Value[], kwargs: PlainDict): Promise<Value>;
  exec(file: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
}

/** A running beacon with one configuration. */
export interface BeaconSession {
  /** The events to send now, one map each; `tag` is appended to the event's tag and removed from the data. */
  read(): readonly PlainDict[] | Promise<readonly PlainDict[]>;
  /** Releases files and processes. */
  close?(): void | Promise<void>;
}

export interface BeaconSpec {
  readonly name: string;
  readonly virtualName?: string;
  readonly doc: string;
  /** Configuration as YAML. */
  readonly examples?: readonly string[];
  /** true, or the reason why it is not usable. */
  readonly available?: (system: Availability) => true | string | Promise<true | string>;
  /**
   * What is wrong with a configuration, naming the key; undefined when it is valid. `settings` is the
   * configured list of maps as one map, without the keys that the minion itself reads (`interval`, `enabled`, …).
   */
  validate?(settings: PlainDict, ctx: BeaconContext): string | undefined | Promise<string | undefined>;
  open(settings: PlainDict, ctx: BeaconContext): BeaconSession | Promise<BeaconSession>;
}

/** A beacon as seen by the loader. */
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
