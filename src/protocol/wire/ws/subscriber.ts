// A minion's subscription over WebSocket.
import { messageOf } from '../../../base/errors/index.ts';
import { defaultMaxMessageBytes } from '../link/answers.ts';
import type { SessionContext } from '../link/keep-connected.ts';
import { keepSubscribed } from '../link/keep-subscribed.ts';
import { publishBody } from '../tcp/frame.ts';
import type { SubscribeOptions, Subscription } from '../transport.ts';
import { WsConnection } from './connection.ts';
import { connectWs } from './handshake.ts';
import { presenceHeader } from './publisher.ts';

export async function subscribe(options: SubscribeOptions): Promise<Subscription> {
  let presence = options.presenceTopic;
  let live: WsConnection | undefined;

  const session = async (context: SessionContext): Promise<string> => {
    const said = presence;
    const headers: Record<string, string> = said ? { [presenceHeader]: said } : {};
    const target = { ...options, path: '/ws', headers };
    const { socket, head, address } = await connectWs(target, context.attempt, context.signal);
    return new Promise((resolve) => {
      const onAbort = () => connection.close();
      const connection = new WsConnection(socket, head, defaultMaxMessageBytes, {
        onMessage: (data) => deliver(data, options),
        onClosed(reason) {
          live = undefined;
          context.signal.removeEventListener('abort', onAbort);
          resolve(`${address}: ${reason}`);
        },
      });
      context.signal.addEventListener('abort', onAbort, { once: true });
      live = connection;
      context.connected(address);
      connection.resume();
      // It changed during the handshake.
      if (presence !== said) connection.close();
    });
  };

  return keepSubscribed(options, session, (topic) => {
    if (presence === topic) return;
    presence = topic;
    // The text is part of the handshake: a change needs a new connection.
    live?.close();
  });
}

function deliver(data: Buffer, options: SubscribeOptions): void {
  try {
    options.onPublish(publishBody(data));
  } catch (thrown) {
    options.onProblem?.({ kind: 'handler', peer: options.host, detail: messageOf(thrown) });
  }
}
