// An event as delivered to listeners of the bus.
import type { Dict } from '../../base/codec/value.ts';

export interface BusEvent {
  readonly tag: string;
  /** Shared by all listeners: do not modify. */
  readonly data: Dict;
}
