// Keepalive of the ZeroMQ connections, with Salt's operational defaults.
import type { KeepAlive } from '../transport.ts';

/** For the request connections; the publish side uses Salt's 300 s. */
export const requestKeepAlive: KeepAlive = { idleSeconds: 60, count: 3, intervalSeconds: 15 };
export const publishKeepAlive: KeepAlive = { idleSeconds: 300, count: -1, intervalSeconds: -1 };
