// The state of a cluster as an operator reads it: one line for all, one for each member, one for each problem.
import type { ClusterMemberStatus, ClusterReport } from 'halite/sdk';
import { clock } from './cluster-problems.ts';

const steps: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
];

/** How long ago, in its largest unit. */
export function ago(since: Date, now = Date.now()): string {
  const seconds = Math.max(0, Math.floor((now - since.getTime()) / 1000));
  const [size, name] = steps.find(([step]) => seconds >= step) ?? [1, 's'];
  return `${Math.floor(seconds / size)} ${name}`;
}

const number = (value: number): string => value.toLocaleString('en-US');

function stateOf({ state, since, why }: ClusterMemberStatus): string {
  if (state === 'joined') return `up ${ago(since)}`;
  return `${state.toUpperCase()} since ${clock(since)}${why ? ` (${why})` : ''}`;
}

export function statusText(report: ClusterReport, problems: readonly string[]): string {
  const { name, members, leader, term, level, engine } = report;
  const joined = members.filter(({ state }) => state === 'joined').length;
  const leads = leader === undefined ? 'no leader' : `leader ${leader} (term ${term})`;
  const via = engine.version ? `engine ${engine.version}, delay ${engine.delayMs} ms` : 'no engine';
  const rows = members.map((member) => [
    member.id,
    `slot ${member.slot}`,
    member.version,
    stateOf(member),
    // What a member that is gone has is not known.
    ...(member.state === 'gone'
      ? []
      : [`${number(member.minions)} minion${member.minions === 1 ? '' : 's'}`, `held ${number(member.held)}`]),
    ...marksOf(member).map((mark) => `(${mark})`),
  ]);
  return [
    `${name}: ${joined} of ${members.length} masters, ${leads}, level ${level}, ${via}`,
    ...aligned(rows),
    ...comparedLine(report),
    ...rekeyLine(report),
    ...problems.map((text) => `problem: ${text}`),
  ].join('\n');
}

const marksOf = ({ leads, self, drainedSince }: ClusterMemberStatus): string[] => [
  ...(leads ? ['leads'] : []),
  ...(self ? ['this master'] : []),
  ...(drainedSince ? ['drained: starts no new jobs'] : []),
];

function rekeyLine({ rekey }: ClusterReport): string[] {
  if (!rekey) return [];
  const { number, since, until, lacking } = rekey;
  const late = lacking.length > 0 ? `; not yet by ${lacking.join(', ')}` : '';
  return [
    `  key ${number} of the cluster is used since ${clock(since)}${late}; the one before opens until ${clock(until)}`,
  ];
}

function comparedLine({ repair }: ClusterReport): string[] {
  if (!repair) return [];
  const { at, differed, fetched, unreached } = repair;
  const missed = unreached.size > 0 ? `, not reached: ${[...unreached.keys()].join(', ')}` : '';
  return [`  compared ${clock(at)}: ${differed} records differed, ${fetched} fetched${missed}`];
}

/** Columns of equal width; one that is very long ends the alignment of its own row only. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const widest = 16;
  const widths: number[] = [];
  for (const row of rows)
    for (const [at, cell] of row.entries())
      if (cell.length <= widest) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  return rows.map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}`.trimEnd());
}
