// The scenarios of `npm run bench -- fleet`, as data.
import type { Implementation } from '../../support/deployment.ts';
import {
  commandsAtOnce,
  type Figures,
  history,
  keys,
  memory,
  ping,
  publish,
  returns,
  signIns,
  start,
} from './kinds.ts';
import { command, idleMinion, states } from './programs.ts';

const kinds = {
  command,
  commandsAtOnce,
  history,
  idleMinion,
  keys,
  memory,
  ping,
  publish,
  returns,
  signIns,
  start,
  states,
};
type Kind = keyof typeof kinds;
export type Sizes = Readonly<Record<string, number>>;

export interface Figure {
  readonly key: string;
  readonly title: string;
  readonly unit: string;
  readonly digits: number;
  /** Whether more of it is better. */
  readonly more?: boolean;
  /** How many times better than Salt it is meant to be. */
  readonly goal?: number;
  /** What Halite alone is meant not to exceed, in its unit. */
  readonly atMost?: number;
}

export interface Scenario {
  readonly name: string;
  readonly about: string;
  readonly kind: Kind;
  readonly sizes: Sizes;
  /** For `--quick`: shows that the scenario works, not how fast anything is. */
  readonly quick: Sizes;
  readonly figures: readonly Figure[];
  /** A row of the curves over the number of minions. */
  readonly minions?: number;
  /** Not with Salt, where it takes too long or cannot be done. */
  readonly onlyHalite?: boolean;
}

const seconds = (title: string, goal?: number, key = 'seconds'): Figure => ({
  key,
  title,
  unit: 's',
  digits: 2,
  ...(goal ? { goal } : {}),
});
const upTo = (atMost: number, figure: Figure): Figure => ({ ...figure, atMost });
const cpuEach = (title: string, goal?: number): Figure => ({
  key: 'cpuMs',
  title,
  unit: 'ms',
  digits: 3,
  ...(goal ? { goal } : {}),
});
const rate = (title: string, goal: number): Figure => ({
  key: 'perSecond',
  title,
  unit: '/s',
  digits: 0,
  more: true,
  goal,
});
const mb = (title: string, goal?: number): Figure => ({
  key: 'mb',
  title,
  unit: 'MB',
  digits: 0,
  ...(goal ? { goal } : {}),
});

const pings: readonly Scenario[] = (
  [
    [200, 1],
    [1000, 15],
    [2000, 20],
  ] as const
).map(([minions, goal]) => ({
  ...{ name: `ping-${minions}`, kind: 'ping', sizes: { minions }, quick: { minions: 20 } },
  about: `salt '*' test.ping with ${minions.toLocaleString('en-US')} minions`,
  figures: [
    seconds('time of the command', goal === 1 ? undefined : goal),
    { key: 'cpu', title: 'processor time of the master', unit: 's', digits: 2 },
    { key: 'missing', title: 'minions without a result', unit: '', digits: 0 },
  ],
}));

const growth: readonly Scenario[] = [100, 500, 2000, 5000, 10_000, 20_000].map((minions) => ({
  ...{ name: `growth-${minions}`, kind: 'ping', quick: { minions: Math.max(10, Math.round(minions / 500)), share: 1 } },
  // A master takes connections for two fifths of its open files on each port.
  sizes: { minions, share: minions > 5000 ? 5 : 1 },
  about: `test.ping with ${minions.toLocaleString('en-US')} minions`,
  figures: [
    minions === 10_000 ? upTo(2, seconds('time of the command')) : seconds('time of the command'),
    { key: 'cpu', title: 'processor time of the master', unit: 's', digits: 2 },
    { key: 'memory', title: 'memory of the master', unit: 'MB', digits: 0 },
    { key: 'missing', title: 'minions without a result', unit: '', digits: 0 },
  ],
  minions,
  onlyHalite: minions > 2000,
}));

export const scenarios: readonly Scenario[] = [
  {
    ...{
      name: 'returns',
      kind: 'returns',
      sizes: { minions: 500, results: 2000 },
      quick: { minions: 20, results: 60 },
    },
    about: '2,000 results of 500 minions that were held back, 64 at a time, after twice as many others',
    figures: [
      rate('results per second', 30),
      cpuEach('processor time of the master for a result', 30),
      { key: 'ackP50', title: 'acknowledgement, median', unit: 'ms', digits: 1 },
      { key: 'ackP99', title: 'acknowledgement, 99 of 100', unit: 'ms', digits: 1 },
    ],
  },
  {
    ...{ name: 'sign-ins', kind: 'signIns', sizes: { minions: 1000 }, quick: { minions: 30 } },
    about: '1,000 minions sign in for the first time, 64 at a time',
    figures: [rate('sign-ins per second', 5), cpuEach('processor time of the master for a sign-in')],
  },
  ...pings,
  {
    ...{ name: 'start-storm', kind: 'start', sizes: { minions: 1000 }, quick: { minions: 20 } },
    about: '1,000 minions start together: sign-in, pillar, start event',
    figures: [seconds('until the last one is there', 15), cpuEach('processor time of the master for a minion')],
  },
  {
    ...{ name: 'pillar', kind: 'start', sizes: { minions: 500, pillar: 5 }, quick: { minions: 10, pillar: 2 } },
    about: '500 minions start together and get a pillar of five files with 100 values each',
    figures: [seconds('until the last one is there', 10), cpuEach('processor time of the master for a minion')],
  },
  {
    ...{
      name: 'commands',
      kind: 'commandsAtOnce',
      sizes: { commands: 50, minions: 50 },
      quick: { commands: 3, minions: 5 },
    },
    about: '50 times test.ping at once, on 50 minions',
    figures: [
      seconds('until all have ended', 10),
      { key: 'incomplete', title: 'commands that miss results', unit: '', digits: 0 },
    ],
  },
  {
    ...{ name: 'publish', kind: 'publish', sizes: { times: 40, minions: 100 }, quick: { times: 3, minions: 5 } },
    about: 'a job on 100 minions, from the request to its arrival',
    figures: [{ key: 'ms', title: 'median', unit: 'ms', digits: 2, goal: 5 }],
  },
  {
    ...{ name: 'memory-idle', kind: 'memory', sizes: { minions: 0 }, quick: { minions: 0 } },
    about: 'a master without minions',
    figures: [mb('memory')],
  },
  {
    ...{ name: 'memory-2000', kind: 'memory', sizes: { minions: 2000 }, quick: { minions: 20 } },
    about: 'a master with 2,000 minions, after a test.ping',
    figures: [mb('memory', 6)],
  },
  {
    ...{ name: 'memory-10000', kind: 'memory', sizes: { minions: 10_000, share: 5 }, quick: { minions: 20, share: 5 } },
    about: 'a master with 10,000 minions, after a test.ping',
    figures: [upTo(300, mb('memory'))],
    onlyHalite: true,
  },
  {
    ...{ name: 'history', kind: 'history', sizes: { jobs: 2000, minions: 1000 }, quick: { jobs: 20, minions: 10 } },
    about: 'a history of 2,000 jobs, and one job with 1,000 results',
    figures: [seconds('salt-run jobs.list_jobs', 10, 'list'), seconds('salt-run jobs.lookup_jid', 10, 'lookup')],
  },
  ...[2000, 35_000].map(
    (count): Scenario => ({
      ...{ name: `keys-${count}`, kind: 'keys', sizes: { keys: count }, quick: { keys: 30 } },
      about: `${count.toLocaleString('en-US')} keys that wait for acceptance`,
      figures: [seconds('salt-key -L', 10, 'list'), seconds('salt-key -A', 10, 'accept')],
    }),
  ),
  {
    ...{ name: 'state-files', kind: 'states', sizes: { files: 200 }, quick: { files: 3 } },
    about: 'salt-call --local state.apply of 200 files',
    figures: [seconds('first run', 5, 'first'), seconds('again', undefined, 'again')],
  },
  {
    ...{ name: 'state-chain', kind: 'states', sizes: { chain: 1000 }, quick: { chain: 5 } },
    about: 'salt-call --local state.apply of 1,000 states, each of which requires the one before',
    figures: [seconds('first run', 8, 'first')],
  },
  {
    ...{ name: 'command', kind: 'command', sizes: { times: 30 }, quick: { times: 2 } },
    about: "salt '*' test.ping with one minion, one after the other",
    figures: [
      seconds('time of a command, median'),
      upTo(80, cpuEach('processor time of a command')),
      { ...cpuEach('salt-call --local test.ping, processor time'), key: 'callMs' },
    ],
  },
  {
    ...{ name: 'minion-idle', kind: 'idleMinion', sizes: { restSeconds: 35 }, quick: { restSeconds: 0 } },
    about: 'a minion half a minute after its last job',
    figures: [mb('memory')],
  },
  ...growth,
];

/** One round of a scenario. */
export const measure = (scenario: Scenario, implementation: Implementation, quick: boolean): Promise<Figures> =>
  kinds[scenario.kind](implementation, quick ? scenario.quick : scenario.sizes);
