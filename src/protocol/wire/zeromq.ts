// The ZeroMQ transport; only this folder imports the library, and only when this transport is used.
import type { Transport } from './transport.ts';
import { listenPublish } from './zeromq/publisher.ts';
import { dial } from './zeromq/request-client.ts';
import { listenRequests } from './zeromq/request-server.ts';
import { subscribe } from './zeromq/subscriber.ts';

export const zeromqTransport: Transport = { name: 'zeromq', listenRequests, listenPublish, dial, subscribe };
