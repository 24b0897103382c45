// Cron patterns: refused, or next times that lie in the future.
import { loadCron } from '../../../src/engine/schedule/cron.ts';
import { type FuzzTarget, hold, textOf } from '../engine/target.ts';

const after = new Date('2026-11-16T01:00:00Z');
let next: Awaited<ReturnType<typeof loadCron>> | undefined;

const target: FuzzTarget = {
  maxLength: 80,
  tokens: ['*', '*/5', '1-3', '0', '59', ' ', ',', 'MON', 'jan', 'L', 'W', '#2', '?', '@daily', '29 2', '31 2'],
  seeds: ['* * * * *', '*/5 0-12 1,15 * 1-5', '0 0 29 2 *', '0 0 1 1 * 30'],
  run: async (bytes) => {
    next ??= await loadCron();
    let at: Date | undefined;
    try {
      at = next(textOf(bytes), after);
    } catch {
      // The library refuses with errors of its own; the schedule names the job.
      return;
    }
    hold(at === undefined || at > after, 'the next time comes later');
  },
};
export default target;
