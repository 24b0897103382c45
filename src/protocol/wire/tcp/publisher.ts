// The master's publish port over TCP: every connection gets every publish, or only those that identified as a target.
import type { Socket } from 'node:net';
import { unpack } from '../../../base/codec/msgpack/index.ts';
import { messageOf } from '../../../base/errors/index.ts';
import { PacedQueue } from '../link/paced-queue.ts';
import { Roster } from '../link/roster.ts';
import type { PublishListenOptions, PublishServer, WireProblem } from '../transport.ts';
import { headText, publishFrame, splitFrame } from './frame.ts';
import { FrameReader } from './frame-reader.ts';
import { listenStream } from './listen.ts';

// Subscribers send identifications only: a few hundred bytes, once per key.
const MAX_IDENTIFICATION_BYTES = 64 * 1024;
const MAX_IDENTIFICATIONS = 64;
const MAX_UNSENT_BYTES = 64 * 1024 * 1024;
const STALLED_MS = 60_000;

export async function listenPublish(options: PublishListenOptions): Promise<PublishServer> {
  const roster = new Roster<Subscriber>((event) => {
    try {
      options.onSubscriber?.(event);
    } catch (thrown) {
      options.onProblem?.({ kind: 'handler', peer: event.peer, detail: messageOf(thrown) });
    }
  });
  const queue = new PacedQueue<Subscriber>((subscriber, frame) => subscriber.send(frame));
  const server = await listenStream(options, (socket, peer) => {
    const subscriber = new Subscriber(socket, peer, options, roster);
    roster.add(subscriber);
  });
  return {
    port: server.port,
    publish(payload, ids) {
      // Salt: without ids, and with lower masters that take all jobs, everybody gets it.
      const targets = ids?.length && !options.syndics ? roster.withIds(ids) : roster.all();
      if (targets.length > 0) queue.push(targets, publishFrame(payload));
    },
    close() {
      queue.flush();
      return server.close();
    },
  };
}

class Subscriber {
  readonly peer: string;
  private readonly socket: Socket;
  private readonly options: PublishListenOptions;
  private readonly roster: Roster<Subscriber>;
  private readonly reader = new FrameReader(MAX_IDENTIFICATION_BYTES);
  private identifying: Promise<void> = Promise.resolve();
  private identifications = 0;

  constructor(socket: Socket, peer: string, options: PublishListenOptions, roster: Roster<Subscriber>) {
    this.socket = socket;
    this.peer = peer;
    this.options = options;
    this.roster = roster;
    socket.on('data', (chunk: Buffer) => this.take(chunk));
    socket.on('close', () => roster.remove(this));
    socket.setTimeout(STALLED_MS, () => {
      if (this.reader.pending > 0) this.cut('idle', 'stalled in its identification');
      else if (socket.writableLength > 0) this.cut('slow', 'takes no publishes');
    });
  }

  send(frame: Uint8Array): void {
    if (this.socket.destroyed) return;
    this.socket.write(frame);
    if (this.socket.writableLength > MAX_UNSENT_BYTES) this.cut('slow', 'takes publishes too slowly');
  }

  private take(chunk: Buffer): void {
    try {
      for (const bytes of this.reader.feed(chunk)) {
        this.identifications += 1;
        if (this.identifications > MAX_IDENTIFICATIONS) throw new Error('too many identifications');
        this.identifying = this.identifying.then(() => this.identify(bytes));
      }
    } catch (thrown) {
      this.cut('malformed', messageOf(thrown));
    }
  }

  /** Never throws: whatever a peer sends, it is at worst nobody. */
  private async identify(bytes: Buffer): Promise<void> {
    const frame = splitFrame(bytes);
    if (!frame || this.socket.destroyed) return;
    const topic = headText(frame.head, 'presence') ?? '';
    let id: string | undefined;
    try {
      id = await this.options.identify?.(unpack(frame.body, { maxDepth: 16 }));
    } catch (thrown) {
      this.options.onProblem?.({ kind: 'malformed', peer: this.peer, detail: messageOf(thrown) });
    }
    if (!this.socket.destroyed) this.roster.identify(this, id, topic);
  }

  private cut(kind: WireProblem['kind'], detail: string): void {
    if (this.socket.destroyed) return;
    this.socket.destroy();
    this.options.onProblem?.({ kind, peer: this.peer, detail });
  }
}
