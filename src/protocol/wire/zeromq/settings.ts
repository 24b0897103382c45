// Settings of the client sockets, which use the library, with Salt's operational defaults.
import { context } from 'zeromq';
import type { KeepAlive } from '../transport.ts';

// The library's 1023 are too few for one process that simulates many minions; must be set before the first socket.
context.maxSockets = 16_384;

/**
 * A peer that answers no heartbeat for 30 s is disconnected; without this a lost machine stays "connected" for hours.
 */
export function heartbeat(on: boolean | undefined): { heartbeatInterval?: number; heartbeatTimeout?: number } {
  return on === false ? {} : { heartbeatInterval: 10_000, heartbeatTimeout: 30_000 };
}

export function keepAlive(
  given: KeepAlive | false | undefined,
  standard: KeepAlive,
): { tcpKeepalive: number; tcpKeepaliveIdle?: number; tcpKeepaliveCount?: number; tcpKeepaliveInterval?: number } {
  if (given === false) return { tcpKeepalive: 0 };
  const { idleSeconds, count, intervalSeconds } = given ?? standard;
  return {
    tcpKeepalive: 1,
    tcpKeepaliveIdle: idleSeconds,
    tcpKeepaliveCount: count,
    tcpKeepaliveInterval: intervalSeconds,
  };
}
