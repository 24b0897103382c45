// What the rounds gave: medians, spread, ratios.
import type { Limit, Machine } from './machine.ts';
import type { Figure, Scenario } from './scenarios.ts';

export interface Round {
  readonly scenario: string;
  readonly who: 'halite' | 'salt';
  readonly round: number;
  readonly figures: Readonly<Record<string, number>>;
  /** Seconds of all processors that were used meanwhile, and how long it took. */
  readonly busySeconds: number;
  readonly seconds: number;
}

export interface Results {
  readonly at: string;
  readonly salt: string;
  readonly quick: boolean;
  readonly machine: Machine;
  readonly limits: readonly Limit[];
  readonly rounds: readonly Round[];
  /** Rounds that could not be measured, with the reason. */
  readonly failures: readonly string[];
}

export interface Summary {
  readonly median: number;
  readonly least: number;
  readonly most: number;
  readonly count: number;
}

export function summaryOf(
  rounds: readonly Round[],
  scenario: string,
  who: Round['who'],
  key: string,
): Summary | undefined {
  const values = rounds
    .filter((round) => round.scenario === scenario && round.who === who)
    .map(({ figures }) => figures[key])
    .filter((value) => value !== undefined)
    .sort((a, b) => a - b);
  if (values.length === 0) return undefined;
  const [low, high] = [values[(values.length - 1) >> 1] ?? 0, values[values.length >> 1] ?? 0];
  return { median: (low + high) / 2, least: values[0] ?? 0, most: values.at(-1) ?? 0, count: values.length };
}

/** How many times better Halite is; undefined where nothing can be compared. */
export function ratioOf(results: Results, { name }: Scenario, figure: Figure): number | undefined {
  const [ours, theirs] = (['halite', 'salt'] as const).map(
    (who) => summaryOf(results.rounds, name, who, figure.key)?.median,
  );
  if (!ours || !theirs) return undefined;
  return figure.more ? ours / theirs : theirs / ours;
}
