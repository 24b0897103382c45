// The master's publish port over TCP: every connection gets every publish for all minions, and those for single minions
// after it authenticated as one of them.
import { randomBytes } from 'node:crypto';
import { pack, unpack } from '../../../base/codec/msgpack/index.ts';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import { Delivery, SharedFrame, Waiting } from '../link/delivery.ts';
import { listenGuarded } from '../link/listen.ts';
import { PacedQueue } from '../link/paced-queue.ts';
import { provenPresence, reportSubscriber } from '../link/presence.ts';
import type { Protocol, ServerConnection } from '../link/server-connection.ts';
import { SubscriberIds } from '../link/subscriber-ids.ts';
import type { PublishListenOptions, PublishServer } from '../transport.ts';
import { headText, publishFrame, splitFrame } from './frame.ts';
import { FrameReader } from './frame-reader.ts';

// Subscribers only send identifications: a few hundred bytes, once per key.
const maxIdentificationBytes = 64 * 1024;
const maxIdentifications = 64;
// A real minion signs in before it identifies itself, which may take a while when many minions do so at once.
const identificationMs = 60_000;
const redialMs = 60_000;

export async function listenPublish(options: PublishListenOptions): Promise<PublishServer> {
  const subscriberIds = new SubscriberIds<Subscriber>((event) => reportSubscriber(options, event));
  const waiting = new Waiting();
  const queue = new PacedQueue<Subscriber, SharedFrame>(
    (subscriber, frame) => subscriber.delivery.send(frame),
    SharedFrame.join,
  );
  const accept = (connection: ServerConnection): Protocol => {
    const delivery = new Delivery(connection, waiting, options.hwm);
    const subscriber = new Subscriber(connection, delivery, options, subscriberIds);
    subscriberIds.add(subscriber);
    return subscriber;
  };
  const server = await listenGuarded(options, 'publish', accept, identificationMs);
  return {
    port: server.port,
    get connections() {
      return server.connections;
    },
    publish(payload, ids) {
      const frame = new SharedFrame(payload.length, () => publishFrame(payload));
      // As in Salt: without ids, and with syndics that take all jobs, every connection gets it.
      queue.push(() => (ids?.length && !options.syndics ? subscriberIds.withIds(ids) : subscriberIds.all), frame);
    },
    close() {
      queue.flush();
      return server.close();
    },
  };
}

/** True for the identification of a real minion; other subscribers send nothing, or only a presence text. */
function isSealed(body: Buffer): boolean {
  return headText(body, 'enc') === 'aes';
}

class Subscriber implements Protocol {
  readonly delivery: Delivery;
  readonly #connection: ServerConnection;
  readonly #options: PublishListenOptions;
  readonly #subscriberIds: SubscriberIds<Subscriber>;
  readonly #reader = new FrameReader(maxIdentificationBytes);
  #identifying: Promise<void> = Promise.resolve();
  #identifications = 0;
  #redial: NodeJS.Timeout | undefined;

  constructor(
    connection: ServerConnection,
    delivery: Delivery,
    options: PublishListenOptions,
    subscriberIds: SubscriberIds<Subscriber>,
  ) {
    this.#connection = connection;
    this.delivery = delivery;
    this.#options = options;
    this.#subscriberIds = subscriberIds;
  }

  get peer(): string {
    return this.#connection.peer;
  }

  get pending(): number {
    return this.#reader.pending;
  }

  push(chunk: Buffer): void {
    this.#reader.push(chunk);
  }

  take(): void {
    for (let bytes = this.#reader.next(); bytes; bytes = this.#reader.next()) {
      const frame = bytes;
      this.#connection.completed();
      if (!this.#connection.ready) this.#connection.setReady();
      this.#identifications += 1;
      if (this.#identifications > maxIdentifications) {
        throw new HaliteError('codec.malformed', 'Too many identifications');
      }
      this.#identifying = this.#identifying.then(() => this.#identify(frame));
    }
  }

  drained(): void {
    this.delivery.drained();
  }

  closed(): void {
    this.#subscriberIds.remove(this);
    this.delivery.closed();
    clearTimeout(this.#redial);
  }

  /** Never throws: input that is not an identification leaves the peer unauthenticated. */
  async #identify(bytes: Buffer): Promise<void> {
    const frame = splitFrame(bytes);
    const { socket, guard } = this.#connection;
    if (!frame || socket.destroyed) return;
    const claimed = headText(frame.head, 'presence') ?? '';
    let id: string | undefined;
    let stale = false;
    try {
      id = await this.#options.identify?.(unpack(frame.body, { maxDepth: 16 }));
      stale = id === undefined && this.#options.identify !== undefined && isSealed(frame.body);
    } catch (thrown) {
      guard.problem({ kind: 'malformed', peer: this.peer, detail: messageOf(thrown) });
    }
    if (socket.destroyed) return;
    const topic = provenPresence(claimed, this.#options) ? claimed : '';
    if (stale && topic === '') {
      guard.problem({ kind: 'malformed', peer: this.peer, detail: 'its identification is not valid' });
      this.#askToIdentifyAgain();
      return;
    }
    if (id !== undefined || topic !== '') {
      clearTimeout(this.#redial);
      this.#connection.trust();
    }
    this.#subscriberIds.identify(this, id, topic);
  }

  /**
   * Sealed with a key that this master does not know, e.g. of the Salt master it replaced. A real minion signs in again when it
   * gets something that it cannot open, and identifies itself with the new key when it dials again. It is disconnected only after
   * a while: a 3007 minion that loses its connection while it prepares the one before never answers again.
   */
  #askToIdentifyAgain(): void {
    const { out } = this.#connection;
    if (this.#redial) return;
    out.write(publishFrame(pack({ enc: 'aes', load: randomBytes(96) })));
    this.#redial = setTimeout(() => out.end(), redialMs);
    this.#redial.unref();
  }
}
