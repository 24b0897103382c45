// Everybody connected to one port: who may stay, how much all of them hold, and who is past a deadline.
import { messageOf } from '../../../base/errors/index.ts';
import type { WireProblem } from '../transport.ts';
import { BytePool } from './byte-pool.ts';
import { Handshakes } from './handshakes.ts';
import * as limits from './limits.ts';
import { openFilesLimit } from './open-files.ts';
import { limitProblems } from './problems.ts';
import type { ServerConnection } from './server-connection.ts';

const sweepMs = 1000;
const summingMs = 20;

export type ConnectionClass = 'unproven' | 'proven';
const classOf = (connection: ServerConnection): ConnectionClass => (connection.proven ? 'proven' : 'unproven');

export interface GuardOptions {
  /** `publish`: real minions never prove themselves there, so only what a connection does can be judged. */
  readonly port: 'request' | 'publish';
  readonly maxMessageBytes: number;
  /** How long a connection may take until the transport calls it ready. */
  readonly handshakeMs?: number;
  readonly onProblem?: ((problem: WireProblem) => void) | undefined;
  /** For tests. */
  readonly mostConnections?: number;
}

export class PortGuard {
  readonly problem: (problem: WireProblem) => void;
  /** Of TLS and HTTP, before there is a connection to judge. */
  readonly handshakes: Handshakes;
  readonly maxMessageBytes: number;
  readonly handshakeMs: number;
  readonly #options: GuardOptions;
  readonly #all = new Set<ServerConnection>();
  /** In the order they came. */
  readonly #unproven = new Set<ServerConnection>();
  readonly #unready = new Set<ServerConnection>();
  readonly #byAddress = new Map<string, Set<ServerConnection>>();
  readonly #medium: BytePool;
  readonly #large: BytePool;
  readonly #proven: BytePool;
  readonly #inWork = { unproven: 0, proven: 0 };
  /** Left unread because too many requests await their reply. */
  readonly #crowds = { unproven: new Set<ServerConnection>(), proven: new Set<ServerConnection>() };
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

  get connections(): ReadonlySet<ServerConnection> {
    return this.#all;
  }

  /** Takes a new connection in; where there are too many, a stranger goes for it. False: it has been refused. */
  add(connection: ServerConnection): boolean {
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

  readied(connection: ServerConnection): void {
    this.#unready.delete(connection);
  }

  trusted(connection: ServerConnection): void {
    this.#noStranger(connection);
  }

  gone(connection: ServerConnection): void {
    this.#all.delete(connection);
    this.#crowds.unproven.delete(connection);
    this.#crowds.proven.delete(connection);
    this.#noStranger(connection);
  }

  #noStranger(connection: ServerConnection): void {
    this.#unproven.delete(connection);
    this.#unready.delete(connection);
    const same = this.#byAddress.get(connection.address);
    same?.delete(connection);
    if (same?.size === 0) this.#byAddress.delete(connection.address);
  }

  #evict(): boolean {
    const victim = this.#options.port === 'request' ? this.#oldestIdle() : this.#ofBusiestAddress();
    victim?.cut('overload', 'makes room for another connection');
    return victim !== undefined;
  }

  /** A good client on the request port asks at once: who has been there longest without a request under way is none. */
  #oldestIdle(): ServerConnection | undefined {
    let first: ServerConnection | undefined;
    for (const connection of this.#unproven) {
      if (connection.idle) return connection;
      first ??= connection;
    }
    return first;
  }

  /** On the publish port the established stay, and no address takes what others need. */
  #ofBusiestAddress(): ServerConnection | undefined {
    for (const connection of this.#unready) return connection;
    let busiest: Set<ServerConnection> | undefined;
    for (const same of this.#byAddress.values()) if (same.size > (busiest?.size ?? 0)) busiest = same;
    let newest: ServerConnection | undefined;
    for (const connection of busiest ?? []) newest = connection;
    return newest;
  }

  poolFor(connection: ServerConnection, bytes: number): BytePool {
    if (connection.proven) return this.#proven;
    return bytes <= limits.pools.mediumBytes ? this.#medium : this.#large;
  }

  /** True while the class of this connection has as many requests under way as it may. */
  crowded(connection: ServerConnection): boolean {
    return this.#inWork[classOf(connection)] >= connection.limits.inWorkAll;
  }

  wait(connection: ServerConnection): void {
    this.#crowds[classOf(connection)].add(connection);
  }

  /** Counts a request that begins, in the class that `ended` must name. */
  begun(connection: ServerConnection): ConnectionClass {
    const kind = classOf(connection);
    this.#inWork[kind] += 1;
    connection.inWork += 1;
    return kind;
  }

  ended(connection: ServerConnection, kind: ConnectionClass): void {
    this.#inWork[kind] -= 1;
    connection.inWork -= 1;
    const crowd = this.#crowds[kind];
    for (const waiting of crowd) {
      if (this.crowded(waiting)) break;
      crowd.delete(waiting);
      waiting.update();
    }
  }

  /** Somebody does not take its replies at once. When all of a class keep too much waiting, the one with the most goes. */
  unsentGrew(connection: ServerConnection): void {
    // What waits for subscribers is the same for all of them, and bounded by their deliveries.
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
    if (sum > bounds.unsentAll) most.cut('slow', 'does not take what is sent to it');
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

  /** The one that has taken nothing for the longest time, of those for whom something waits. */
  cutSlowest(): void {
    let slowest: ServerConnection | undefined;
    for (const connection of this.#all) {
      if (connection.out.unsent === 0) continue;
      if (!slowest || connection.out.progressAt < slowest.out.progressAt) slowest = connection;
    }
    slowest?.cut('slow', 'does not take what is published');
  }

  /** Lets everybody take the last bytes, for a moment, and ends all connections. */
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
        // Read on, so that the end of the other side is seen; what it says is not heard any more.
        socket.removeAllListeners('data');
        socket.resume();
        out.end();
      }
    });
  }
}
