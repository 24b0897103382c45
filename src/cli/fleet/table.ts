// The live table of `salt-fleet`, and the same as a text at the end.
import type { FleetReport } from '../../fleet/report.ts';

const count = (value: number): string => Math.round(value).toLocaleString('en-US');
const ms = (value: number): string =>
  value >= 10_000 ? `${(value / 1000).toFixed(1)} s` : `${value.toFixed(value < 10 ? 2 : 0)} ms`;

/** What a line between two tables needs of the one before. */
export interface Moment {
  readonly at: number;
  readonly acknowledged: number;
  readonly signIns: number;
}

export function rates(
  report: FleetReport,
  before: Moment | undefined,
  at: number,
): { returns: number; signIns: number } {
  if (!before || at <= before.at) return { returns: 0, signIns: 0 };
  const seconds = (at - before.at) / 1000;
  const all = report.signIns.accepted + report.renewals;
  return {
    returns: Math.max(0, (allReturns(report) - before.acknowledged) / seconds),
    signIns: Math.max(0, (all - before.signIns) / seconds),
  };
}

export const momentOf = (report: FleetReport, at: number): Moment => ({
  at,
  acknowledged: allReturns(report),
  signIns: report.signIns.accepted + report.renewals,
});

const allReturns = ({ returns, filled }: FleetReport): number =>
  returns.acknowledged + returns.doubled + filled.results;

function clock(msSinceStart: number): string {
  const seconds = Math.floor(msSinceStart / 1000);
  return `${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`;
}

export interface TableFacts {
  readonly master: string;
  readonly about: string;
  readonly elapsedMs: number;
  readonly now?: { readonly returns: number; readonly signIns: number };
}

/** One line for each thing; `width` cuts them, 0 does not. */
export function tableOf(report: FleetReport, facts: TableFacts, width: number): string[] {
  const { signIns, returns, boot, filled, generator, connections } = report;
  const { now } = facts;
  const lines = [
    `salt-fleet  ${facts.master}  ${facts.about}  ${clock(facts.elapsedMs)}`,
    row(
      'minions',
      count(report.minions),
      `signed in ${count(report.signedIn)}`,
      `connected ${count(report.connected)}`,
    ),
    row(
      'sign-ins',
      count(signIns.accepted),
      `${count(signIns.perSecond)}/s`,
      `p50 ${ms(signIns.ms.p50)}  p99 ${ms(signIns.ms.p99)}`,
      some('pending', signIns.pending),
      some('told to wait', signIns.busy),
      some('failed', signIns.failed),
      some('again', report.renewals),
      now ? `${count(now.signIns)}/s now` : '',
    ),
  ];
  if (boot.minions > 0)
    lines.push(row('booted', count(boot.minions), `${count(boot.perSecond)}/s`, `p99 ${ms(boot.ms.p99)}`));
  if (filled.results > 0) lines.push(row('filled', count(filled.results), `${count(filled.perSecond)}/s`));
  lines.push(
    row('jobs', count(report.jobs.length), lastJob(report)),
    row(
      'returns',
      count(returns.acknowledged),
      `of ${count(returns.expected)}`,
      `missing ${count(returns.missing)}`,
      `doubled ${count(returns.doubled)}`,
      some('dropped', returns.dropped),
      some('held', returns.held),
      some('waiting', returns.waiting),
      some('lost', returns.lost),
      now ? `${count(now.returns)}/s now` : `${count(returns.perSecond)}/s`,
    ),
  );
  const { acknowledgementMs: ack } = returns;
  lines.push(row('acknowledged', `p50 ${ms(ack.p50)}  p99 ${ms(ack.p99)}  p99.9 ${ms(ack.p999)}  most ${ms(ack.max)}`));
  const trouble = [some('reconnects', connections.reconnects), some('timeouts', connections.timeouts)];
  if (trouble.some((text) => text !== '')) lines.push(row('connections', ...trouble));
  lines.push(row('this command', `${generator.cpuSeconds.toFixed(1)} s of processor`, `${count(generator.rssMb)} MB`));
  return lines.map((line) => (width > 0 ? line.slice(0, width) : line));
}

/** Most frequent first. */
export function reasonLines({ reasons }: FleetReport, most = 10): string[] {
  const sorted = Object.entries(reasons).sort((a, b) => b[1] - a[1]);
  const lines = sorted.slice(0, most).map(([why, times]) => `  ${count(times).padStart(8)} × ${why}`);
  return sorted.length > most ? [...lines, `  and ${sorted.length - most} other reasons`] : lines;
}

const row = (name: string, ...cells: readonly string[]): string =>
  `  ${name.padEnd(13)}${cells.filter((cell) => cell !== '').join('   ')}`;
const some = (name: string, value: number): string => (value > 0 ? `${name} ${count(value)}` : '');

function lastJob({ jobs }: FleetReport): string {
  const last = jobs.at(-1);
  return last
    ? `last ${last.jid} ${last.fun} ${count(last.acknowledged)}/${count(last.expected)} in ${last.seconds.toFixed(2)} s`
    : '';
}
