// The TCP transport (with TLS when the option `ssl` is set).
import { listenPublish } from './tcp/publisher.ts';
import { dial } from './tcp/request-client.ts';
import { listenRequests } from './tcp/request-server.ts';
import { subscribe } from './tcp/subscriber.ts';
import type { Transport } from './transport.ts';

export const tcpTransport: Transport = { name: 'tcp', listenRequests, listenPublish, dial, subscribe };
