// A subscription that lasts: its sessions follow each other, whatever transport they use.
import type { SubscribeOptions, Subscription } from '../transport.ts';
import { keepConnected, type SessionContext } from './keep-connected.ts';

export function keepSubscribed(
  options: SubscribeOptions,
  session: (context: SessionContext) => Promise<string>,
  setPresence: Subscription['setPresence'],
): Subscription {
  const { close } = keepConnected({
    minMs: options.reconnectMinMs,
    maxMs: options.reconnectMaxMs,
    session,
    onState: options.onState,
  });
  return { setPresence, close };
}
