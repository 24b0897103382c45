// A minion's subscription over ZeroMQ, with the presence text as an additional topic.
import { Subscriber } from 'zeromq';
import { messageOf } from '../../../base/errors/index.ts';
import { defaultMaxMessageBytes } from '../link/answers.ts';
import type { SessionContext } from '../link/keep-connected.ts';
import { keepSubscribed } from '../link/keep-subscribed.ts';
import type { SubscribeOptions, Subscription } from '../transport.ts';
import { connect, singleUse } from './connect.ts';
import { publishKeepAlive } from './keep-alive.ts';
import { minionTopic } from './publisher.ts';
import { heartbeat, keepAlive } from './settings.ts';

export async function subscribe(options: SubscribeOptions): Promise<Subscription> {
  const own = new Set(['broadcast', options.syndic ? 'syndic' : minionTopic(options.id)]);
  let presence = options.presenceTopic;
  let live: Subscriber | undefined;

  const session = async (context: SessionContext): Promise<string> => {
    const { socket, address, gone } = await connect(
      options,
      context.attempt,
      (family) => newSocket(options, family, [...(options.filtering ? own : ['']), ...(presence ? [presence] : [])]),
      context.signal,
    );
    live = socket;
    const onAbort = () => socket.close();
    context.signal.addEventListener('abort', onAbort, { once: true });
    context.connected(address);
    const reading = read(socket, own, options);
    const reason = await gone;
    context.signal.removeEventListener('abort', onAbort);
    live = undefined;
    if (!socket.closed) socket.close();
    await reading;
    return reason;
  };

  return keepSubscribed(options, session, (topic) => {
    const before = presence;
    presence = topic;
    if (!live || live.closed || before === topic) return;
    // The old topic first: a master that counts connections by boot id must see the join last.
    if (before) live.unsubscribe(before);
    live.subscribe(topic);
  });
}

export function newSocket(options: SubscribeOptions, family: 4 | 6, topics: readonly string[]): Subscriber {
  const socket = new Subscriber({
    ...singleUse,
    ipv6: family === 6,
    receiveHighWaterMark: 10_000,
    maxMessageSize: defaultMaxMessageBytes,
    ...heartbeat(options.heartbeat),
    ...keepAlive(options.keepAlive, publishKeepAlive),
  });
  socket.subscribe(...topics);
  return socket;
}

/** Delivers publishes. A filtering master sends a topic frame first, also to subscribers that did not request it. */
async function read(socket: Subscriber, own: ReadonlySet<string>, options: SubscribeOptions): Promise<void> {
  for await (const frames of socket) {
    const payload = frames.at(-1);
    if (!payload || frames.length > 2) continue;
    if (frames.length === 2 && !own.has(String(frames[0]))) continue;
    try {
      options.onPublish(payload);
    } catch (thrown) {
      options.onProblem?.({ kind: 'handler', peer: options.host, detail: messageOf(thrown) });
    }
  }
}
