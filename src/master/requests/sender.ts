// The sender of a request, and how far it is trusted.

/**
 * How far a sender is trusted. `proven`: by its session key or its token. Protocols before P3 prove less, because all
 * minions share their key: `claimed` is an id without a token, `disputed` one whose owner has used P3, `anonymous` no
 * id at all.
 */
export type Trust = 'proven' | 'claimed' | 'disputed' | 'anonymous';

/** The sender of a request, as far as handlers need it. */
export interface Sender {
  /** Empty when anonymous: used only for requests that every minion may send. */
  readonly id: string;
  readonly trust: Trust;
  readonly version: number;
  readonly peer: string;
  readonly transport: string;
  /** Exactly these bytes were processed before: their effects must not be repeated. */
  readonly repeated?: boolean;
}
