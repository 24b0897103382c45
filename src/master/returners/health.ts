// The status of the stores, as one line and as numbers, for `jobs.health`.
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import { type ClusterComparison, comparisonValue } from '../../extend/sdk/cluster.ts';
import type { JobStore } from '../../store/jobs.ts';
import type { SpoolStatus } from './returner-spool.ts';
import type { ReturnerSinks } from './sinks.ts';

/** `compared`: with other members of a cluster. */
export function sinkHealth(store: JobStore, sinks: ReturnerSinks, compared?: ClusterComparison): PlainDict {
  const { trouble, since, moved } = store.health();
  const spools = Object.entries(sinks.status());
  const own = newDict([
    ['state', trouble ? 'waiting' : 'ok'],
    ['description', store.description],
    ...(trouble ? [['error', trouble] as const, ['since', stamp(since)] as const] : []),
    ...(moved ? [['damaged_file', moved] as const] : []),
  ]);
  return newDict([
    ['summary', [trouble ? `store: ${trouble}` : 'store: ok', ...spools.map(lineOf)].join('; ')],
    ['store', own],
    ['spools', newDict(spools.map(([name, status]) => [name, shown(status)]))],
    ...(compared ? [['compared', comparisonValue(compared)] as const] : []),
  ]);
}

const stamp = (at: number | undefined): string => (at ? new Date(at).toISOString() : '');

function lineOf([name, { state, waiting, dropped, refused, error }]: [string, SpoolStatus]): string {
  const counts = [
    `${waiting} waiting`,
    ...(dropped ? [`${dropped} dropped`] : []),
    ...(refused ? [`${refused} refused`] : []),
  ];
  return `${name}: ${state}, ${counts.join(', ')}${error ? ` (${error})` : ''}`;
}

function shown({ since, ...status }: SpoolStatus): PlainDict {
  return newDict(Object.entries({ ...status, ...(since ? { since: stamp(since) } : {}) }));
}
