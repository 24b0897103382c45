// Finds a transport by its configured name; loads only that one.
import { HaliteError } from '../../base/errors/index.ts';
import type { Transport } from './transport.ts';

const loaders: Readonly<Record<Transport['name'], () => Promise<Transport>>> = {
  zeromq: async () => (await import('./zeromq.ts')).zeromqTransport,
  tcp: async () => (await import('./tcp.ts')).tcpTransport,
  ws: async () => (await import('./ws.ts')).wsTransport,
};

/** The transport of the option `transport`. */
export async function getTransport(name: string): Promise<Transport> {
  if (!Object.hasOwn(loaders, name)) {
    throw new HaliteError('config.value', `There is no transport "${name}"`, {
      hint: `Set the option transport to one of ${Object.keys(loaders).join(', ')}, the same on master and minions.`,
    });
  }
  return loaders[name as Transport['name']]();
}
