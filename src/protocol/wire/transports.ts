// Finds a transport by its configured name; loads only that one.
import { HaliteError } from '../../base/errors/index.ts';
import type { Transport } from './transport.ts';

const loaders: Readonly<Record<Transport['name'], () => Promise<Transport>>> = {
  zeromq: async () => (await import('./zeromq.ts')).zeromqTransport,
  tcp: async () => (await import('./tcp.ts')).tcpTransport,
  ws: async () => (await import('./ws.ts')).wsTransport,
};

/** The same for many minions in one process, which share connections where the transport can. */
export async function getSharedTransport(name: string): Promise<Transport> {
  const transport = await getTransport(name);
  if (transport.name !== 'zeromq') return transport;
  const { sharingConnections } = await import('./zeromq/shared-connections.ts');
  return sharingConnections(transport);
}

/** The transport of the option `transport`. */
export async function getTransport(name: string): Promise<Transport> {
  if (!Object.hasOwn(loaders, name)) {
    throw new HaliteError('config.value', `There is no transport "${name}"`, {
      hint: `Set the option transport to one of ${Object.keys(loaders).join(', ')}, the same on master and minions.`,
    });
  }
  return loaders[name as Transport['name']]();
}
