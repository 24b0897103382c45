// An event as listeners of the bus get it.
import type { Dict } from '../../base/codec/value.ts';

export interface BusEvent {
  readonly tag: string;
  /** Shared by all listeners: never change it. */
  readonly data: Dict;
}
