// What a drill showed, in words.
import type { DrillReport } from 'halite/sdk';
import { listFirst } from 'halite/sdk/text';

const named = (ids: readonly string[]): string => listFirst(ids, 10);

/** What must not happen when a master dies. */
export const hasFailed = ({ lost, unreached, away }: DrillReport): boolean =>
  Object.keys(lost).length > 0 || unreached.length > 0 || away.length > 0;

export function drillText(report: DrillReport): string {
  const { master, seconds, minions, lost, late, rerouted, unreached, away } = report;
  const count = minions.length;
  if (report.isDry)
    return [
      `Would close the ports of ${master} for ${seconds} seconds while ${count} minions run test.sleep and test.ping: ${named(minions)}.`,
      'Minions that have no other master wait meanwhile; real Salt minions without cache_jobs can lose results of other jobs of this master.',
      'Nothing was done: this is a dry run.',
    ].join('\n');
  const takers = [...new Set(Object.values(rerouted))].sort();
  const lines = [
    `${master} was out of reach for ${seconds} seconds while ${count} minions worked for it.`,
    Object.keys(lost).length === 0 ? 'lost: none' : `lost: ${Object.keys(lost).length}`,
    ...Object.entries(lost)
      .slice(0, 10)
      .map(([id, why]) => `  ${id}: ${why}`),
    `taken by another master: ${Object.keys(rerouted).length}${takers.length > 0 ? ` (${takers.join(', ')})` : ''}`,
    `late: ${Object.keys(late).length}`,
    ...Object.entries(late)
      .slice(0, 10)
      .map(([id, after]) => `  ${id}: known here ${after} s after its end`),
    `a job of ${master} meanwhile reached: ${count - unreached.length} of ${count}${unreached.length > 0 ? `; not ${named(unreached)}` : ''}`,
    `connected to ${master} again: ${count - away.length} of ${count}${away.length > 0 ? `; not ${named(away)}` : ''}`,
  ];
  return lines.join('\n');
}
