// One call for events to the master. When the master is restarted, it waits for it and continues.
import { setTimeout as sleep } from 'node:timers/promises';
import { newDict } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Master } from '../master.ts';
import { readItem, type StreamItem } from './items.ts';

/** How long a stream waits for a master that is restarted. */
const patienceMs = 120_000;
const retryMs = 500;

export interface UpstreamRequest {
  readonly token: string;
  readonly from: string;
  readonly signal: AbortSignal;
  /** The last event that the reader has seen (`Last-Event-ID`). */
  readonly since: string | undefined;
}

/** Ends by throwing: when the token is not valid any more, or the master stays away. */
export async function* upstream(
  master: Pick<Master, 'session'>,
  { token, from, signal, since }: UpstreamRequest,
): AsyncIterable<StreamItem> {
  let last = since;
  let awayUntil = 0;
  while (!signal.aborted) {
    try {
      const session = master.session({ token }, from);
      try {
        const args = newDict(last === undefined ? [] : [['since', last]]);
        for await (const item of session.call('events', args, readItem, signal)) {
          awayUntil = 0;
          last = item.id;
          yield item;
        }
      } finally {
        session.close();
      }
    } catch (error) {
      if (!isAway(error)) throw error;
    }
    if (signal.aborted) return;
    awayUntil ||= Date.now() + patienceMs;
    if (Date.now() >= awayUntil) throw new HaliteError('daemon.unreachable', 'The master has been away for too long.');
    await sleep(retryMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Or it cannot look at the token for the moment. */
const away = new Set<string>(['daemon.unreachable', 'wire.closed', 'store.unavailable']);
export const isAway = (error: unknown): boolean => error instanceof HaliteError && away.has(error.code);
