// Beacon `load`: the load averages leave their configured range.
import { loadavg } from 'node:os';
import { defineBeacon, fieldOf, newDict, type PlainDict, type Value } from 'halite/sdk';
import { pyFloat } from 'halite/sdk/text';
import { flagProblem, percentOf } from './shared/settings.ts';

const names = ['1m', '5m', '15m'] as const;
type Averages = Readonly<Record<(typeof names)[number], number>>;
type Range = readonly [low: number, high: number];

function rangeOf(averages: Value | undefined, name: string): Range | undefined {
  const given = fieldOf(averages, name);
  if (!Array.isArray(given) || given.length !== 2) return undefined;
  const [low, high] = given.map((item) => percentOf(item));
  return low === undefined || high === undefined ? undefined : [low, high];
}

function validate(settings: PlainDict): string | undefined {
  for (const key of ['emitatstartup', 'onchangeonly']) {
    const problem = flagProblem('load', key, settings[key]);
    if (problem) return problem;
  }
  const { averages } = settings;
  if (averages === undefined) return 'Averages configuration is required for load beacon.';
  const given = names.filter((name) => fieldOf(averages, name) !== undefined);
  if (given.length === 0) return 'Averages configuration for load beacon must contain 1m, 5m or 15m items.';
  if (given.some((name) => !Array.isArray(fieldOf(averages, name))))
    return 'Averages configuration for load beacon: 1m, 5m and 15m items must be a list of two items.';
  if (given.some((name) => rangeOf(averages, name) === undefined))
    return 'Configuration for load beacon: 1m, 5m and 15m items must be a list of two items.';
  return undefined;
}

const crossed = (now: number, before: number, [low, high]: Range): boolean =>
  (now > high && before < high) || (now < low && before > low);

export function openLoad(settings: PlainDict, read: () => readonly number[]) {
  const ranges = names.map((name) => rangeOf(settings['averages'], name));
  const onlyChanges = settings['onchangeonly'] === true;
  let last: Averages | undefined;
  return {
    read(): PlainDict[] {
      const [one = 0, five = 0, fifteen = 0] = read();
      const now: Averages = { '1m': one, '5m': five, '15m': fifteen };
      // At the start nothing has changed yet, but with `emitatstartup` a value out of range is reported.
      const before = last;
      last = now;
      if (onlyChanges && !before && settings['emitatstartup'] === false) return [];
      const send = names.some((name, at) => {
        const range = ranges[at];
        if (!range) return false;
        if (onlyChanges && before) return crossed(now[name], before[name], range);
        return now[name] < range[0] || now[name] > range[1];
      });
      return send ? [newDict(names.map((name) => [name, pyFloat(now[name])]))] : [];
    },
  };
}

export default defineBeacon({
  name: 'load',
  doc: 'Sends an event when a load average leaves its range: below the first number or above the second.',
  examples: [
    'load:\n  - averages:\n      1m: [0.0, 2.0]\n      5m: [0.0, 1.5]\n  - onchangeonly: True\n  - interval: 10',
  ],
  validate,
  open: (settings) => openLoad(settings, loadavg),
});
