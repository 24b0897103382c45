// Messages between the daemon and a job process. Values are packed, because cloning would lose prototypes and PyFloat.
import { packValue, unpackValue } from '../../base/codec/msgpack/index.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { LogLevel } from '../../extend/sdk/exec.ts';
import type { MinionServices } from '../../extend/sdk/index.ts';

/** A packed value. */
export type Packed = Uint8Array;

export type ToJobProcess =
  /** Options, grains and pillar; sent once per version, not with every job. */
  | { readonly t: 'data'; readonly id: string; readonly sdkUrl: string | undefined; readonly body: Packed }
  /** `device`: of a proxy minion whose device is connected. */
  | { readonly t: 'grains'; readonly device: boolean }
  | { readonly t: 'run'; readonly hasMaster: boolean; readonly spool: string | undefined; readonly body: Packed }
  /** A result for returners: `{choice, load}`; many may be in progress at the same time. */
  | { readonly t: 'keep'; readonly n: number; readonly body: Packed }
  /** A request to the beacons: `{func, …}`. */
  | { readonly t: 'beacons'; readonly n: number; readonly hasMaster: boolean; readonly body: Packed }
  /** Makes this the process of an engine: `{name, module, config}`. */
  | { readonly t: 'engine'; readonly hasMaster: boolean; readonly body: Packed }
  /** Events for one reader of an engine: `[[tag, data], …]`; `dropped` were lost before them. */
  | { readonly t: 'events'; readonly n: number; readonly dropped: number; readonly body: Packed }
  | { readonly t: 'reply'; readonly n: number; readonly raw: boolean; readonly body: Packed }
  | { readonly t: 'failure'; readonly n: number; readonly code: string; readonly message: string }
  | { readonly t: 'end' };

export type FromJobProcess =
  | { readonly t: 'ready' }
  | { readonly t: 'done'; readonly body: Packed }
  /** Failures of returners: `[{returner, error}, …]`. */
  | { readonly t: 'kept'; readonly n: number; readonly body: Packed }
  /** The beacons' answer to a request. */
  | { readonly t: 'beacons'; readonly n: number; readonly body: Packed }
  /** Reports of beacons: `{events}` or `{ran_once}`. */
  | { readonly t: 'beacon'; readonly body: Packed }
  /** An engine runs or has ended: `{state, origin}` or `{state, error, unusable}`. */
  | { readonly t: 'engine'; readonly body: Packed }
  /** An engine wants events, has read all that it got, or wants no more. */
  | { readonly t: 'listen'; readonly n: number; readonly tags: string[] }
  | { readonly t: 'more' | 'unlisten'; readonly n: number }
  /** `minion`: which one calls, in a process that serves several. */
  | {
      readonly t: 'call';
      readonly n: number;
      readonly method: ServiceName;
      readonly body: Packed;
      readonly minion?: string;
    }
  | { readonly t: 'progress'; readonly text: string }
  /** A command was started or has ended; it is ended together with the job. */
  | { readonly t: 'exec'; readonly pid: number; readonly on: boolean }
  | {
      readonly t: 'log';
      readonly level: LogLevel;
      readonly message: string;
      readonly fields: Readonly<Record<string, unknown>>;
    };

/** The services of the daemon that job processes may call; nothing is looked up by a name from the other side. */
export type ServiceName = Exclude<keyof MinionServices, 'hasMaster'>;

export interface SharedData {
  readonly opts: Readonly<Record<string, Value>>;
  readonly grains: Value;
  readonly pillar: Value;
}

export function packShared(data: SharedData): Packed {
  return packValue(
    newDict(Object.entries({ opts: newDict(Object.entries(data.opts)), grains: data.grains, pillar: data.pillar })),
  );
}

export function unpackDict(body: Packed): PlainDict {
  return unpackValue(body) as PlainDict;
}
