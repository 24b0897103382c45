// The numbers of an overview: minions, keys, jobs; what changes in them, for pages that are open.
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { Tracker } from '../tracking/tracker.ts';
import { type FleetViewParts, fleetCounts } from './fleet-view.ts';
import { seesAllJobs, type Viewer } from './job-access.ts';
import { tickMs } from './job-watch.ts';
import { type KeyViewParts, keyCounts } from './key-view.ts';
import { followChanges, pause } from './watch.ts';

export interface SummaryParts extends FleetViewParts {
  readonly keys: KeyViewParts['keys'];
  readonly tracker: Pick<Tracker, 'active'>;
}

export function summary(parts: SummaryParts, viewer: Viewer): PlainDict {
  const { rights } = viewer;
  const { states, versions, os, problems } = fleetCounts(parts, rights);
  const total = Object.values(states ?? {}).reduce((sum, count) => sum + count, 0);
  const active = parts.tracker.active();
  const running = seesAllJobs(viewer) ? active : active.filter(({ jid }) => viewer.started(jid));
  const counts = (found: Record<string, number> | undefined): PlainDict => newDict(Object.entries(found ?? {}).sort());
  return newDict([
    ['total', total],
    ['states', counts(states)],
    ['versions', counts(versions)],
    ['os', counts(os)],
    ['problems', counts(problems)],
    ...(rights.mayCall('wheel', 'key.list_all') ? [['keys', counts(keyCounts(parts))] as [string, Value]] : []),
    ['jobs', newDict([['running', running.length]])],
    ['version', parts.index.version],
  ]);
}

const leastPauseMs = 250;

export async function* watchSummary(
  parts: SummaryParts,
  viewerNow: () => Promise<Viewer>,
  signal: AbortSignal,
): AsyncIterable<Value> {
  const changes = followChanges((changed) => parts.index.onChange(changed), signal, tickMs);
  let before = newDict();
  try {
    while (!signal.aborted) {
      const started = performance.now();
      const now = summary(parts, await viewerNow());
      const changed = Object.entries(now).filter(([name, value]) => !same(value, before[name]) && name !== 'version');
      before = now;
      if (changed.length > 0) yield newDict(changed);
      await pause(leastPauseMs, performance.now() - started, signal);
      await changes.next();
    }
  } finally {
    changes.close();
  }
}

const same = (a: Value, b: Value | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);
