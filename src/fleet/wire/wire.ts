// The transports of a simulated fleet by name.
import { tcpWire } from './tcp.ts';
import type { FleetWire } from './types.ts';
import { zeromqWire } from './zeromq.ts';

export type TransportName = 'zeromq' | 'tcp';

export const wireOf = (name: TransportName): FleetWire => (name === 'tcp' ? tcpWire : zeromqWire);
