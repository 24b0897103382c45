// How many resources of the master one peer, and all unauthenticated peers together, may use. A connection is unproven
// until a request on it is authenticated.

const kB = 1024;
const mb = 1024 * 1024;

/** Limits of one class of connections (unproven, proven). */
export interface ClassLimits {
  /** Messages up to this size need no reservation: a sign-in never waits for another peer's large message. */
  readonly freeBytes: number;
  /** Requests of one connection, and of all of the class, that wait for their reply. */
  readonly inWorkEach: number;
  readonly inWorkAll: number;
  /** Unread reply bytes of one connection above which its next requests are not read. */
  readonly unsentPause: number;
  /** Unread reply bytes of the whole class; above it the connection with the most is closed. */
  readonly unsentAll: number;
  /** How long a peer may read nothing while data is queued for it. */
  readonly unsentMs: number;
  /** How long a message may make no progress. */
  readonly stalledMs: number;
  /**
   * A whole message must arrive within `messageMs` plus its size at this rate; at a higher rate while others wait for
   * memory.
   */
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

/**
 * Memory for messages above the free size, incomplete or being processed. A pool fits at least one message of the
 * largest size.
 */
export const pools = {
  /** For unauthenticated peers, up to `mediumBytes` each. */
  medium: 32 * mb,
  mediumBytes: 4 * mb,
  /** For unauthenticated peers, larger ones: one or few at a time. */
  large: 64 * mb,
  proven: 256 * mb,
} as const;

/** From the connection to the end of the transport's handshake. */
export const handshakeMs = 10_000;
/** How long a message may wait for memory. */
export const roomMs = 60_000;
/** An unproven connection on the request port without requests for this long is closed; its client dials again. */
export const idleMs = 10 * 60_000;
/** How long a closing port waits for its peers to read the last bytes. */
export const lingerMs = 1000;
/** Largest chunk passed to the system at once, so that progress can be measured. */
export const chunkBytes = 256 * kB;

/** Unproven connections on the request port, where they are short-lived or become proven. */
export const mostUnproven = 8192;
/** Messages that may wait for memory in one pool: the part of each that arrived with its announcement is in memory. */
export const mostInLine = 2048;
/** Parts of the process's open files that the connections of each port may use. */
export const filesShare = 0.4;
