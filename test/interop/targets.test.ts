// Targets against real Salt: thousands of random expressions through its matchers, and every kind through mixed minions.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Dict, dictOf, type Value } from '../../src/base/codec/value.ts';
import { matches, parseTarget, publishForm, type Subject } from '../../src/protocol/target/index.ts';
import { Deployment, halite, runProgram } from '../support/deployment.ts';
import { fleets, type RandomMinion, trees, written } from '../support/random-targets.ts';
import { type SaltVersion, saltRelease } from '../support/salt-release.ts';

type Case = readonly [kind: string, target: string, delimiter: string];

function toDict(data: object): Dict {
  const value = (item: unknown): Value =>
    item !== null && typeof item === 'object' && !Array.isArray(item) ? toDict(item) : (item as Value);
  return dictOf(Object.entries(data).map(([key, item]) => [key, value(item)] as const));
}

async function saltSays(
  version: SaltVersion,
  minions: readonly RandomMinion[],
  cases: readonly Case[],
): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'halite-matchers-'));
  try {
    const script = resolve(import.meta.dirname, '../fixtures/targets/decide.py');
    const { stdout, stderr } = await runProgram(join(saltRelease(version).bin, 'python'), [script, folder], {
      input: JSON.stringify({ minions, cases }),
      timeoutMs: 150_000,
    });
    if (!stdout.startsWith('[')) throw new Error(stderr.slice(-2000));
    return JSON.parse(stdout) as string[];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function weSay(minions: readonly RandomMinion[], [kind, target, delimiter]: Case): string {
  const parsed = parseTarget(target, kind, { delimiter, lenient: true });
  const subjects = minions.map(
    (minion): Subject => ({
      id: minion.id,
      grains: toDict(minion.grains ?? {}),
      pillar: toDict(minion.pillar ?? {}),
    }),
  );
  return subjects.map((subject) => (matches(parsed, subject) === 'match' ? '1' : '0')).join('');
}

/** Salt takes `( )` for an empty tuple and so for false; here it is an error. */
const listed = ([, target]: Case): boolean => /\( *\)/.test(target);

const words = fc.constantFrom(
  'and',
  'or',
  'not',
  '(',
  ')',
  'web*',
  'G@os:Debian',
  'E@db',
  'L@a,',
  'X@y',
  'G@',
  'S@10.0.0.0/8',
);
const junk = fc.array(words, { minLength: 1, maxLength: 7 }).map((list) => list.join(' '));
const single = trees.filter((tree) => tree.op === 'term').map(written);
const kinds: Record<string, string> = {
  G: 'grain',
  P: 'grain_pcre',
  I: 'pillar',
  J: 'pillar_pcre',
  L: 'list',
  E: 'pcre',
  S: 'ipcidr',
};

/** A single term as a target of its own kind. */
function alone(text: string): Case {
  const found = /^([GPIJLES])([|%]?)@(.*)$/s.exec(text);
  if (!found) return ['glob', text, ':'];
  return [kinds[found[1] as string] as string, found[3] as string, found[2] || ':'];
}

describe.each(['3006.27', '3008.2'] as const)('the matchers of Salt %s', (version) => {
  it('agree on 3,000 random expressions, and on what is published for them', async () => {
    const seed = Number(process.env['HALITE_SEED'] ?? 1);
    const sample = <T>(from: fc.Arbitrary<T>, numRuns: number): T[] => fc.sample(from, { numRuns, seed });
    const minions = sample(fleets(true), 50).reduce((most, some) => (some.length > most.length ? some : most));
    const cases: Case[] = [
      ...sample(trees, 2000).map((tree): Case => ['compound', written(tree), ':']),
      ...sample(single, 600).map(alone),
      ...sample(junk, 400).map((text): Case => ['compound', text, ':']),
    ].filter((item) => !listed(item));
    const published = sample(trees, 500).map((tree): Case => {
      const form = publishForm(parseTarget(written(tree), 'compound'));
      return ['compound', form.tgt as string, ':'];
    });
    const all = [...cases, ...published];
    expect(cases.length).toBeGreaterThan(2500);
    const said = await saltSays(version, minions, all);
    const differences = all
      .map((item, at) => ({ seed, item, salt: said[at], ours: weSay(minions, item) }))
      .filter(({ salt, ours }) => salt !== ours);
    expect(differences).toEqual([]);
    // Not all of them say no.
    expect(said.filter((row) => row.includes('1')).length).toBeGreaterThan(1000);
  });
});

describe('a mixed fleet', () => {
  let fleet: Deployment;
  const nodegroups = `nodegroups:
  comma: 'L@h1,s6,'
  text: 'G@role:web or E@s8'
  list: [h1, s8]
  words: ['G@role:web', and, not, 'L@s6']
  nested: 'N@comma and not N@list'
  deep: 'not N@nested'
  circle: 'N@back'
  back: 'h1 or N@circle'
`;

  beforeAll(async () => {
    fleet = await Deployment.create();
    writeFileSync(fleet.path('etc/master.d/nodegroups.conf'), nodegroups);
    writeFileSync(fleet.path('srv/pillar/top.sls'), "base:\n  '*': [common]\n  's*': [salt]\n");
    writeFileSync(fleet.path('srv/pillar/common.sls'), "app: {name: 'shop-{{ grains.id }}', port: 80}\n");
    writeFileSync(fleet.path('srv/pillar/salt.sls'), 'kind: real\n');
    await fleet.startMaster();
    const role = (name: string): string => `grains: {role: ${name}, place: {row: 7, name: '${name}:x'}}`;
    fleet.startMinion('h1', halite, role('web'));
    fleet.startMinion('s6', saltRelease('3006.27'), role('web'));
    fleet.startMinion('s8', saltRelease('3008.2'), role('db'));
    await fleet.answering('h1', 's6', 's8');
  });
  afterAll(async () => {
    await fleet?.destroy();
  });

  const cases: [string, readonly string[], string][] = [
    ['glob', ['*'], 'h1 s6 s8'],
    ['glob with a range', ['s[5-7]'], 's6'],
    ['expression', ['-E', '(h|s)[16]'], 'h1 s6'],
    ['list', ['-L', 'h1,s8'], 'h1 s8'],
    ['list with a trailing comma', ['-L', 'h1,s6,'], 'h1 s6'],
    ['list with spaces', ['-L', ' h1 , s6 '], 'h1 s6'],
    ['list with quotes', ['-L', '"h1","s6"'], 'h1 s6'],
    ['grain', ['-G', 'role:w*'], 'h1 s6'],
    ['nested grain', ['-G', 'place:row:7'], 'h1 s6 s8'],
    ['grain with a delimiter', ['-G', 'place|name|db:x', '--delimiter', '|'], 's8'],
    ['grain expression', ['-P', 'role:(web|mail)$'], 'h1 s6'],
    ['pillar', ['-I', 'app:name:shop-s*'], 's6 s8'],
    ['pillar with a delimiter', ['-I', 'app|port|80', '--delimiter', '|'], 'h1 s6 s8'],
    ['pillar expression', ['-J', 'app:name:shop-[hs][18]'], 'h1 s8'],
    ['address', ['-S', '127.0.0.1'], 'h1 s6 s8'],
    ['network', ['-S', '127.0.0.0/8'], 'h1 s6 s8'],
    ['nodegroup with a trailing comma', ['-N', 'comma'], 'h1 s6'],
    ['nodegroup as text', ['-N', 'text'], 'h1 s6 s8'],
    ['nodegroup as list', ['-N', 'list'], 'h1 s8'],
    ['nodegroup as words', ['-N', 'words'], 'h1'],
    ['nodegroup in a nodegroup', ['-N', 'nested'], 's6'],
    ['negated nodegroup', ['-N', 'deep'], 'h1 s8'],
    [
      'compound of all letters',
      ['-C', 'G@role:web and P@role:w.b and I@app:port:80 and J@app:name:shop and L@h1,s6, and E@.*1'],
      'h1',
    ],
    ['compound with groups, networks and not', ['-C', 'not N@list and S@127.0.0.0/8 or ( s8 and not h* )'], 's6 s8'],
    ['compound with a delimiter', ['-C', 'G|@place|name|db:x or I%@kind%nothing'], 's8'],
  ];
  it.each(cases)('%s', async (_name, target, expected) => {
    const answer = await fleet.json(...target, 'test.ping', '-t', '2');
    expect(Object.keys(answer).sort().join(' ')).toBe(expected);
  });

  it('a subset runs on that many', async () => {
    expect(Object.keys(await fleet.json('*', 'test.ping', '--subset', '2', '-t', '2'))).toHaveLength(2);
  });

  it('a circle of nodegroups is named', async () => {
    const { stderr, code } = await fleet.salt('-N', 'circle', 'test.ping');
    expect(stderr).toContain('The nodegroup circle contains itself: circle → back → circle');
    expect(code).toBe(2);
  });
});
