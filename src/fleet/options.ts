// What a simulated fleet is asked to do. Plain data: it is passed to the processes of the fleet as it is.
import type { TransportName } from './wire/wire.ts';

/** Generations of the request protocol: 0 up to 3002.7, 2 up to 3006.11, 3 since then. */
export type Protocol = 0 | 2 | 3;

export interface FleetOptions {
  /** The address that the name of the master has; resolved once, so that it stays the one that was checked. */
  readonly address: string;
  readonly requestPort: number;
  /** 0: the one that the master names at sign-in. */
  readonly publishPort: number;
  readonly transport: TransportName;
  readonly protocol: Protocol;
  readonly behaviour: 'halite' | 'salt';
  readonly minions: number;
  readonly prefix: string;
  /** The number of the first minion of this process, from 0; `width` digits in every id. */
  readonly offset: number;
  readonly width: number;
  /** Connections for requests, each with one at a time. */
  readonly connections: number;
  /** Minions that share a subscription. */
  readonly share: number;
  /** Distinct key pairs of the whole fleet (0: one for each minion), and where they are kept; empty: nowhere. */
  readonly keys: number;
  readonly keysDir: string;
  readonly keySize: number;
  readonly token: boolean;
  readonly light: boolean;
  readonly verify: boolean;
  readonly boot: boolean;
  readonly authOnly: boolean;
  /** Sign-ins that are not accepted after so long are given up. */
  readonly signInMs: number;
  /** Between two tries while the key is pending. */
  readonly acceptanceWaitMs: number;
  /** Minions that begin each second; 0: all at once. */
  readonly ramp: number;
  readonly delayMs: number;
  /** Share of the delay that is random, 0 to 1. */
  readonly jitter: number;
  readonly fail: number;
  readonly drop: number;
  readonly duplicate: number;
  readonly resultBytes: number;
  readonly hold: boolean;
  /** Results without a job, sent after the start. */
  readonly fill: number;
  /** Minions that leave each minute, and for how long. */
  readonly churn: number;
  readonly churnAwayMs: number;
  /** Every so often this share of the connections is dropped at once; 0: never. */
  readonly stormEveryMs: number;
  readonly stormShare: number;
  readonly reconnectMs: number;
  /** Signs in again within this time after a reconnection. */
  readonly reauthMs: number;
  /** After the last subscription, until the fleet counts as ready: no master says that it has one. */
  readonly settleMs: number;
  readonly timeoutMs: number;
  readonly tries: number;
}
