// A minion's subscription over TCP: connect, identify, receive.
import type { Socket } from 'node:net';
import { pack } from '../../../base/codec/msgpack/index.ts';
import type { Value } from '../../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import { defaultMaxMessageBytes } from '../link/answers.ts';
import type { SessionContext } from '../link/keep-connected.ts';
import { keepSubscribed } from '../link/keep-subscribed.ts';
import type { SubscribeOptions, Subscription } from '../transport.ts';
import { connectStream } from './connect.ts';
import { joinFrame, publishBody, splitFrame } from './frame.ts';
import { FrameReader } from './frame-reader.ts';

// Real masters read `enc` and ignore messages that are not encrypted.
const anonymous = { enc: 'none' };

export async function subscribe(options: SubscribeOptions): Promise<Subscription> {
  let presence = options.presenceTopic;
  let live: Socket | undefined;

  /** Real masters ignore the head, so it can contain the presence text. */
  const identify = async (socket: Socket): Promise<void> => {
    if (!options.identification && !presence) return;
    const body = options.identification ? ((await options.identification()) as Value) : anonymous;
    const head: Value = presence ? { presence } : {};
    if (!socket.destroyed) socket.write(joinFrame(pack(head), pack(body)));
  };

  const session = async (context: SessionContext): Promise<string> => {
    const { socket, address } = await connectStream(options, context.attempt, context.signal);
    const onAbort = () => socket.destroy();
    context.signal.addEventListener('abort', onAbort, { once: true });
    const gone = receive(socket, options);
    try {
      await identify(socket);
      if (!socket.destroyed) {
        live = socket;
        context.connected(address);
      }
      return `${address}: ${await gone}`;
    } finally {
      live = undefined;
      context.signal.removeEventListener('abort', onAbort);
      socket.destroy();
    }
  };

  return keepSubscribed(options, session, (topic) => {
    if (presence === topic) return;
    presence = topic;
    const socket = live;
    if (socket) identify(socket).catch(() => socket.destroy());
  });
}

/** Delivers publishes until the connection ends; resolves with the reason. */
function receive(socket: Socket, options: SubscribeOptions): Promise<string> {
  const reader = new FrameReader(defaultMaxMessageBytes);
  return new Promise((resolve) => {
    socket.on('close', () => resolve('the connection was closed'));
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const bytes of reader.feed(chunk)) deliver(bytes, options);
      } catch (thrown) {
        resolve(messageOf(thrown));
        socket.destroy();
      }
    });
  });
}

function deliver(bytes: Buffer, options: SubscribeOptions): void {
  const frame = splitFrame(bytes);
  try {
    if (!frame) throw new HaliteError('codec.malformed', 'A frame has no head or no body');
    options.onPublish(publishBody(frame.body));
  } catch (thrown) {
    options.onProblem?.({ kind: frame ? 'handler' : 'malformed', peer: options.host, detail: messageOf(thrown) });
  }
}
