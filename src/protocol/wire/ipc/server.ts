// The daemon's side of the local socket: many clients, many calls each, streams of items with back-pressure.
import { createServer, type Server, type Socket } from 'node:net';
import { openLimits, Shares, type SocketLimits } from './admission.ts';
import { type IpcHandler, ServerConnection } from './connection.ts';
import { claimSocket } from './socket-file.ts';

export interface IpcServer {
  /** How many there are now. */
  readonly connections: number;
  close(): Promise<void>;
}

export interface IpcListenOptions {
  readonly mode: number;
  /** Without limits, every user that can connect is trusted. */
  readonly limits?: SocketLimits;
}

/**
 * Listens on the path, which is created only after the permissions are set. A file left by a dead daemon is replaced.
 */
export async function listenIpc(path: string, options: IpcListenOptions, handler: IpcHandler): Promise<IpcServer> {
  const { limits = openLimits } = options;
  const shares = new Shares();
  const clients = new Set<ServerConnection>();
  const unauthenticated = new Set<ServerConnection>();
  let count = 0;
  const take = (socket: Socket): void => {
    if (clients.size >= limits.connections) {
      socket.destroy();
      return;
    }
    const client = new ServerConnection(socket, `ipc#${++count}`, handler, limits, shares);
    clients.add(client);
    unauthenticated.add(client);
    client.onKnown = () => unauthenticated.delete(client);
    socket.on('close', () => {
      clients.delete(client);
      unauthenticated.delete(client);
    });
    // Ordinary clients authenticate immediately: the one that has waited longest is closed for a new one.
    const [oldest] = unauthenticated;
    if (unauthenticated.size > limits.mostUnauthenticated) oldest?.close();
  };
  const server: Server = createServer(take);
  const release = await claimSocket(server, path, options.mode);
  return {
    get connections() {
      return clients.size;
    },
    async close() {
      await release();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const client of clients) client.close();
      await closed;
    },
  };
}
