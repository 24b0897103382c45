// The memory of a soak over time, as numbers and as a chart with the level of each third.
import { lineChart } from '../support/svg-chart.ts';
import { levelOf, thirds } from './report.ts';
import type { SoakResult } from './soak.ts';

const minutes = (ms: number): number => Math.round((ms / 60_000) * 1000) / 1000;
const megabytes = (bytes: number): number => Math.round(bytes / 1e5) / 10;
/** A chart has no more points than it has columns. */
const mostPoints = 600;

type Measured = Pick<SoakResult, 'samples' | 'answers'>;

export interface SoakMemory {
  /** Minutes since the first sample, resident memory and heap in megabytes, longest stop of the event loop in milliseconds. */
  readonly samples: readonly (readonly [number, number, number, number])[];
  readonly levels: readonly {
    readonly third: string;
    readonly from: number;
    readonly to: number;
    readonly mb: number;
  }[];
  readonly tasks: number;
}

export function memoryOf(result: Measured): SoakMemory {
  const { samples, answers } = result;
  const begun = samples[0]?.at ?? 0;
  const levels = thirds(result).flatMap((third, n) => {
    const [first, last] = [third.samples[0], third.samples.at(-1)];
    if (!first || !last) return [];
    const name = ['first', 'middle', 'last'][n] ?? '';
    return [
      { third: name, from: minutes(first.at - begun), to: minutes(last.at - begun), mb: megabytes(levelOf(third)) },
    ];
  });
  return {
    samples: samples.map(({ at, rss, heapUsed, delayMs }) => [
      minutes(at - begun),
      megabytes(rss),
      megabytes(heapUsed),
      Math.round(delayMs),
    ]),
    levels,
    tasks: answers.length,
  };
}

export function soakChart(result: Measured): string {
  const { samples, levels } = memoryOf(result);
  const every = Math.max(1, Math.ceil(samples.length / mostPoints));
  const thinned = samples.filter((_, at) => at % every === 0);
  return lineChart({
    ...{ title: 'Memory of a master under mixed load', x: 'minutes', y: 'MB' },
    series: [
      { name: 'resident', points: thinned.map(([at, rss]) => [at, rss] as const) },
      { name: 'heap in use', points: thinned.map(([at, , heap]) => [at, heap] as const) },
    ],
    levels: levels.map(({ from, to, mb }) => ({ name: `${mb} MB`, from, to, value: mb })),
  });
}
