// All connections of one port: which may stay, how much memory all of them hold, and which exceeded a deadline.
import type { Socket } from 'node:net';
import { messageOf } from '../../../base/errors/index.ts';
import type { WireProblem } from '../transport.ts';
import { BytePool } from './byte-pool.ts';
import { Handshakes } from './handshakes.ts';
import * as limits from './limits.ts';
import { openFilesLimit } from './open-files.ts';
import type { Outgoing } from './outgoing.ts';
import { limitProblems } from './problems.ts';

const sweepMs = 1000;
const summingMs = 20;

/** A connection as the guard sees it. */
export interface GuardedConnection {
  readonly socket: Socket;
  readonly address: string;
  readonly out: Outgoing;
  readonly limits: limits.ClassLimits;
  /** It has authenticated as a minion or with the key of one. */
  readonly proven: boolean;
  readonly idle: boolean;
  inWork: number;
  update(): void;
  /** Closes it with a reason. */
  cut(kind: WireProblem['kind'], detail: string): void;
  /** The daemon itself was blocked for this long: its deadlines are moved. */
  forgive(ms: number): void;
  check(now: number, maxIdleMs: number): void;
}

export type ConnectionClass = 'unproven' | 'proven';
const classOf = (connection: GuardedConnection): ConnectionClass => (connection.proven ? 'proven' : 'unproven');

export interface GuardOptions {
  /** `publish`: real minions never authenticate there, so a connection is judged only by its behaviour. */
  readonly port: 'request' | 'publish';
  readonly maxMessageBytes: number;
  /** How long a connection may take until the transport marks it as ready. */
  readonly handshakeMs?: number;
  readonly onProblem?: ((problem: WireProblem) => void) | undefined;
  /** For tests. */
  readonly mostConnections?: number;
}

export class PortGuard {
  readonly problem: (problem: WireProblem) => void;
  /** TLS and HTTP handshakes, before there is a connection. */
  readonly handshakes: Handshakes;
  readonly maxMessageBytes: number;
  readonly handshakeMs: number;
  readonly #options: GuardOptions;
  readonly #all = new Set<GuardedConnection>();
  /** In order of arrival. */
  readonly #unproven = new Set<GuardedConnection>();
  readonly #unready = new Set<GuardedConnection>();
  readonly #byAddress = new Map<string, Set<GuardedConnection>>();
  readonly #medium: BytePool;
  readonly #large: BytePool;
  readonly #proven: BytePool;
  readonly #inWork = { unproven: 0, proven: 0 };
  /** Not read because too many requests wait for their reply. */
  readonly #crowds = { unproven: new Set<GuardedConnection>(), proven: new Set<GuardedConnection>() };
  readonly #most: number;
  readonly #mostUnproven: number;
  readonly #timer: NodeJS.Timeout;
  #sweptAt = performance.now();
  #summedAt = 0;

  constructor(options: GuardOptions) {
    this.#options = options;
    this.problem = limitProblems(options.onProblem);
    this.handshakes = new Handshakes(this.problem);
    this.maxMessageBytes = options.maxMessageBytes;
    this.handshakeMs = options.handshakeMs ?? limits.handshakeMs;
    const largest = options.maxMessageBytes;
    this.#medium = new BytePool(limits.pools.medium);
    this.#large = new BytePool(Math.max(limits.pools.large, largest));
    this.#proven = new BytePool(Math.max(limits.pools.proven, largest));
    this.#most = options.mostConnections ?? Math.floor(openFilesLimit() * limits.filesShare);
    this.#mostUnproven = options.port === 'request' ? Math.min(limits.mostUnproven, this.#most >> 1) : this.#most;
    this.#timer = setInterval(() => this.#sweep(), sweepMs);
    this.#timer.unref();
  }

  get connections(): ReadonlySet<GuardedConnection> {
    return this.#all;
  }

  /** Adds a new connection; when there are too many, an unauthenticated one is closed for it. False: it was refused. */
  add(connection: GuardedConnection): boolean {
    if (this.#all.size >= this.#most && !this.#evict()) {
      connection.cut('overload', 'too many connections');
      return false;
    }
    if (this.#unproven.size >= this.#mostUnproven) this.#evict();
    this.#all.add(connection);
    this.#unproven.add(connection);
    this.#unready.add(connection);
    const same = this.#byAddress.get(connection.address);
    if (same) same.add(connection);
    else this.#byAddress.set(connection.address, new Set([connection]));
    return true;
  }

  readied(connection: GuardedConnection): void {
    this.#unready.delete(connection);
  }

  trusted(connection: GuardedConnection): void {
    this.#forgetUnproven(connection);
  }

  gone(connection: GuardedConnection): void {
    this.#all.delete(connection);
    this.#crowds.unproven.delete(connection);
    this.#crowds.proven.delete(connection);
    this.#forgetUnproven(connection);
  }

  #forgetUnproven(connection: GuardedConnection): void {
    this.#unproven.delete(connection);
    this.#unready.delete(connection);
    const same = this.#byAddress.get(connection.address);
    same?.delete(connection);
    if (same?.size === 0) this.#byAddress.delete(connection.address);
  }

  #evict(): boolean {
    const victim = this.#options.port === 'request' ? this.#oldestIdle() : this.#ofBusiestAddress();
    victim?.cut('overload', 'is closed in favour of another connection');
    return victim !== undefined;
  }

  /**
   * An ordinary client on the request port sends a request immediately: the longest connected one without a request in
   * progress is not one.
   */
  #oldestIdle(): GuardedConnection | undefined {
    let first: GuardedConnection | undefined;
    for (const connection of this.#unproven) {
      if (connection.idle) return connection;
      first ??= connection;
    }
    return first;
  }

  /** On the publish port established connections stay, and no address may occupy what others need. */
  #ofBusiestAddress(): GuardedConnection | undefined {
    for (const connection of this.#unready) return connection;
    let busiest: Set<GuardedConnection> | undefined;
    for (const same of this.#byAddress.values()) if (same.size > (busiest?.size ?? 0)) busiest = same;
    let newest: GuardedConnection | undefined;
    for (const connection of busiest ?? []) newest = connection;
    return newest;
  }

  poolFor(connection: GuardedConnection, bytes: number): BytePool {
    if (connection.proven) return this.#proven;
    return bytes <= limits.pools.mediumBytes ? this.#medium : this.#large;
  }

  /** True while the class of this connection has its maximum number of requests in progress. */
  crowded(connection: GuardedConnection): boolean {
    return this.#inWork[classOf(connection)] >= connection.limits.inWorkAll;
  }

  wait(connection: GuardedConnection): void {
    this.#crowds[classOf(connection)].add(connection);
  }

  /** Counts a starting request, in the class that must be passed to `ended`. */
  begun(connection: GuardedConnection): ConnectionClass {
    const kind = classOf(connection);
    this.#inWork[kind] += 1;
    connection.inWork += 1;
    return kind;
  }

  ended(connection: GuardedConnection, kind: ConnectionClass): void {
    this.#inWork[kind] -= 1;
    connection.inWork -= 1;
    const crowd = this.#crowds[kind];
    for (const waiting of crowd) {
      if (this.crowded(waiting)) break;
      crowd.delete(waiting);
      waiting.update();
    }
  }

  /**
   * Called when a peer does not read its replies. When a class has too much queued, the connection with the most is
   * closed.
   */
  unsentGrew(connection: GuardedConnection): void {
    // Data queued for subscribers is shared by all of them, and bounded by their deliveries.
    if (this.#options.port === 'publish') return;
    const { limits: bounds } = connection;
    const now = performance.now();
    if (connection.out.unsent <= bounds.unsentPause || now - this.#summedAt < summingMs) return;
    this.#summedAt = now;
    let sum = 0;
    let most = connection;
    for (const other of this.#all) {
      if (other.limits !== bounds) continue;
      sum += other.out.unsent;
      if (other.out.unsent > most.out.unsent) most = other;
    }
    if (sum > bounds.unsentAll) most.cut('slow', 'does not read what is sent to it');
  }

  #sweep(): void {
    const now = performance.now();
    const late = now - this.#sweptAt - sweepMs;
    this.#sweptAt = now;
    this.handshakes.check(now);
    const maxIdleMs = this.#options.port === 'request' ? limits.idleMs : Number.POSITIVE_INFINITY;
    for (const connection of this.#all) {
      if (late > sweepMs) connection.forgive(late);
      try {
        connection.check(now, maxIdleMs);
      } catch (thrown) {
        connection.cut('malformed', messageOf(thrown));
      }
    }
  }

  /** The one that has read nothing for the longest time, of those with queued data. */
  cutSlowest(): void {
    let slowest: GuardedConnection | undefined;
    for (const connection of this.#all) {
      if (connection.out.unsent === 0) continue;
      if (!slowest || connection.out.progressAt < slowest.out.progressAt) slowest = connection;
    }
    slowest?.cut('slow', 'does not read what is published');
  }

  /** Gives all peers a short time to read the last bytes, then closes all connections. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.handshakes.destroyAll();
    const left = [...this.#all];
    if (left.length === 0) return;
    await new Promise<void>((resolve) => {
      const force = setTimeout(() => {
        for (const connection of left) connection.socket.destroy();
        resolve();
      }, limits.lingerMs);
      let open = left.length;
      for (const { socket, out } of left) {
        socket.once('close', () => {
          open -= 1;
          if (open > 0) return;
          clearTimeout(force);
          resolve();
        });
        // Continues to read, so that the end of the connection is noticed; the input is dropped.
        socket.removeAllListeners('data');
        socket.resume();
        out.end();
      }
    });
  }
}
