// Cases in YAML: the initial files, the state, and its expected result under test, when applied, and when applied
// again.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textKeyed } from '../base/codec/fields.ts';
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

/** One row of a `cases.yaml` file. `{tmp}` is replaced by the folder of the case. */
export interface StateCase {
  /** What the case tests. */
  readonly it: string;
  /** Paths below `{tmp}` → text, or `{dir|link|mode|text|hex|uid}`. Those below `roots/base` are on the file server. */
  readonly files?: Record<string, Value>;
  /** Commands run in `{tmp}` before the state. */
  readonly run?: string[];
  readonly state: string;
  readonly args: Record<string, Value>;
  readonly pillar?: PlainDict;
  readonly grains?: PlainDict;
  readonly opts?: PlainDict;
  readonly low?: PlainDict;
  readonly lowstate?: PlainDict[];
  /**
   * Replaced execution functions: function → result, or `{each: [a, b]}` (one result after the other), `{by: {keyword:
   * result}}` (depending on a keyword argument), `{compare: true}` (two versions), `{raise: text}` (an error).
   */
  readonly calls?: Record<string, Value>;
  /** Replaced functions that only read, although no available module declares that. */
  readonly reads?: string[];
  /** The expected result when applied: `result`, `comment` and `changes`, or `raised`. false: it is not applied. */
  readonly apply?: Expected | false;
  /**
   * The expected result under `test=True`. Absent: the same as `apply`. Absent keys: result null, changes and comment
   * as in `apply`. false: it is not run under test.
   */
  readonly test?: Expected | false;
  /**
   * The expected result when applied once more. Absent: the same as `apply`. Absent keys: result true, no changes, the
   * comment as in `apply`. false: it is not applied again.
   */
  readonly again?: Expected | false;
  /** Calls to replaced functions while applying: `[fun, [args]]`, or `[fun, [args], {kwargs}]` with keyword arguments. */
  readonly called?: Value[];
  /** Paths below `{tmp}` afterwards: text, `{mode: …}`, `{link: …}`, or null for nothing there. */
  readonly left?: Record<string, Value>;
  /**
   * Paths below `{tmp}` that it writes in test mode too because it was asked to (the rejects of a patch); default:
   * none.
   */
  readonly touchedInTest?: string[];
  /** Where Halite intentionally differs from the recording, and why. */
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

const expectedKeys: ReadonlySet<string> = new Set<keyof Expected>([
  'result',
  'comment',
  'changes',
  'raised',
  'warnings',
]);

/**
 * Reads the cases of a file. A row with an unknown key, or without an expectation, would pass without testing anything.
 */
export function readCases(path: string): StateCase[] {
  const rows = loadYaml(readFileSync(path, 'utf8')) ?? [];
  if (!Array.isArray(rows)) throw new HaliteError('codec.malformed', `${path} is not a list of cases`);
  for (const [index, row] of rows.entries()) {
    const problem = problemOf(row);
    if (problem) throw new HaliteError('codec.malformed', `${path}: case ${index + 1}${problem}`);
  }
  return rows as unknown as StateCase[];
}

function problemOf(row: Value): string | undefined {
  if (!isDict(row) || row instanceof Map) return ' is not a map';
  const named = typeof row['it'] === 'string' ? ` (${row['it']})` : '';
  const unknown = Object.keys(row).filter((key) => !keys.has(key));
  if (unknown.length > 0) return `${named} has the unknown key ${unknown.join(', ')}; keys: ${[...keys].join(', ')}`;
  for (const from of [row, textKeyed(row['ours'])]) {
    for (const part of ['apply', 'test', 'again']) {
      const wrong = Object.keys(textKeyed(from[part])).filter((key) => !expectedKeys.has(key));
      if (wrong.length > 0)
        return `${named} has the unknown key ${wrong.join(', ')} in ${part}; keys: ${[...expectedKeys].join(', ')}`;
    }
  }
  if (typeof row['state'] !== 'string' || !isDict(row['args'])) return `${named} needs state and args`;
  const expected = [row, isDict(row['ours']) ? row['ours'] : row].flatMap((from) => [
    dictGet(from, 'apply'),
    dictGet(from, 'test'),
  ]);
  if (!expected.some(isDict)) return `${named} expects nothing: it needs apply or test`;
  return undefined;
}

/** A result that depends on the call: `each` one after another, `by` a keyword that is set, `compare` two versions. */
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

/** Results of replaced functions; every call is recorded in `log`. */
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

/** The actual or expected outcome of a case: the runs that it does not exclude, and `called` and `left` if it names them. */
export interface CaseOutcome {
  test?: unknown;
  apply?: unknown;
  again?: unknown;
  called?: unknown;
  left?: unknown;
  /** Paths in the folder of the case that changed in test mode; must be empty. */
  touchedInTest?: readonly string[];
}

export interface CaseSurroundings {
  /** The available state modules; default: all built-in ones. */
  readonly states?: readonly StateModule[];
  /** The available execution modules in addition to the functions that a case replaces; default: all built-in ones. */
  readonly modules?: readonly Module[];
  /** A folder with users' extensions (`_states`, `_modules`, …). */
  readonly extensions?: string;
}

interface Expectations {
  readonly test: Expected | undefined;
  readonly apply: Expected | undefined;
  readonly again: Expected | undefined;
}

/** The expectations of a case, with defaults for absent keys. */
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

/** Creates the initial files of the case. */
async function prepare(row: StateCase, tmp: string): Promise<void> {
  mkdirSync(join(tmp, 'roots/base'), { recursive: true });
  for (const [path, what] of Object.entries(row.files ?? {})) place(tmp, path, what);
  for (const command of row.run ?? []) {
    const done = await execProgram('/bin/sh', ['-ec', pyStr(fill(command, tmp))], { cwd: tmp });
    if (done.retcode !== 0) throw new Error(`${command}: ${done.stderr}`);
  }
}

/** The minion of one run: a new one each time, because every real run has its own process without earlier data. */
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
