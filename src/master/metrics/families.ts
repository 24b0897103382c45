// Short forms to write metrics down.
import type { Family, Sample } from '../../base/metrics/index.ts';

type Numbers = number | readonly Sample[] | undefined;

const samplesOf = (numbers: Numbers): readonly Sample[] =>
  numbers === undefined ? [] : typeof numbers === 'number' ? [{ value: numbers }] : numbers;

export const counter = (name: string, help: string, numbers: Numbers): Family => ({
  ...{ name, help, type: 'counter' },
  samples: samplesOf(numbers),
});

export const gauge = (name: string, help: string, numbers: Numbers): Family => ({
  ...{ name, help, type: 'gauge' },
  samples: samplesOf(numbers),
});

/** One number for each word. */
export const by = (label: string, numbers: Readonly<Record<string, number>>): Sample[] =>
  Object.entries(numbers).map(([word, value]) => ({ labels: { [label]: word }, value }));
