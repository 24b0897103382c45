import type { ClusterComparison, ClusterMemberStatus, ClusterReport, MinionStatus } from 'halite/sdk';
import { expect, it } from 'vitest';
import { ago, statusText } from './cluster-status-text.ts';
import { findingsOf } from './doctor-cluster.ts';

const now = Date.now();
const before = (seconds: number): Date => new Date(now - seconds * 1000);
const member = (id: string, slot: number, more: Partial<ClusterMemberStatus> = {}): ClusterMemberStatus => ({
  ...{ id, slot, version: '1.0.0', state: 'joined', since: before(4000), minions: 1204, held: 0, skewMs: 3, starts: 1 },
  ...{ leads: slot === 0, self: slot === 1 },
  ...more,
});
const compared = (seconds: number, unreached: Record<string, string> = {}): ClusterComparison => ({
  ...{ at: before(seconds), seconds: 1, differed: 0, fetched: 0, refused: 0, compared: ['m1'] },
  unreached: new Map(Object.entries(unreached)),
});
const rekey = (since: number, until: number, ...lacking: string[]): Partial<ClusterReport> => ({
  rekey: { number: 2, since: before(since), until: before(until), lacking },
});
const report = (more: Partial<ClusterReport> = {}): ClusterReport => ({
  ...{ name: 'prod', level: 1, leader: 'm1', term: 7, drift: [], members: [member('m1', 0), member('m2', 1)] },
  ...{ engine: { server: 'nats://n1:4222', version: '2.15.2', delayMs: 2, problems: [] }, repair: compared(60) },
  ...more,
});
const minion = (id: string, ...masters: string[]): MinionStatus => ({ id, connected: 'yes', masters });
const found = (more: Partial<ClusterReport>, minions: readonly MinionStatus[] = []): string[] =>
  findingsOf(report(more), minions, now).map(({ level, what }) => `${level}: ${what}`);
const members = (more: Partial<ClusterMemberStatus>): Partial<ClusterReport> => ({
  members: [member('m1', 0), member('m2', 1, more)],
});
const drift = (what: string): Partial<ClusterReport> => ({
  drift: [{ what, since: before(300), sides: [['m1'], ['m2']] }],
});

it.each<[string, Partial<ClusterReport>, RegExp]>([
  ['nothing', {}, /^fine: The cluster prod has 2 masters, which are equal$/],
  [
    'no leader',
    { leader: undefined, leaderlessSince: before(30) },
    /^problem: .*no member leads since .* no key rotates/,
  ],
  [
    'a member that was just cut off',
    members({ state: 'cut off', since: before(20), why: 'no answer' }),
    /^warning: .*m2 is cut off \(no answer\) since/,
  ],
  [
    'a member that is cut off',
    members({ state: 'cut off', since: before(90) }),
    /^problem: .*m2 is cut off since .*; it serves its own minions/,
  ],
  [
    'a member that is gone',
    members({ state: 'gone' }),
    /^problem: .*m2 is gone since .*; the others go on with its jobs/,
  ],
  ['a silent one', members({ state: 'silent', why: 'no answer' }), /^problem: .*m2 is silent/],
  ['one that knows not all', members({ why: 'does not know the minions of m1 yet' }), /^warning: .*m2 does not know/],
  [
    'a member that is drained',
    members({ drainedSince: before(90) }),
    /^warning: .*m2 starts no new jobs since .* \(cluster\.drain\)$/,
  ],
  [
    'no comparison',
    { repair: compared(2000) },
    /^warning: .*this master has not compared its history with the others since/,
  ],
  ['none at all', { repair: undefined }, /^warning: .*not compared its history with the others since/],
  [
    'a member that was not compared',
    { repair: compared(60, { m1: 'no answer in time' }) },
    /^warning: .*the history was not compared with m1 \(no answer in time\)$/,
  ],
  ['a key that goes round', rekey(30, -3600, 'm1'), /^fine: /],
  [
    'a key that a member does not take',
    rekey(90, -3600, 'm1'),
    /^problem: .*m1 has not said that the key 2 .* is used/,
  ],
  [
    'a key that does not end',
    rekey(7200, 700),
    /^problem: .*should have ended at .*: something is still sealed with it/,
  ],
  ['a clock', members({ skewMs: 3000 }), /^warning: .*the clock of m2 is 3 s ahead: its jobs sort wrong/],
  ['a wrong clock', members({ skewMs: -40_000 }), /^problem: .*the clock of m2 is 40 s behind/],
  ['one that starts again and again', members({ starts: 5 }), /^problem: .*m2 started 5 times/],
  ['records that are held', members({ held: 7, heldSince: before(100) }), /^problem: .*m2 has 7 records/],
  ['an option', drift('option nodegroups'), /^warning: .*drift: option nodegroups differs \(m1 \| m2\) since/],
  ['files', drift('files base'), /^warning: .*drift: files base differs/],
  [
    'keys',
    { overruled: { ids: ['web1'], folder: '/x' } },
    /^warning: .*1 minion \(web1\) had another key .* copies are in \/x/,
  ],
  [
    'streams',
    { engine: { ...report().engine, problems: ['HALITE_prod_LOG: storage is memory'] } },
    /^warning: .*storage is memory/,
  ],
])('%s', (_name, more, wanted) => {
  const all = found(more);
  expect(all).toEqual([expect.stringMatching(wanted)]);
});

it('looks at how minions are connected', () => {
  const one = minion('one', 'm1');
  expect(found({}, [minion('both', 'm1', 'm2'), one])).toEqual([
    expect.stringMatching(/^warning: 1 minion \(one\): connected to one/),
  ]);
  expect(found(drift('files base'), [one])[0]).toMatch(/^problem: .*; 1 minion with one address may get parts of both/);
  const many = Array.from({ length: 30 }, (_, n) => minion(`w${n}`, ...(n < 10 ? ['m1', 'm2', 'm3'] : ['m1', 'm3'])));
  expect(found({}, many)).toEqual([expect.stringMatching(/^warning: .*m1 has 30 minions, m2 has 10$/)]);
});

it('shows the state in lines', () => {
  const all = [
    member('m1', 0),
    member('m2', 1, { state: 'cut off', why: 'no answer', held: 214, minions: 771 }),
    member('m10', 2, { state: 'gone', minions: 0 }),
  ];
  const [head, first, second, third, , problem] = statusText(report({ members: all }), ['m10 is gone']).split('\n');
  expect(head).toBe('prod: 1 of 3 masters, leader m1 (term 7), level 1, engine 2.15.2, delay 2 ms');
  expect(first).toBe('  m1   slot 0  1.0.0  up 1 h  1,204 minions  held 0    (leads)');
  expect(second).toMatch(
    /^ {2}m2 {3}slot 1 {2}1\.0\.0 {2}CUT OFF since \S+ \S+ UTC \(no answer\) {2}771 minions {4}held 214 {2}\(this master\)$/,
  );
  expect(third).toMatch(/^ {2}m10 {2}slot 2 {2}1\.0\.0 {2}GONE since \S+ \S+ UTC$/);
  expect(problem).toBe('problem: m10 is gone');
  expect([5, 61, 7300, 200_000].map((seconds) => ago(before(seconds), now))).toEqual(['5 s', '1 min', '2 h', '2 d']);
});

it('shows what is under way: a member that is drained, and a key that changes', () => {
  const state = { members: [member('m1', 0, { drainedSince: before(5) }), member('m2', 1)], ...rekey(30, -3570, 'm2') };
  const lines = statusText(report(state), []).split('\n');
  expect(lines[1]).toMatch(/^ {2}m1 .*\(leads\) +\(drained: starts no new jobs\)$/);
  expect(lines.at(-1)).toMatch(
    /^ {2}key 2 of the cluster is used since \S+ \S+ UTC; not yet by m2; the one before opens until \S+ \S+ UTC$/,
  );
});
