// One accepted connection of any transport: read only while there is memory for its messages, written only as fast as
// it reads.
import type { Socket } from 'node:net';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import type { WireProblem } from '../transport.ts';
import type { BytePool } from './byte-pool.ts';
import { type ClassLimits, proven, roomMs, unproven } from './limits.ts';
import { Outgoing } from './outgoing.ts';
import type { PortGuard } from './port-guard.ts';

/** How a transport interprets the bytes. */
export interface Protocol {
  /** Received bytes of an incomplete message. */
  readonly pending: number;
  /** Stores a chunk. */
  push(chunk: Buffer): void;
  /**
   * Takes messages from the stored bytes while `blocked` of the connection is false. Throws on a protocol violation.
   */
  take(): void;
  /** Called when the peer read some of the queued data. */
  drained?(): void;
  /** Called once a second, for heartbeats. */
  tick?(now: number): void;
  closed(): void;
}

/** A part of a pool, held from the announcement of a message to its reply. */
export class Share {
  readonly pool: BytePool;
  readonly bytes: number;

  constructor(pool: BytePool, bytes: number) {
    this.pool = pool;
    this.bytes = bytes;
  }

  release(): void {
    this.pool.give(this.bytes);
  }
}

export class ServerConnection {
  readonly socket: Socket;
  readonly guard: PortGuard;
  readonly address: string;
  /** For logs; a transport may add what the peer says about itself. */
  peer: string;
  protocol: Protocol | undefined;
  readonly out: Outgoing;
  limits: ClassLimits = unproven;
  inWork = 0;
  /** Maximum number of its concurrent requests, where the transport has its own limit. */
  mostInWork = Number.POSITIVE_INFINITY;
  #ready = false;
  #since = performance.now();
  #heardAt = this.#since;
  /** When the current message began; 0 between messages. */
  #messageSince = 0;
  #expected = 0;
  #share: Share | undefined;
  #waiting: { readonly pool: BytePool; readonly granted: () => void; since: number } | undefined;
  #pausedAt = 0;
  #taking = false;

  constructor(socket: Socket, peer: string, guard: PortGuard) {
    this.socket = socket;
    this.peer = peer;
    this.guard = guard;
    this.address = socket.remoteAddress ?? '';
    this.out = new Outgoing(socket, () => {
      this.protocol?.drained?.();
      this.update();
    });
    // Without a listener an error would end the process; `close` follows it.
    socket.on('error', () => undefined);
    // A peer that ended its side still gets its replies, then the connection closes; HTTP sockets would stay open.
    socket.on('end', () => this.out.end());
    socket.on('close', () => this.#closed());
  }

  /** Starts reading with this protocol. */
  start(protocol: Protocol): void {
    this.protocol = protocol;
    this.socket.on('data', (chunk: Buffer) => this.#run(chunk));
  }

  get proven(): boolean {
    return this.limits === proven;
  }

  get ready(): boolean {
    return this.#ready;
  }

  get heardAt(): number {
    return this.#heardAt;
  }

  /** Whether it has nothing in progress. */
  get idle(): boolean {
    return this.inWork === 0 && this.out.unsent === 0 && this.#messageSince === 0;
  }

  /** The handshake of the transport is complete. */
  setReady(): void {
    this.#ready = true;
    this.guard.readied(this);
  }

  /** The peer is authenticated. */
  trust(): void {
    if (this.limits === proven) return;
    this.limits = proven;
    this.guard.trusted(this);
  }

  /** True while nothing more may be read from this peer. */
  get blocked(): boolean {
    if (this.socket.destroyed || this.#waiting) return true;
    if (this.inWork >= Math.min(this.limits.inWorkEach, this.mostInWork)) return true;
    if (this.out.unsent > this.limits.unsentPause) return true;
    return this.guard.crowded(this);
  }

  /**
   * Reserves memory for a message of at least `total` bytes. False: none is available now, `take` is called again
   * when there is.
   */
  admit(total: number): boolean {
    this.#expected = total;
    if (total <= this.limits.freeBytes || (this.#share && total <= this.#share.bytes)) return true;
    // A message that grows in steps reserves twice as much each time.
    const bytes = Math.max(total, Math.min(2 * (this.#share?.bytes ?? 0), this.guard.maxMessageBytes));
    const pool = this.guard.poolFor(this, bytes);
    if (pool.crowded) {
      this.cut('overload', 'too many messages wait for memory');
      return false;
    }
    // The current reservation is released only when the larger one is granted.
    const share = new Share(pool, bytes);
    const more = this.#share?.pool === pool ? bytes - this.#share.bytes : bytes;
    const granted = () => {
      const old = this.#share;
      if (old && old.pool !== pool) old.release();
      this.#share = share;
    };
    const later = () => {
      this.#waiting = undefined;
      granted();
      this.update();
    };
    if (pool.take(more, later)) granted();
    else this.#waiting = { pool, granted: later, since: performance.now() };
    return this.#waiting === undefined;
  }

  /** The message is complete; its reservation is passed on with it. */
  completed(): Share | undefined {
    const share = this.#share;
    this.#share = undefined;
    this.#messageSince = 0;
    this.#expected = 0;
    return share;
  }

  /** Continues reading when the obstacle is gone. */
  update(): void {
    if (this.#pausedAt === 0) return;
    if (!this.blocked) this.#run();
    else if (this.guard.crowded(this)) this.guard.wait(this);
  }

  write(bytes: Uint8Array): void {
    this.out.write(bytes);
    if (this.out.unsent > 0) this.guard.unsentGrew(this);
  }

  cut(kind: WireProblem['kind'], detail: string): void {
    const { socket } = this;
    if (socket.destroyed) return;
    // A reset: the system keeps nothing for a peer that may never read it. Not possible with TLS.
    const reset = kind !== 'malformed' && kind !== 'too-large' && !('encrypted' in socket);
    if (reset) socket.resetAndDestroy();
    else socket.destroy();
    this.guard.problem({ kind, peer: this.peer, detail });
  }

  #run(chunk?: Buffer): void {
    const now = performance.now();
    if (chunk) this.#heardAt = now;
    const { protocol } = this;
    if (this.#taking || !protocol) return;
    this.#taking = true;
    try {
      if (chunk) protocol.push(chunk);
      protocol.take();
    } catch (thrown) {
      const tooLarge = thrown instanceof HaliteError && thrown.code === 'codec.limit';
      this.cut(tooLarge ? 'too-large' : 'malformed', messageOf(thrown));
      return;
    } finally {
      this.#taking = false;
    }
    if (protocol.pending === 0) this.#messageSince = 0;
    else if (this.#messageSince === 0) this.#messageSince = now;
    this.#flow(now);
  }

  /** Pauses or resumes the socket. Time in which we did not read does not count against the peer. */
  #flow(now: number): void {
    if (this.blocked) {
      if (this.#pausedAt > 0) return;
      this.#pausedAt = now;
      this.socket.pause();
      if (this.guard.crowded(this)) this.guard.wait(this);
    } else if (this.#pausedAt > 0) {
      const away = now - this.#pausedAt;
      this.#pausedAt = 0;
      if (this.#messageSince > 0) this.#messageSince += away;
      this.#heardAt += away;
      this.socket.resume();
    }
  }

  /** Time in which this whole process was blocked does not count against the peer. */
  forgive(ms: number): void {
    this.#since += ms;
    this.#heardAt += ms;
    if (this.#messageSince > 0) this.#messageSince += ms;
    if (this.#waiting) this.#waiting.since += ms;
    this.out.progressAt += ms;
  }

  /** Closes the connection when it exceeded one of its deadlines. */
  check(now: number, maxIdleMs: number): void {
    const late = this.#late(now, maxIdleMs);
    if (late) this.cut(...late);
    else if (this.#pausedAt === 0) this.protocol?.tick?.(now);
  }

  #late(now: number, maxIdleMs: number): [WireProblem['kind'], string] | undefined {
    const { limits, out } = this;
    if (!this.#ready && now - this.#since > this.guard.handshakeMs) return ['idle', 'no handshake'];
    if (this.#waiting && now - this.#waiting.since > roomMs)
      return ['overload', 'a message waited too long for memory'];
    if (out.unsent > 0 && now - out.progressAt > limits.unsentMs) return ['slow', 'does not read what is sent to it'];
    const silent = now - this.#heardAt;
    if (this.#messageSince === 0) {
      return !this.proven && this.idle && silent > maxIdleMs ? ['idle', 'says nothing'] : undefined;
    }
    if (this.#pausedAt > 0) return undefined;
    if (silent > limits.stalledMs) return ['idle', 'stalled in a message'];
    const rate = this.#share?.pool.contended ? limits.contendedBytesPerSecond : limits.bytesPerSecond;
    const allowed = limits.messageMs + (this.#expected / rate) * 1000;
    return now - this.#messageSince > allowed ? ['idle', 'sends a message too slowly'] : undefined;
  }

  #closed(): void {
    if (this.#waiting) this.#waiting.pool.leave(this.#waiting.granted);
    this.#waiting = undefined;
    this.#share?.release();
    this.#share = undefined;
    this.guard.gone(this);
    this.protocol?.closed();
  }
}
