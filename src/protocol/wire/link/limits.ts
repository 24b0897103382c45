// How much of the master one peer, and all strangers together, may take. A connection is unproven until a request on it was authenticated.

const kB = 1024;
const mb = 1024 * 1024;

/** What one class of connections (unproven, proven) may do. */
export interface ClassLimits {
  /** Messages up to this size are taken without asking: a sign-in never waits for somebody's large message. */
  readonly freeBytes: number;
  /** Requests of one connection, and of all of the class, that await their reply. */
  readonly inWorkEach: number;
  readonly inWorkAll: number;
  /** Replies that one connection has not taken before its next requests are left unread. */
  readonly unsentPause: number;
  /** Replies not taken by all of the class; beyond it the one with the most is cut. */
  readonly unsentAll: number;
  /** How long a peer may take nothing of what waits for it. */
  readonly unsentMs: number;
  /** How long a message may stand still. */
  readonly stalledMs: number;
  /** A whole message must arrive within `messageMs` and its size by this rate, a faster one while others wait for room. */
  readonly messageMs: number;
  readonly bytesPerSecond: number;
  readonly contendedBytesPerSecond: number;
}

export const unproven: ClassLimits = {
  freeBytes: 16 * kB,
  inWorkEach: 4,
  inWorkAll: 2000,
  unsentPause: 64 * kB,
  unsentAll: 64 * mb,
  unsentMs: 15_000,
  stalledMs: 10_000,
  messageMs: 15_000,
  bytesPerSecond: 64 * kB,
  contendedBytesPerSecond: mb,
};

export const proven: ClassLimits = {
  freeBytes: 64 * kB,
  inWorkEach: 512,
  inWorkAll: 10_000,
  unsentPause: mb,
  unsentAll: 256 * mb,
  unsentMs: 60_000,
  stalledMs: 30_000,
  messageMs: 60_000,
  bytesPerSecond: 8 * kB,
  contendedBytesPerSecond: 64 * kB,
};

/** Memory for messages that are not free, incomplete or in work. A pool takes at least one message of the largest size. */
export const pools = {
  /** Of strangers up to `mediumBytes` each. */
  medium: 32 * mb,
  mediumBytes: 4 * mb,
  /** Of strangers, larger: one or few at a time. */
  large: 64 * mb,
  proven: 256 * mb,
} as const;

/** From the connection to the end of the transport's handshake. */
export const handshakeMs = 10_000;
/** How long a message may wait for room. */
export const roomMs = 60_000;
/** An unproven connection on the request port that asks nothing for so long is closed; its client dials again. */
export const idleMs = 10 * 60_000;
/** How long a closing port waits for its peers to take the last bytes. */
export const lingerMs = 1000;
/** Largest piece handed to the system at once, so that progress can be seen. */
export const chunkBytes = 256 * kB;

/** Unproven connections on the request port, where they are short-lived or prove themselves. */
export const mostUnproven = 8192;
/** Messages that may wait for room in one pool: what came of each with its announcement is in memory. */
export const mostInLine = 2048;
/** Parts of the process's open files that the connections of each port may take. */
export const filesShare = 0.4;
