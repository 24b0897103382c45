// Secret stores as functions use them: by address.
import type { Value } from '../../base/codec/value.ts';

/** Secret stores as functions see them, by address. */
export interface SdbServices {
  /** What is no address of a known profile comes back as it is, or is refused when `strict`. */
  get(uri: Value, strict?: boolean): Promise<Value>;
  /** False when there is no such profile. */
  set(uri: Value, value: Value): Promise<Value>;
  delete(uri: Value): Promise<Value>;
}
