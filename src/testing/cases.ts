// Cases in YAML: what is there, which state, what it must say under test, when applied, and when applied again.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pyStr } from '../base/codec/python/index.ts';
import { dictGet, isDict, newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { loadYaml } from '../base/codec/yaml/index.ts';
import { HaliteError } from '../base/errors/index.ts';
import { execProgram } from '../engine/exec/index.ts';
import type { Module, StateModule } from '../extend/sdk/index.ts';
import { fill, foundAt, place, snapshot, touched } from './case-files.ts';
import { comparable, expectation, outcome } from './case-outcome.ts';
import { TestMinion } from './minion.ts';
import type { Replacement, Replacements } from './tables.ts';

export interface Expected {
  readonly result?: Value;
  readonly comment?: Value;
  readonly changes?: Value;
  /** It throws. */
  readonly raised?: string;
  readonly warnings?: Value;
}

/** One row of a `cases.yaml` file. `{tmp}` stands for the folder of the case. */
export interface StateCase {
  /** What the case shows. */
  readonly it: string;
  /** Paths below `{tmp}` → text, or `{dir|link|mode|text|hex|uid}`. Those below `roots/base` are on the file server. */
  readonly files?: Record<string, Value>;
  /** Commands run in `{tmp}` before. */
  readonly run?: string[];
  readonly state: string;
  readonly args: Record<string, Value>;
  readonly pillar?: PlainDict;
  readonly grains?: PlainDict;
  readonly opts?: PlainDict;
  readonly low?: PlainDict;
  readonly lowstate?: PlainDict[];
  /** Execution functions replaced: function → answer; see `answerOf` for answers that depend on the call. */
  readonly calls?: Record<string, Value>;
  /** Replaced functions that only read although no module here has them, so that none says so. */
  readonly reads?: string[];
  /** What it says when applied; false: it is not applied. */
  readonly apply?: Expected | false;
  /**
   * What it says under `test=True`. Left out: the same as `apply`. Keys left out: result null, changes and comment as in
   * `apply`. false: it is not run under test.
   */
  readonly test?: Expected | false;
  /**
   * What it says when applied once more. Left out: the same as `apply`. Keys left out: result true, no changes, the
   * comment as in `apply`. false: it is not applied again.
   */
  readonly again?: Expected | false;
  /** Calls to replaced functions while applying: `[fun, [args], {kwargs}]`. */
  readonly called?: Value[];
  /** Paths below `{tmp}` afterwards: text, `{mode: …}`, `{link: …}`, or null for nothing there. */
  readonly left?: Record<string, Value>;
  /** Paths below `{tmp}` that it writes in test mode too because it was asked to (the rejects of a patch); none unless given. */
  readonly touchedInTest?: string[];
  /** Where Halite means to differ from what was recorded, and why. */
  readonly ours?: { readonly why: string } & Partial<Pick<StateCase, 'test' | 'apply' | 'again' | 'left'>>;
}

const keys: ReadonlySet<string> = new Set<keyof StateCase>([
  ...([
    'it',
    'state',
    'args',
    'files',
    'run',
    'pillar',
    'grains',
    'opts',
    'low',
    'lowstate',
    'calls',
    'reads',
  ] as const),
  ...(['apply', 'test', 'again', 'called', 'left', 'touchedInTest', 'ours'] as const),
]);

/** The cases of a file. A row that has a key nobody reads, or that expects nothing, would pass without showing anything. */
export function readCases(path: string): StateCase[] {
  const rows = loadYaml(readFileSync(path, 'utf8')) ?? [];
  if (!Array.isArray(rows)) throw new HaliteError('codec.malformed', `${path} is no list of cases`);
  for (const [index, row] of rows.entries()) {
    const problem = problemOf(row);
    if (problem) throw new HaliteError('codec.malformed', `${path}: case ${index + 1}${problem}`);
  }
  return rows as unknown as StateCase[];
}

function problemOf(row: Value): string | undefined {
  if (!isDict(row) || row instanceof Map) return ' is no map';
  const named = typeof row['it'] === 'string' ? ` (${row['it']})` : '';
  const unknown = Object.keys(row).filter((key) => !keys.has(key));
  if (unknown.length > 0) return `${named} has ${unknown.join(', ')}, which no case has; keys: ${[...keys].join(', ')}`;
  if (typeof row['state'] !== 'string' || !isDict(row['args'])) return `${named} needs state and args`;
  const expected = [row, isDict(row['ours']) ? row['ours'] : row].flatMap((from) => [
    dictGet(from, 'apply'),
    dictGet(from, 'test'),
  ]);
  if (!expected.some(isDict)) return `${named} expects nothing: it needs apply or test`;
  return undefined;
}

/** An answer that depends on the call: `each` one after another, `by` a keyword that is set, `compare` two versions. */
function answerOf(answer: Value): Replacement {
  const spec = isDict(answer) && !(answer instanceof Map) ? answer : newDict();
  const each = Array.isArray(spec['each']) ? [...spec['each']] : undefined;
  const by = isDict(spec['by'] ?? null) ? (spec['by'] as PlainDict) : newDict();
  return (args, kwargs) => {
    if (spec['compare'] === true)
      return Math.sign(Number.parseFloat(pyStr(args[0] ?? '')) - Number.parseFloat(pyStr(args[1] ?? '')));
    const key = Object.keys(by).find((name) => kwargs[name]);
    if (key !== undefined) return by[key] as Value;
    return each ? (each.length > 1 ? (each.shift() as Value) : (each[0] as Value)) : answer;
  };
}

/** Answers for replaced functions; every call is noted in `log`. */
function replacements(given: Record<string, Value>, log: unknown[]): Replacements {
  return Object.fromEntries(
    Object.entries(given).map(([fun, answer]) => {
      const choose = answerOf(answer);
      const answering: Replacement = async (args, kwargs) => {
        log.push(comparable(Object.keys(kwargs).length > 0 ? [fun, args, kwargs] : [fun, args]));
        const now = await choose(args, kwargs);
        if (isDict(now) && !(now instanceof Map) && typeof now['raise'] === 'string')
          throw new HaliteError('call.failed', now['raise']);
        return now;
      };
      return [fun, answering];
    }),
  );
}

/** What a case came to, or should come to; only what the case speaks of. */
export interface CaseOutcome {
  test?: unknown;
  apply?: unknown;
  again?: unknown;
  called?: unknown;
  left?: unknown;
  /** Paths in the folder of the case that moved in test mode; none may. */
  touchedInTest?: readonly string[];
}

export interface CaseSurroundings {
  /** The state modules there are; all built-in ones unless given. */
  readonly states?: readonly StateModule[];
  /** The execution modules there are besides the functions a case replaces; all built-in ones unless given. */
  readonly modules?: readonly Module[];
  /** A folder with users' extensions (`_states`, `_modules`, …). */
  readonly extensions?: string;
}

interface Expectations {
  readonly test: Expected | undefined;
  readonly apply: Expected | undefined;
  readonly again: Expected | undefined;
}

/** What a case expects, with what it leaves out filled in. */
function expectationsOf(row: StateCase): Expectations {
  const apply = row.apply || undefined;
  const filled = (given: Expected | false | undefined, base: Expected): Expected | undefined => {
    if (given === false) return undefined;
    if (given === undefined) return apply;
    return given.raised === undefined ? { ...base, ...given } : given;
  };
  const { comment = '', changes = newDict() } = apply ?? {};
  return {
    apply,
    test: filled(row.test, { result: null, changes, comment }),
    again: filled(row.again, { result: true, changes: newDict(), comment }),
  };
}

/** Puts in place what the case starts from. */
async function prepare(row: StateCase, tmp: string): Promise<void> {
  mkdirSync(join(tmp, 'roots/base'), { recursive: true });
  for (const [path, what] of Object.entries(row.files ?? {})) place(tmp, path, what);
  for (const command of row.run ?? []) {
    const done = await execProgram('/bin/sh', ['-ec', pyStr(fill(command, tmp))], { cwd: tmp });
    if (done.retcode !== 0) throw new Error(`${command}: ${done.stderr}`);
  }
}

/** The minion of one attempt: a new one each time, as every run has a process that knows nothing of the last. */
function minionOf(row: StateCase, tmp: string, log: unknown[], around: CaseSurroundings): TestMinion {
  return new TestMinion({
    ...around,
    pillar: fill(row.pillar ?? newDict(), tmp) as PlainDict,
    grains: row.grains ?? newDict([['kernel', 'Linux']]),
    opts: {
      cachedir: join(tmp, 'cache'),
      user: 'root',
      file_roots: newDict([['base', [join(tmp, 'roots/base')]]]),
      ...row.opts,
    },
    reads: row.reads ?? [],
    calls: replacements(fill(row.calls ?? newDict(), tmp) as PlainDict, log),
  });
}

/** Runs a case on the engine: under test, applied, and applied again. */
export async function runCase(
  given: StateCase,
  around: CaseSurroundings = {},
): Promise<{ got: CaseOutcome; wanted: CaseOutcome }> {
  const { why: _why, ...ours } = given.ours ?? { why: '' };
  const row: StateCase = { ...given, ...ours };
  const tmp = mkdtempSync(join(tmpdir(), 'halite-case-'));
  try {
    await prepare(row, tmp);
    const log: unknown[] = [];
    const args = (): PlainDict => fill(row.args as Value, tmp) as PlainDict;
    const low = fill(row.low ?? newDict(), tmp) as PlainDict;
    const lowstate = fill(row.lowstate ?? [], tmp) as PlainDict[];
    const attempt = async (inTest: boolean): Promise<unknown> =>
      outcome(await minionOf(row, tmp, log, around).apply(row.state, args(), { test: inTest, low, lowstate }));
    const { test, apply, again } = expectationsOf(row);
    const [got, wanted]: [CaseOutcome, CaseOutcome] = [{}, {}];
    const expects = (expected: Expected): unknown => expectation(fill(expected as Value, tmp));
    if (test) {
      const before = snapshot(tmp);
      got.test = await attempt(true);
      got.touchedInTest = touched(before, snapshot(tmp));
      wanted.test = expects(test);
      wanted.touchedInTest = row.touchedInTest ?? [];
    }
    log.length = 0;
    if (apply) {
      got.apply = await attempt(false);
      wanted.apply = expects(apply);
    }
    if (row.called) {
      got.called = [...log];
      wanted.called = comparable(fill(row.called, tmp));
    }
    if (again) {
      got.again = await attempt(false);
      wanted.again = expects(again);
    }
    if (row.left) {
      const paths = Object.entries(row.left);
      got.left = Object.fromEntries(paths.map(([path, expected]) => [path, foundAt(tmp, path, expected)]));
      wanted.left = comparable(fill(row.left as Value, tmp));
    }
    return { got, wanted };
  } finally {
    rmSync(tmp, { recursive: true, force: true });
  }
}
