// How far the clock of a minion is from ours, from the times in its requests. A request that was under way for long looks
// like one of a clock that is behind, so the request that needed the least time counts for a while.
import type { MinionRecord } from './fleet.ts';

/** A clock that was corrected is seen after this time, at the latest. */
const countsForMs = 120_000;

/** `sentAt`: what the clock of the minion said, in seconds. */
export function noteClock(record: Pick<MinionRecord, 'skewSeconds' | 'skewAt'>, sentAt: number, now: number): void {
  const ahead = sentAt - now / 1000;
  const { skewSeconds, skewAt } = record;
  if (skewSeconds !== undefined && ahead < skewSeconds && now - skewAt < countsForMs) return;
  record.skewSeconds = ahead;
  record.skewAt = now;
}
