// The master's publish port over ZeroMQ: an XPUB socket with our own ZMTP code, so that presence subscriptions are
// visible and every queue is bounded.
import { createHash } from 'node:crypto';
import { Delivery, SharedFrame, Waiting } from '../link/delivery.ts';
import { listenGuarded } from '../link/listen.ts';
import { PacedQueue } from '../link/paced-queue.ts';
import { Presence } from '../link/presence.ts';
import type { Audience, PublishListenOptions, PublishServer } from '../transport.ts';
import { publishKeepAlive } from './keep-alive.ts';
import { TopicIndex } from './topic-index.ts';
import { malformed, pingCommand } from './zmtp/commands.ts';
import { encodeMessage } from './zmtp/frames.ts';
import { type Generation, xpubType } from './zmtp/greeting.ts';
import { type Role, ZmtpPeer } from './zmtp/peer.ts';

// Subscribers may only send topics: a presence text has less than 1100 bytes.
const maxSubscriptionBytes = 4096;
// A minion has two topics and a presence text; a process that simulates several minions may have some more.
const maxTopics = 64;
const maxTopicBytes = 16 * 1024;
// Subscriptions change with a new session key: maximum number per minute.
const maxChanges = 1000;
const minuteMs = 60_000;
// How many PONGs a second all subscribers together send after publishes.
const mostPongs = 2000;

/** Topic of the messages for one minion in filtering mode. */
export function minionTopic(id: string): string {
  return createHash('sha1').update(id).digest('hex');
}

export async function listenPublish(options: PublishListenOptions): Promise<PublishServer> {
  const index = new TopicIndex<Subscriber>();
  const waiting = new Waiting();
  const presence = new Presence(options);
  const subscribers = new Map<ZmtpPeer, Subscriber>();
  const queue = new PacedQueue<Subscriber, SharedFrame>(
    (subscriber, frame) => subscriber.delivery.send(frame),
    SharedFrame.join,
  );
  const pingAfterMs = (): number => (subscribers.size / mostPongs) * 1000;
  let carriedAt = 0;
  // A PING with each publish, unless there are very many: a subscriber must notice at any moment that we are gone.
  const frameOf = (frames: readonly Uint8Array[]): SharedFrame => {
    const now = performance.now();
    const carries = now - carriedAt >= pingAfterMs();
    if (carries) carriedAt = now;
    return encoded(frames, carries);
  };
  const role: Role = {
    type: xpubType,
    maxFrames: 1,
    maxBytes: maxSubscriptionBytes,
    hardBytes: maxSubscriptionBytes,
    heartbeat: options.heartbeat === false ? 'none' : 'all',
    pingAfterMs,
    ready(peer) {
      const delivery = new Delivery(peer.connection, waiting, options.hwm, () => peer.form);
      const subscriber = new Subscriber(peer, delivery, index, presence);
      subscribers.set(peer, subscriber);
      // libzmq 2.x filters what it receives: it needs all messages.
      if (peer.unversioned) subscriber.change(true, Buffer.alloc(0));
    },
    message(peer, [frame]) {
      peer.connection.completed();
      const sign = frame?.[0];
      if (frame && (sign === 0 || sign === 1)) subscribers.get(peer)?.change(sign === 1, frame.subarray(1));
    },
    command(peer, name, body) {
      if (name === 'SUBSCRIBE' || name === 'CANCEL') subscribers.get(peer)?.change(name === 'SUBSCRIBE', body);
    },
    drained: (peer) => subscribers.get(peer)?.delivery.drained(),
    closed(peer) {
      subscribers.get(peer)?.closed();
      subscribers.delete(peer);
    },
  };
  const server = await listenGuarded(
    { keepAlive: publishKeepAlive, ...options, tls: undefined },
    'publish',
    (connection) => new ZmtpPeer(connection, role),
  );
  return {
    port: server.port,
    get connections() {
      return server.connections;
    },
    publish(payload, ids, to) {
      if (!options.filtering) return queue.push(() => only(index.match(payload), to), frameOf([payload]));
      for (const topic of topicsOf(ids, options)) {
        const start = Buffer.from(topic);
        queue.push(() => only(index.match(start), to), frameOf([start, payload]));
      }
    },
    async close() {
      queue.flush();
      await server.close();
    },
  };
}

function only(found: ReadonlySet<Subscriber>, to: Audience | undefined): ReadonlySet<Subscriber> {
  return to === undefined ? found : new Set([...found].filter(({ isHalite }) => isHalite === (to === 'halite')));
}

/** Salt: an empty list of ids means all minions. */
function topicsOf(ids: readonly string[] | undefined, options: PublishListenOptions): string[] {
  if (!ids?.length) return ['broadcast'];
  return [...ids.map(minionTopic), ...(options.syndics ? ['syndic'] : [])];
}

function encoded(frames: readonly Uint8Array[], ping: boolean): SharedFrame {
  let length = 0;
  for (const frame of frames) length += frame.length;
  return new SharedFrame(length, (form) => {
    const message = encodeMessage(Math.min(form, 2) as Generation, frames);
    return Buffer.concat(ping && form === 3 ? [...message, pingCommand] : message);
  });
}

class Subscriber {
  readonly delivery: Delivery;
  readonly #peer: ZmtpPeer;
  readonly #index: TopicIndex<Subscriber>;
  readonly #presence: Presence;
  /** Also tells whether the topic is a presence text with a valid proof. */
  readonly #topics = new Map<string, boolean>();
  #topicBytes = 0;
  #changes = 0;
  #changesSince = 0;

  constructor(peer: ZmtpPeer, delivery: Delivery, index: TopicIndex<Subscriber>, presence: Presence) {
    this.#peer = peer;
    this.delivery = delivery;
    this.#index = index;
    this.#presence = presence;
  }

  /** Throws when there are too many, which closes the connection. */
  change(subscribe: boolean, bytes: Buffer): void {
    this.#countChange();
    const topic = bytes.toString('latin1');
    if (subscribe === this.#topics.has(topic)) return;
    if (subscribe) {
      this.#topicBytes += topic.length;
      if (this.#topics.size >= maxTopics || this.#topicBytes > maxTopicBytes) throw malformed('too many subscriptions');
      this.#index.add(topic, this);
      const present = this.#presence.joined(bytes.toString('utf8'), this.#peer.connection.peer);
      this.#topics.set(topic, present);
      if (present) this.#peer.connection.trust();
    } else this.#drop(topic, this.#topics.get(topic) === true);
  }

  get isHalite(): boolean {
    for (const present of this.#topics.values()) if (present) return true;
    return false;
  }

  closed(): void {
    for (const [topic, present] of this.#topics) this.#drop(topic, present);
    this.delivery.closed();
  }

  #drop(topic: string, present: boolean): void {
    this.#topics.delete(topic);
    this.#topicBytes -= topic.length;
    this.#index.remove(topic, this);
    if (present) this.#presence.left(Buffer.from(topic, 'latin1').toString('utf8'), this.#peer.connection.peer);
  }

  #countChange(): void {
    const now = performance.now();
    if (now - this.#changesSince > minuteMs) {
      this.#changesSince = now;
      this.#changes = 0;
    }
    this.#changes += 1;
    if (this.#changes > maxChanges) throw malformed('too many changes of subscriptions');
  }
}
