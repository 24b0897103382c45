// The configuration of one beacon: Salt's list of maps, split into the keys of the minion and those of the beacon.
import { asText, dictEntries, isDict, newDict, oneOrMore, type PlainDict, type Value } from '../../base/codec/value.ts';

/** Keys that the minion itself reads; all others belong to the beacon. */
export interface BeaconSettings {
  /** The configured beacon: `beacon_module`, or the name. */
  readonly kind: string;
  readonly enabled: boolean;
  /** Seconds between two reads; undefined for every read of the minion. */
  readonly interval: number | undefined;
  readonly disableDuringStateRun: boolean;
  readonly runOnce: boolean;
  readonly own: PlainDict;
}

const minionKeys = new Set(['enabled', 'interval', 'disable_during_state_run', 'beacon_module', 'run_once']);

/** The list as one map. */
export function flatSettings(config: Value): PlainDict {
  const parts = oneOrMore(config);
  return newDict(
    parts.flatMap((part) =>
      isDict(part) ? dictEntries(part).map(([key, value]): [string, Value] => [String(key), value]) : [],
    ),
  );
}

/** The beacon that a configuration names, even if it is otherwise invalid. */
export function kindOf(name: string, config: Value): string {
  const given = flatSettings(config)['beacon_module'];
  return asText(given) || name;
}

const isTrue = (value: Value | undefined): boolean =>
  !(value === undefined || value === null || value === false || value === 0 || value === '');

/** The settings, or the problem in Salt's words. */
export function readSettings(name: string, config: Value): BeaconSettings | { readonly problem: string } {
  const kind = kindOf(name, config);
  if (!Array.isArray(config)) return { problem: `Configuration for ${kind} beacon must be a list.` };
  const flat = flatSettings(config);
  const { interval } = flat;
  const seconds = interval === undefined || interval === null || interval === false ? undefined : Number(interval);
  if (seconds !== undefined && (typeof interval === 'object' || !Number.isFinite(seconds) || seconds < 0))
    return { problem: `Configuration for ${kind} beacon: interval must be a number of seconds.` };
  return {
    kind,
    enabled: !('enabled' in flat) || isTrue(flat['enabled']),
    interval: seconds || undefined,
    disableDuringStateRun: isTrue(flat['disable_during_state_run']),
    runOnce: isTrue(flat['run_once']),
    own: newDict(Object.entries(flat).filter(([key]) => !minionKeys.has(key) && !key.startsWith('_'))),
  };
}
