// Who sent a request, and how far that is believed.

/**
 * How far a sender is believed. `proven`: by its session key or its token. Protocols before P3 prove less, because all minions
 * share their key: `claimed` is an id that came without a token, `disputed` one whose owner has used P3, `anonymous` none at all.
 */
export type Trust = 'proven' | 'claimed' | 'disputed' | 'anonymous';

/** Who sent a request, as far as handlers need it. */
export interface Sender {
  /** Empty when anonymous: only what every minion may have is asked so. */
  readonly id: string;
  readonly trust: Trust;
  readonly version: number;
  readonly peer: string;
  readonly transport: string;
  /** These very bytes were answered before: what follows from them has been done. */
  readonly repeated?: boolean;
}
