// Access to secret stores by URI.
import type { Value } from '../../base/codec/value.ts';

/** Secret stores as seen by functions, by URI. */
export interface SdbServices {
  /** A text that is not a URI of a known profile is returned unchanged, or refused when `strict`. */
  get(uri: Value, strict?: boolean): Promise<Value>;
  /** False when there is no such profile. */
  set(uri: Value, value: Value): Promise<Value>;
  delete(uri: Value): Promise<Value>;
}
