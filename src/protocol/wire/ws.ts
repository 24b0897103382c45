// The WebSocket transport of Salt 3007 and later.
import type { Transport } from './transport.ts';
import { listenPublish } from './ws/publisher.ts';
import { dial } from './ws/request-client.ts';
import { listenRequests } from './ws/request-server.ts';
import { subscribe } from './ws/subscriber.ts';

export const wsTransport: Transport = { name: 'ws', listenRequests, listenPublish, dial, subscribe };
