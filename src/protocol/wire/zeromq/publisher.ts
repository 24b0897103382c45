// The master's publish port over ZeroMQ: an XPUB, so that presence subscriptions are seen.
import { createHash } from 'node:crypto';
import { XPublisher } from 'zeromq';
import { readPresenceTopic } from '../presence-topic.ts';
import type { PublishListenOptions, PublishServer } from '../transport.ts';
import { Outbox } from './outbox.ts';
import { type Bound, bind, heartbeat, keepAlive, publishKeepAlive } from './settings.ts';

// What subscribers may send is a topic: a presence text is below 1100 bytes.
const MAX_SUBSCRIPTION_BYTES = 4096;
/** Without filtering the payload is a message of its own. */
const noTopic = '';

/** Topic of the messages for one minion in filtering mode. */
export function minionTopic(id: string): string {
  return createHash('sha1').update(id).digest('hex');
}

export async function listenPublish(options: PublishListenOptions): Promise<PublishServer> {
  const socket = new XPublisher({
    linger: 1000,
    sendTimeout: 0,
    sendHighWaterMark: options.hwm,
    receiveHighWaterMark: 0,
    backlog: options.backlog ?? 1000,
    ipv6: options.ipv6 === true || options.interface.includes(':'),
    maxMessageSize: MAX_SUBSCRIPTION_BYTES,
    ...heartbeat(options.heartbeat),
    ...keepAlive(options.keepAlive, publishKeepAlive),
  });
  const bound = await bind(socket, options);
  const queue = new Outbox(socket);
  const done = watch(bound, options);
  return {
    port: bound.port,
    publish(payload, ids) {
      if (!options.filtering) return queue.push([noTopic], payload);
      // Salt: an empty list of ids means everybody.
      if (!ids?.length) return queue.push(['broadcast'], payload);
      const topics = ids.map(minionTopic);
      if (options.syndics) topics.push('syndic');
      queue.push(topics, payload);
    },
    async close() {
      queue.flush();
      await bound.close();
      await done;
    },
  };
}

/**
 * Tells about presence texts. ZeroMQ counts subscribers per topic: the first brings `joined`, the end of the last
 * connection (closed, lost or without heartbeat) brings `left`, so a minion that reconnects quickly was never away.
 */
async function watch(bound: Bound<XPublisher>, options: PublishListenOptions): Promise<void> {
  for await (const [message] of bound.socket) {
    const sign = message?.[0];
    if (!message || (sign !== 0 && sign !== 1)) continue;
    const topic = message.toString('utf8', 1);
    if (!options.onSubscriber || readPresenceTopic(topic) === undefined) continue;
    try {
      options.onSubscriber({ kind: sign === 1 ? 'joined' : 'left', topic, peer: 'zeromq' });
    } catch (thrown) {
      options.onProblem?.({ kind: 'handler', peer: 'zeromq', detail: String(thrown) });
    }
  }
}
