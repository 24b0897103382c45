// The page and the charts of a measurement, from its results alone.
import { barChart, lineChart } from '../../support/svg-chart.ts';
import { type Results, ratioOf, type Summary, summaryOf } from './results.ts';
import type { Figure, Scenario } from './scenarios.ts';

const shown = (value: number, digits: number): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });

function cell(summary: Summary | undefined, { digits, unit }: Figure): string {
  if (!summary) return '';
  const { median, least, most, count } = summary;
  const spread = count > 1 ? ` (${shown(least, digits)} to ${shown(most, digits)})` : '';
  return `${shown(median, digits)}${unit === '/s' ? unit : unit && ` ${unit}`}${spread}`;
}

function rowsOf(results: Results, scenario: Scenario): string[] {
  return scenario.figures.flatMap((figure, at) => {
    const of = (who: 'halite' | 'salt'): string =>
      cell(summaryOf(results.rounds, scenario.name, who, figure.key), figure);
    if (of('halite') === '' && of('salt') === '') return [];
    const ratio = ratioOf(results, scenario, figure);
    const cells = [
      at === 0 ? aboutOf(scenario, results.quick) : '',
      ...[figure.title, of('halite'), of('salt')],
      ratio === undefined ? '' : `${shown(ratio, 1)} ×`,
      goalOf(figure, results.quick, ratio, summaryOf(results.rounds, scenario.name, 'halite', figure.key)?.median),
    ];
    return [`| ${cells.join(' | ')} |`];
  });
}

/** What was meant, and whether it is so: a goal that is missed says it. */
function goalOf(
  { goal, atMost, unit, digits }: Figure,
  isQuick: boolean,
  ratio: number | undefined,
  median: number | undefined,
): string {
  const goals = [
    ...(goal === undefined ? [] : [{ text: `${goal} ×`, isMissed: ratio !== undefined && ratio < goal }]),
    ...(atMost === undefined
      ? []
      : [
          {
            text: `≤ ${shown(atMost, Number.isInteger(atMost) ? 0 : digits)} ${unit}`,
            isMissed: median !== undefined && median > atMost,
          },
        ]),
  ];
  return goals.map(({ text, isMissed }) => (isMissed && !isQuick ? `${text}, missed` : text)).join('; ');
}

/** Never the sizes of a whole run beside figures of a quick one. */
function aboutOf({ about, name, quick }: Scenario, isQuick: boolean): string {
  if (!isQuick) return about;
  return [name, ...Object.entries(quick).map(([what, size]) => `${size} ${what}`)].join(', ');
}

export function pageOf(results: Results, scenarios: readonly Scenario[], command: string): string {
  const { machine, limits, failures } = results;
  const rounds = Math.max(0, ...results.rounds.map(({ round }) => round + 1));
  return [
    '# Figures of the fleet',
    `Made by \`${command}\` on ${results.at.slice(0, 10)}: Halite and Salt ${results.salt} in turn, each with a fresh master, ${rounds === 1 ? 'one round' : `${rounds} rounds`}; the median, and the least and the most in brackets. ` +
      `${machine.processors} processors (${machine.model}), ${machine.memoryGb} GB, Node ${machine.node}, load before the first round ${machine.load}.` +
      (results.quick ? ' **These are sizes that only show that the scenarios work: the figures mean nothing.**' : ''),
    '',
    '![How many times better than Salt](ratios.svg)',
    '',
    '| Scenario | | Halite | Salt | better by | goal |',
    '| --- | --- | ---: | ---: | ---: | ---: |',
    ...scenarios.flatMap((scenario) => rowsOf(results, scenario)),
    '',
    ...growthOf(results, scenarios),
    '## The limits of this machine',
    'What the wire protocol and the history ask of a master, alone, in one second of one processor:',
    '',
    '| | per second |',
    '| --- | ---: |',
    ...limits.map(({ name, perSecond }) => `| ${name} | ${shown(perSecond, 0)} |`),
    '',
    ...signInsAndRsa(results),
    ...(failures.length > 0 ? ['', '## What could not be measured', ...failures.map((why) => `- ${why}`)] : []),
    '',
  ].join('\n');
}

/** How much of a sign-in is RSA that the protocol asks for: a signature of the answer, and two keys sealed in it. */
function signInsAndRsa({ limits, rounds }: Results): string[] {
  const limit = (name: string): number => limits.find((each) => each.name === name)?.perSecond ?? 0;
  const [signs, seals] = [limit('RSA-2048, sign'), limit('RSA-2048, OAEP encrypt')];
  const measured = summaryOf(rounds, 'sign-ins', 'halite', 'cpuMs')?.median;
  if (!measured || signs === 0 || seals === 0) return [];
  const alone = 1000 / signs + 2000 / seals;
  return [
    `A sign-in needs one signature and two encryptions: ${shown(alone, 2)} ms of a processor, ${shown((100 * alone) / measured, 0)} % of what it takes.`,
    '',
  ];
}

/** What is drawn over the number of minions: of a figure, or of its share for a minion. */
const curves = [
  { file: 'growth', figure: 'seconds', title: "salt '*' test.ping: time", y: 'seconds', of: (value: number) => value },
  {
    file: 'growth-cpu',
    figure: 'cpu',
    title: "salt '*' test.ping: processor time of the master for each minion",
    y: 'ms',
    of: (value: number, minions: number) => (value * 1000) / minions,
  },
  {
    file: 'growth-memory',
    figure: 'memory',
    title: 'memory of the master',
    y: 'MB',
    of: (value: number) => value,
  },
] as const;
type Curve = (typeof curves)[number];

function pointsOf(results: Results, scenarios: readonly Scenario[], curve: Curve) {
  const of = (who: 'halite' | 'salt'): [number, number][] =>
    scenarios.flatMap(({ name, minions }) => {
      const found = minions ? summaryOf(results.rounds, name, who, curve.figure) : undefined;
      return found && minions ? [[minions, curve.of(found.median, minions)] as [number, number]] : [];
    });
  return [
    { name: 'Halite', points: of('halite') },
    { name: `Salt ${results.salt}`, points: of('salt') },
  ].filter(({ points }) => points.length > 0);
}

/** The charts, and whether anything grows faster than the number of minions. */
function growthOf(results: Results, scenarios: readonly Scenario[]): string[] {
  if (results.quick) return [];
  return curves.flatMap((curve) => {
    const [ours] = pointsOf(results, scenarios, curve).filter(({ name }) => name === 'Halite');
    const [first, last] = [ours?.points[0], ours?.points.at(-1)];
    if (!first || !last) return [];
    const times = (at: 0 | 1): string => shown(last[at] / first[at], 1);
    return [
      `![${curve.title}, over the number of minions](${curve.file}.svg)`,
      '',
      `${curve.title}: ${times(0)} times as many minions, ${times(1)} times as much.`,
      '',
    ];
  });
}

/** File name → content. */
export function chartsOf(results: Results, scenarios: readonly Scenario[]): Record<string, string> {
  const bars = scenarios
    .filter(({ minions }) => minions === undefined)
    .flatMap((scenario) =>
      scenario.figures.flatMap((figure) => {
        const ratio = ratioOf(results, scenario, figure);
        if (ratio === undefined || figure.goal === undefined) return [];
        return [
          {
            label: `${scenario.name}: ${figure.title}`.slice(0, 44),
            value: ratio,
            text: `${shown(ratio, 1)} ×`,
            goal: figure.goal,
          },
        ];
      }),
    );
  const growth = curves.flatMap((curve) => {
    const series = pointsOf(results, scenarios, curve);
    if (series.length === 0) return [];
    return [[`${curve.file}.svg`, lineChart({ title: curve.title, x: 'minions', y: curve.y, series, logX: true })]];
  });
  return {
    'ratios.svg': barChart('How many times better than Salt (line: the goal)', bars),
    ...Object.fromEntries(growth),
  };
}
