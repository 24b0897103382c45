// The master's request port over WebSocket: one binary message per request, answered in order on each connection.
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import { defaultMaxMessageBytes, maxOutstanding, serverError } from '../link/answers.ts';
import { Gate } from '../link/gate.ts';
import type { ListenOptions, RequestHandler, RequestServer } from '../transport.ts';
import { WsConnection } from './connection.ts';
import { listenWs } from './handshake.ts';

const MAX_WAITING = 64;
const STALLED_MS = 30_000;

export async function listenRequests(options: ListenOptions, handler: RequestHandler): Promise<RequestServer> {
  const maxBytes = options.maxMessageBytes ?? defaultMaxMessageBytes;
  const gate = new Gate(maxOutstanding.count, maxOutstanding.bytes);
  return listenWs(options, ({ socket, peer, head }) => {
    // Replies carry no number, so the next request of a connection waits for the reply to the one before.
    const waiting: Buffer[] = [];
    let busy = false;

    const serveNext = async (): Promise<void> => {
      if (gate.full) await gate.room();
      const payload = waiting.shift();
      if (!payload) {
        busy = false;
        return;
      }
      if (waiting.length < MAX_WAITING / 2) connection.resume();
      const leave = gate.enter(payload.length);
      let answered = false;
      const reply = (answer: Uint8Array) => {
        if (answered) return;
        answered = true;
        leave();
        connection.send(answer);
        void serveNext();
      };
      try {
        handler({ payload, peer, reply });
      } catch (thrown) {
        options.onProblem?.({ kind: 'handler', peer, detail: messageOf(thrown) });
        reply(serverError);
      }
    };

    const connection = new WsConnection(
      socket,
      head,
      { client: false, maxBytes },
      {
        onMessage(data) {
          waiting.push(data);
          if (waiting.length >= MAX_WAITING) connection.pause();
          if (busy) return;
          busy = true;
          void serveNext();
        },
        onClosed(_reason, error) {
          if (!error) return;
          const kind = error instanceof HaliteError && error.code === 'codec.limit' ? 'too-large' : 'malformed';
          options.onProblem?.({ kind, peer, detail: messageOf(error) });
        },
      },
    );
    socket.setTimeout(STALLED_MS, () => {
      if ((connection.pending === 0 && connection.unsent === 0) || socket.isPaused()) return;
      options.onProblem?.({ kind: 'idle', peer, detail: 'stalled in a message' });
      connection.destroy();
    });
  });
}
