// What is wrong with a cluster of masters: each finding with what follows from it, and what to do.
import type { ClusterDrift, ClusterReport, MasterContext, MinionStatus } from 'halite/sdk';
import { listFirst } from 'halite/sdk/text';
import { clock, driftText, isLeaderless, memberProblems, mostStarts, rekeyProblems } from './cluster-problems.ts';
import { counted, type Finding, named } from './finding.ts';

/** Shorter than this it may be over before anybody looks. */
const patienceMs = 60_000;
const problemSkewMs = 30_000;
/** They do it every ten minutes. */
const comparedMs = 30 * 60_000;
/** Fewer minions say nothing about how they spread. */
const leastToSpread = 10;

export async function clusterFindings(ctx: MasterContext): Promise<Finding[]> {
  const report = await ctx.master.cluster.report();
  return report ? [...findingsOf(report, ctx.master.fleet.all()), await drillFinding(ctx)] : [];
}

/** Known before it matters. */
async function drillFinding(ctx: MasterContext): Promise<Finding> {
  const last = await ctx.master.membership.lastDrill().catch(() => undefined);
  const what = last
    ? `The last drill was at ${clock(last.at)} on ${last.by}: ${last.lost} of ${last.minions} results were lost`
    : 'Nobody has tried yet what happens when a master dies: halite drill kill-master does, with harmless jobs';
  return { level: 'fine', what };
}

export function findingsOf(report: ClusterReport, minions: readonly MinionStatus[], now = Date.now()): Finding[] {
  const connected = minions.filter((minion) => minion.connected === 'yes');
  const single = connected.filter(({ masters = [] }) => masters.length === 1);
  const found = [
    ...leading(report),
    ...report.engine.problems.map((what) =>
      finding('warning', report, what, 'see docs/guide/cluster.md; streams: nats stream report'),
    ),
    ...report.members.flatMap((member) => ofMember(report, member, now)),
    ...report.members.flatMap((member) => drained(report, member)),
    ...report.drift.map((drift) => ofDrift(report, drift, single.length)),
    ...overruled(report),
    ...compared(report, now),
    ...rekeyed(report, now),
    ...redundancy(report, single),
    ...spread(report, connected),
  ];
  if (found.length > 0) return found;
  return [{ level: 'fine', what: `The cluster ${report.name} has ${report.members.length} masters, which are equal` }];
}

const finding = (level: Finding['level'], { name }: ClusterReport, what: string, repair: string): Finding => ({
  ...{ level, what: `Cluster ${name}: ${what}`, repair },
});

function leading(report: ClusterReport): Finding[] {
  if (!isLeaderless(report)) return [];
  const since = report.leaderlessSince ? ` since ${clock(report.leaderlessSince)}` : '';
  const what = `no member leads${since}: the schedule of the masters does not run, and no key rotates`;
  return [finding('problem', report, what, 'see whether most nats-servers are there: halite doctor on each master')];
}

function ofMember(report: ClusterReport, member: ClusterReport['members'][number], now: number): Finding[] {
  const { id, state, since, skewMs } = member;
  return memberProblems(member).map((what) => {
    if (state === 'cut off') {
      const level = now - since.getTime() > patienceMs ? 'problem' : 'warning';
      const rest = `since ${clock(since)}; it serves its own minions, and gives the others its results later`;
      return finding(level, report, `${what} ${rest}`, 'see the connection to its nats-servers: halite doctor there');
    }
    if (what.startsWith('the clock of')) {
      const level = Math.abs(skewMs) >= problemSkewMs ? 'problem' : 'warning';
      return finding(level, report, `${what}: its jobs sort wrong`, `on ${id}: timedatectl set-ntp true`);
    }
    if (state === 'gone') {
      const rest = `since ${clock(since)}; the others go on with its jobs`;
      return finding('problem', report, `${what} ${rest}`, `on ${id}: systemctl start salt-master, and halite doctor`);
    }
    const isPassing = state === 'joined' && member.starts <= mostStarts && member.heldSince === undefined;
    return finding(
      isPassing ? 'warning' : 'problem',
      report,
      what,
      `on ${id}: halite doctor, and the log of salt-master`,
    );
  });
}

/** A stop follows, or it was forgotten. */
function drained(report: ClusterReport, { id, state, drainedSince }: ClusterReport['members'][number]): Finding[] {
  if (!drainedSince || state !== 'joined') return [];
  const what = `${id} starts no new jobs since ${clock(drainedSince)} (cluster.drain)`;
  return [finding('warning', report, what, `stop it, or let it work: salt-run cluster.drain ${id} undo=True`)];
}

/** Behind one address a minion gets the parts of one file from several members. */
function ofDrift(report: ClusterReport, drift: ClusterDrift, single: number): Finding {
  const isServed = /^(files|extensions|pillar) /.test(drift.what);
  const behindOne = single > 0 && isServed ? `; ${counted(single)} with one address may get parts of both` : '';
  const repair = isServed
    ? 'on the member that is right: salt-run cluster.sync_roots dry_run=True, then without it'
    : 'make the option equal on all members, and restart those that changed';
  const [text = ''] = driftText(drift).split(': salt-run');
  return finding(behindOne ? 'problem' : 'warning', report, `${text}${behindOne}`, repair);
}

/** Members compare their histories by themselves; what was missed is compared again soon. */
function compared(report: ClusterReport, now: number): Finding[] {
  const { repair, members } = report;
  const self = members.find((member) => member.self);
  const others = members.filter((member) => !member.self && member.state === 'joined');
  if (self?.state !== 'joined' || others.length === 0) return [];
  const last = repair?.at ?? self.since;
  if (now - last.getTime() > comparedMs) {
    const what = `this master has not compared its history with the others since ${clock(last)}`;
    return [finding('warning', report, what, 'salt-run cluster.repair, and the log of salt-master')];
  }
  const missed = [...(repair?.unreached ?? [])].filter(([id]) => others.some((other) => other.id === id));
  if (missed.length === 0) return [];
  const list = missed.map(([id, why]) => `${id} (${why})`).join(', ');
  return [finding('warning', report, `the history was not compared with ${list}`, 'salt-run cluster.repair')];
}

function rekeyed(report: ClusterReport, now: number): Finding[] {
  const repair = 'see the logs of salt-master there; then again: salt-run cluster.rekey minutes=0';
  return rekeyProblems(report, now).map((what) => finding('problem', report, what, repair));
}

function overruled(report: ClusterReport): Finding[] {
  const { ids = [], folder = '' } = report.overruled ?? {};
  if (ids.length === 0) return [];
  const what = `${counted(ids.length)} (${listFirst(ids, 10)}) had another key or state in the files of this master when it started; the decision of the cluster counts, copies are in ${folder}`;
  return [finding('warning', report, what, 'see what differs: salt-run cluster.import_keys dry_run=True')];
}

function redundancy(report: ClusterReport, single: readonly MinionStatus[]): Finding[] {
  if (single.length === 0 || report.members.length < 2) return [];
  const ids = single.map(({ id }) => id).sort();
  return [
    {
      level: 'warning',
      what: `${counted(ids.length)} (${named(ids)}): connected to one member of the cluster only; when it is gone, nobody reaches them`,
      repair: 'list all members in its option master, unless it reaches them through one address',
    },
  ];
}

function spread(report: ClusterReport, connected: readonly MinionStatus[]): Finding[] {
  const counts = report.members
    .filter(({ state }) => state === 'joined')
    .map(({ id }) => [id, connected.filter(({ masters = [] }) => masters.includes(id)).length] as const)
    .sort(([, a], [, b]) => b - a);
  const [most, least] = [counts[0], counts.at(-1)];
  if (!most || !least || most[1] < leastToSpread || most[1] <= 2 * least[1]) return [];
  const what = `${most[0]} has ${most[1]} minions, ${least[0]} has ${least[1]}`;
  return [
    finding(
      'warning',
      report,
      what,
      'list the members in the minions, or set random_master: True there; a balancer: balance leastconn',
    ),
  ];
}
