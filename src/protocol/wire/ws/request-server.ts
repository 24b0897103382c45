// The master's request port over WebSocket: one binary message per request, answered in order on each connection.
import { defaultMaxMessageBytes } from '../link/answers.ts';
import { ServerRequest } from '../link/server-request.ts';
import type { ListenOptions, RequestHandler, RequestServer } from '../transport.ts';
import { encodeFrame, opcodes } from './codec.ts';
import { listenWs } from './handshake.ts';
import { WsServerProtocol } from './server-protocol.ts';

export async function listenRequests(options: ListenOptions, handler: RequestHandler): Promise<RequestServer> {
  const maxBytes = options.maxMessageBytes ?? defaultMaxMessageBytes;
  return listenWs(options, 'request', (connection) => {
    // Replies have no id, so the next request of a connection waits for the reply to the previous one.
    connection.mostInWork = 1;
    return new WsServerProtocol(connection, maxBytes, {
      onMessage(data) {
        const send = (answer: Uint8Array) => connection.write(encodeFrame(opcodes.binary, answer, false));
        new ServerRequest(connection, data, send).serve(handler);
      },
      closed: () => undefined,
    });
  });
}
