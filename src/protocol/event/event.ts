// An event as delivered to listeners of the bus.
import type { Dict } from '../../base/codec/value.ts';

/**
 * Where an event was handled first: `own` happened at this master, `home` came from a minion that this master answers
 * for, `foreign` happened at another member of its cluster, which reacts to it and stores it.
 */
export type EventOrigin = 'own' | 'home' | 'foreign';

export interface BusEvent {
  readonly tag: string;
  /** Shared by all listeners: do not modify. */
  readonly data: Dict;
  readonly origin: EventOrigin;
}

/** In events of lower masters: the ids of the syndics that passed them on, the first one first. */
export const viaField = 'halite_via';
