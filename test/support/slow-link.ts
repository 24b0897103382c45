// A slow link to a server: every byte arrives later, and not more than so many in a second.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface SlowLink {
  readonly port: number;
  close(): void;
}

export async function slowLink(target: number, delayMs: number, bytesPerSecond: number): Promise<SlowLink> {
  const sockets = new Set<Socket>();
  const carry = (from: Socket, to: Socket): void => {
    let free = 0;
    from.on('data', (data) => {
      const now = performance.now();
      // The line is busy as long as the bytes before these take.
      free = Math.max(free, now) + (data.length / bytesPerSecond) * 1000;
      if (free - now > 2000) from.pause();
      setTimeout(
        () => {
          from.resume();
          if (!to.destroyed) to.write(data);
        },
        free - now + delayMs,
      );
    });
    from.on('close', () => to.destroy());
    from.on('error', () => to.destroy());
  };
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    for (const socket of [near, far]) sockets.add(socket.setNoDelay(true));
    carry(near, far);
    carry(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
