// Whether something accepts TCP connections at an address.
import net from 'node:net';

export function canConnect(host: string, port: number, milliseconds: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port });
    const done = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(milliseconds, () => done(false));
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
  });
}
