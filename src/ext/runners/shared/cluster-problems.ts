// What is wrong with a cluster of masters, one line each.
import type { ClusterDrift, ClusterMemberStatus, ClusterReport } from 'halite/sdk';

/** Larger differences between clocks make jobs sort wrong and requests look old. */
const skewMs = 2_000;
export const mostStarts = 3;
/** Longer than any election of the engine takes. */
const heldMs = 60_000;
/** Members follow a new key within seconds. */
const rekeyMs = 60_000;
/** The leader seals everything anew within minutes. */
const overdueMs = 600_000;
export const clock = (at: Date): string => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

export function clusterProblems(report: ClusterReport): string[] {
  return [
    ...(isLeaderless(report) ? ['no member leads: nothing is scheduled and no key rotates'] : []),
    ...report.engine.problems,
    ...report.members.flatMap((member) => memberProblems(member)),
    ...report.drift.map(driftText),
    ...rekeyProblems(report),
  ];
}

/** A change of the key that does not go on by itself. */
export function rekeyProblems({ rekey }: ClusterReport, now = Date.now()): string[] {
  if (!rekey) return [];
  const { number, since, until, lacking } = rekey;
  if (lacking.length > 0 && now - since.getTime() > rekeyMs)
    return [
      `${lacking.join(', ')} ${lacking.length === 1 ? 'has' : 'have'} not said that the key ${number} of the cluster is used, since ${clock(since)}`,
    ];
  if (now - until.getTime() > overdueMs)
    return [
      `the key before the key ${number} of the cluster should have ended at ${clock(until)}: something is still sealed with it`,
    ];
  return [];
}

export function driftText({ what, since, sides }: ClusterDrift): string {
  const [one = '', other = ''] = sides.map(([first]) => first ?? '');
  const who = sides.map((side) => side.join(', ')).join(' | ');
  return `drift: ${what} differs (${who}) since ${clock(since)}: salt-run cluster.diff ${one} ${other}`;
}

/** An election takes some seconds. */
export const isLeaderless = ({ leader, leaderlessSince }: ClusterReport): boolean =>
  leader === undefined && Date.now() - (leaderlessSince?.getTime() ?? 0) > 10_000;

export function memberProblems({
  id,
  state,
  why,
  skewMs: skew,
  starts,
  held,
  heldSince,
}: ClusterMemberStatus): string[] {
  const found: string[] = [];
  if (state !== 'joined') found.push(`${id} is ${state}${why ? ` (${why})` : ''}`);
  else if (why) found.push(`${id} ${why}`);
  if (starts > mostStarts) found.push(`${id} started ${starts} times within ten minutes: see its log`);
  if (state === 'joined' && heldSince && Date.now() - heldSince.getTime() > heldMs)
    found.push(`${id} has ${held} records that the engine has not taken, since ${clock(heldSince)}`);
  if (Math.abs(skew) > skewMs)
    found.push(`the clock of ${id} is ${Math.round(Math.abs(skew) / 1000)} s ${skew > 0 ? 'ahead' : 'behind'}`);
  return found;
}
