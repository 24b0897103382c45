// Serializers of users: data as text or bytes and back, for `file.serialize` and `slsutil.serialize`.
import type { PlainDict, Value } from '../../base/codec/value.ts';
import type { Availability } from './availability.ts';
import type { ModuleContext } from './context.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';

export interface SerializerSpec {
  readonly name: string;
  /** The name in `serializer:` when it differs from that of the file. */
  readonly virtualName?: string;
  readonly doc: string;
  /** true, or the reason why it is not usable. */
  readonly available?: (system: Availability) => true | string | Promise<true | string>;
  /** Text or bytes; `options` are those of the caller (`serializer_opts`). */
  serialize?(value: Value, options: PlainDict, ctx: ModuleContext): Value | Promise<Value>;
  deserialize?(source: Value, options: PlainDict, ctx: ModuleContext): Value | Promise<Value>;
}

/** A serializer as seen by the loader. */
export interface Serializer extends SerializerSpec {
  readonly kind: 'serializers';
}

const serializerKeys: KnownKeys<SerializerSpec> = {
  ...{ name: true, virtualName: true, doc: true, available: true },
  ...{ serialize: true, deserialize: true },
};

export const defineSerializer = (spec: SerializerSpec): Serializer => ({
  kind: 'serializers',
  ...withKnownKeys('defineSerializer()', spec, serializerKeys),
});
