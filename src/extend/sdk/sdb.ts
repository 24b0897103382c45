// Drivers of secret stores: the implementations of `sdb://<profile>/<key>`.
import type { Dict, Value } from '../../base/codec/value.ts';
import type { Availability } from './availability.ts';
import type { ModuleContext } from './context.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';

export interface SdbSpec {
  readonly name: string;
  /** The name in `driver:` when it differs from that of the file. */
  readonly virtualName?: string;
  readonly doc: string;
  /** true, or the reason why it is not usable. */
  readonly available?: (system: Availability) => true | string | Promise<true | string>;
  /** The value of a key, null when there is none; `profile` is the configuration under the profile's name. */
  get(key: string, profile: Dict, ctx: ModuleContext): Value | Promise<Value>;
  set?(key: string, value: Value, profile: Dict, ctx: ModuleContext): Value | Promise<Value>;
  delete?(key: string, profile: Dict, ctx: ModuleContext): Value | Promise<Value>;
}
export interface Sdb extends SdbSpec {
  readonly kind: 'sdb';
}
const sdbKeys: KnownKeys<SdbSpec> = {
  ...{ name: true, virtualName: true, doc: true, available: true },
  ...{ get: true, set: true, delete: true },
};

export const defineSdb = (spec: SdbSpec): Sdb => ({
  kind: 'sdb',
  ...withKnownKeys('defineSdb()', spec, sdbKeys),
});
