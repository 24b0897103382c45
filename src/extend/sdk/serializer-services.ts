// A serializer of users, as functions see it.
import type { PlainDict, Value } from '../../base/codec/value.ts';

export interface UserSerializer {
  serialize?(value: Value, options: PlainDict): Promise<Value>;
  deserialize?(source: Value, options: PlainDict): Promise<Value>;
}
