// The closing lines of a host's state results.

import { reprFloat } from 'halite/sdk';
import { charLength } from 'halite/sdk/text';
import { pyFixed, pyRound } from '../fixed.ts';
import type { HighstateStyle } from './style.ts';

/** What is counted while the states of a host are shown. */
export interface Tally {
  /** States by result: 'true', 'false', 'none', or anything else a broken state gave. */
  readonly results: Map<string, number>;
  changed: number;
  warnings: number;
  /** Milliseconds of states that ran one after the other. */
  serial: number;
  /** The longest of those that ran in parallel. */
  parallel: number;
}

export const newTally = (): Tally => ({ results: new Map(), changed: 0, warnings: 0, serial: 0, parallel: 0 });

const labelLength = 'Succeeded'.length;

export function summaryLines(host: string, tally: Tally, style: HighstateStyle): string[] {
  const { colors } = style;
  const count = (name: string): number => tally.results.get(name) ?? 0;
  const total = [...tally.results.values()].reduce((sum, number) => sum + number, 0);
  const shown = [...tally.results.values(), ...(tally.warnings > 0 ? [tally.warnings] : [])];
  const width = labelLength + Math.max(0, ...shown.map((number) => String(number).length)) + 2;
  const row = (label: string, value: string | number): string =>
    `${label}: ${String(value).padStart(width - (charLength(label) + 2))}`;
  const colored = (color: string, text: string): string => `${color}${text}${colors.ENDC}`;
  const [succeeded, failed] = [count('true') + count('none'), count('false')];
  const failColor = failed > 0 ? colors.RED : colors.CYAN;
  const lines = [
    colored(colors.CYAN, `\nSummary for ${host}\n${'-'.repeat(width)}`),
    colored(colors.GREEN, row('Succeeded', succeeded)) + changeCounts(tally, count('none'), style),
    colored(failColor, row('Failed', failed)),
  ];
  if (style.percent && total > 0) {
    const share = (part: number): string => reprFloat(pyRound((part / total) * 100, 2));
    lines.push(colored(colors.GREEN, row('Success %', share(succeeded))));
    lines.push(colored(failColor, row('Failure %', share(failed))));
  }
  if (tally.warnings > 0) lines.push(colored(colors.LIGHT_RED, row('Warnings', tally.warnings)));
  lines.push(colored(colors.CYAN, `${'-'.repeat(width)}\nTotal states run: ${String(total).padStart(width - 7)}`));
  if (style.profile) lines.push(colored(colors.CYAN, runTime(tally, width)));
  return lines;
}

/** ` (unchanged=1, changed=2)`; "unchanged" is Salt's word for what test mode would change. */
function changeCounts(tally: Tally, untouched: number, style: HighstateStyle): string {
  const { colors } = style;
  const parts: string[] = [];
  if (untouched > 0) parts.push(`${colors.LIGHT_YELLOW}unchanged=${untouched}${colors.ENDC}`);
  if (tally.changed > 0) parts.push(`${colors.GREEN}changed=${tally.changed}${colors.ENDC}`);
  return parts.length > 0 ? ` (${parts.join(', ')})` : '';
}

function runTime(tally: Tally, width: number): string {
  const ms = tally.serial + tally.parallel;
  const [amount, unit] = ms > 999 ? [ms / 1000, 's'] : [ms, 'ms'];
  return `Total run time: ${pyFixed(amount, 3).padStart(width - 5)} ${unit}`;
}
