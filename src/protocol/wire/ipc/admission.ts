// Limits for the users of a local socket: low until a caller is authenticated, a share for each user after that.
import { HaliteError } from '../../../base/errors/index.ts';

export interface FrameLimits {
  readonly bytes: number;
  /** Number of values inside a frame: an empty map of one byte takes hundreds in memory. */
  readonly items: number;
}

/** Limits of one user; the user that runs the daemon has none. */
export interface UserLimits {
  readonly frame: FrameLimits;
  readonly connections: number;
  /** Calls that have not answered anything yet; further ones wait. */
  readonly starting: number;
  /** All calls, including those that wait. */
  readonly calls: number;
  /** Bytes queued in one connection for a client that does not read. */
  readonly unsentBytes: number;
}

export interface SocketLimits {
  /** For connections whose user is not authenticated. */
  readonly unauthenticated: FrameLimits;
  readonly mostUnauthenticated: number;
  /** All connections of the socket. */
  readonly connections: number;
  /** Time limit for authentication, and for each frame to be complete. */
  readonly patienceMs: number;
  /** Time limit for a connection without calls, or whose client does not read. */
  readonly idleMs: number;
}

/** For sockets to which only their own user can connect. */
export const openLimits: SocketLimits = {
  unauthenticated: { bytes: 512 * 1024 * 1024, items: Number.POSITIVE_INFINITY },
  mostUnauthenticated: 4096,
  connections: 4096,
  patienceMs: 2 ** 31 - 1,
  idleMs: 2 ** 31 - 1,
};

/** For sockets to which every user of the machine may connect. */
export const sharedLimits: SocketLimits = {
  unauthenticated: { bytes: 256 * 1024, items: 20_000 },
  mostUnauthenticated: 128,
  connections: 1024,
  patienceMs: 20_000,
  idleMs: 120_000,
};

export const trustedUser: UserLimits = {
  frame: openLimits.unauthenticated,
  connections: Number.POSITIVE_INFINITY,
  starting: Number.POSITIVE_INFINITY,
  calls: Number.POSITIVE_INFINITY,
  unsentBytes: 256 * 1024 * 1024,
};

export const limitedUser: UserLimits = {
  frame: { bytes: 8 * 1024 * 1024, items: 200_000 },
  connections: 64,
  starting: 4,
  calls: 128,
  unsentBytes: 16 * 1024 * 1024,
};

interface Share {
  connections: number;
  calls: number;
  starting: number;
  readonly waiting: (() => void)[];
}

/** A call that is admitted. */
export interface Turn {
  /** It has begun to answer: the next may start. */
  started(): void;
  ended(): void;
}

/** The shares of all users of one socket. */
export class Shares {
  readonly #users = new Map<string, Share>();

  /** Counts a connection of a user, or refuses it. The returned function removes it again. */
  connected(user: string, { connections }: UserLimits): () => void {
    const share = this.#share(user);
    if (share.connections >= connections) throw busy(`this user has ${connections} connections already`);
    share.connections++;
    return () => {
      share.connections--;
      this.#forget(user, share);
    };
  }

  /** Waits until a call is admitted, or refuses it. */
  async turn(user: string, { starting, calls }: UserLimits): Promise<Turn> {
    const share = this.#share(user);
    if (share.calls >= calls) throw busy(`this user has ${calls} calls under way`);
    share.calls++;
    if (share.starting < starting) share.starting++;
    else await new Promise<void>((resolve) => share.waiting.push(resolve));
    let begins = true;
    const started = (): void => {
      if (!begins) return;
      begins = false;
      const next = share.waiting.shift();
      // The slot passes to the next call; calls of different users alternate.
      if (next) setImmediate(next);
      else share.starting--;
    };
    const ended = (): void => {
      started();
      share.calls--;
      this.#forget(user, share);
    };
    return { started, ended };
  }

  #share(user: string): Share {
    const known = this.#users.get(user) ?? { connections: 0, calls: 0, starting: 0, waiting: [] };
    this.#users.set(user, known);
    return known;
  }

  #forget(user: string, share: Share): void {
    if (share.connections === 0 && share.calls === 0) this.#users.delete(user);
  }
}

const busy = (why: string): HaliteError =>
  new HaliteError('call.failed', `The daemon accepts no more of these calls now: ${why}`, {
    hint: 'Try again when some of them are finished.',
  });
