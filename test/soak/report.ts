// What a soak showed, as a table, and whether it was good.
import type { Answer, Sample, SoakResult } from './soak.ts';

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? 0;
const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);
/** Memory of the last third may be above that of the middle third by so much. */
const mostGrowth = 1.1;

export interface Third {
  readonly samples: readonly Sample[];
  readonly answers: readonly Answer[];
}

export function thirds({ samples, answers }: Pick<SoakResult, 'samples' | 'answers'>): Third[] {
  const [from, to] = [samples[0]?.at ?? 0, samples.at(-1)?.at ?? 0];
  const third = (at: number): number => Math.min(2, Math.floor(((at - from) / (to - from + 1)) * 3));
  return [0, 1, 2].map((n) => ({
    samples: samples.filter(({ at }) => third(at) === n),
    answers: answers.filter(({ at }) => third(at) === n),
  }));
}

/** The level of the memory in a part of the run. */
export const levelOf = ({ samples }: Third): number => median(samples.map(({ rss }) => rss));

function row(name: string, { samples, answers }: Third): string {
  const pings = answers.filter(({ task }) => task === 'ping').map(({ ms }) => ms);
  const cells = [
    megabytes(levelOf({ samples, answers })),
    megabytes(Math.max(0, ...samples.map(({ rss }) => rss))),
    megabytes(median(samples.map(({ heapUsed }) => heapUsed))),
    median(samples.map(({ delayMs }) => delayMs)).toFixed(0),
    Math.max(0, ...samples.map(({ delayMs }) => delayMs)).toFixed(0),
    median(pings).toFixed(0),
    Math.max(0, ...pings).toFixed(0),
  ];
  return name.padEnd(8) + cells.map((cell) => cell.padStart(12)).join('');
}

/** Lines to print, and what is wrong; nothing wrong is an empty list. */
export function reportOf(result: SoakResult): { readonly lines: string[]; readonly wrong: string[] } {
  const parts = thirds(result);
  const heads = ['RSS MB', 'RSS most', 'heap MB', 'loop ms', 'loop most', 'ping ms', 'ping most'];
  const lines = [
    `third   ${heads.map((head) => head.padStart(12)).join('')}`,
    ...['first', 'middle', 'last'].map((name, n) => row(name, parts[n]!)),
    `${result.answers.length} honest tasks, ${result.attacks} attacks, ${result.samples.length} samples`,
  ];
  const wrong = [...result.failures];
  if (!result.masterLives) wrong.push('the master ended');
  if (result.samples.length === 0) wrong.push('the master said nothing about its memory');
  const [middle, last] = [levelOf(parts[1]!), levelOf(parts[2]!)];
  if (last > middle * mostGrowth) wrong.push(`memory grew from ${megabytes(middle)} to ${megabytes(last)} MB`);
  return { lines, wrong };
}
