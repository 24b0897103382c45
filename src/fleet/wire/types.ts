// What a simulated minion needs of a transport: a connection for one request at a time, and a subscription.
import type { Place } from './socket.ts';

export interface WireEvents {
  ready(): void;
  /** A reply, or a publication. */
  message(payload: Buffer): void;
  ended(reason: string): void;
}

/** `ready` of a subscription: the master has read it, as far as the transport can tell. */
export interface SubscriptionEvents extends WireEvents {
  /** Connected: now its minions introduce themselves. */
  opened(): void;
}

export interface RequestWire {
  send(payload: Uint8Array): void;
  close(): void;
}

/** Who is behind a subscription. TCP proves it in a frame, Halite minions with a text. */
export interface Introduction {
  readonly presence: string;
  readonly identification: () => Uint8Array;
  /** The same as before: nothing needs to be said again. */
  readonly mark: unknown;
}

export interface SubscriptionWire {
  introduce(who: Introduction): void;
  /** Minions that share the connection with others leave one by one. */
  leave(presence: string): void;
  close(): void;
}

export interface FleetWire {
  request(place: Place, events: WireEvents): RequestWire;
  subscribe(place: Place, events: SubscriptionEvents): SubscriptionWire;
}
