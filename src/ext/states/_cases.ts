// Cases in YAML: what is there, which state, what it must say under test, when applied, and when applied again.
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  dictEntries,
  HaliteError,
  isDict,
  type Module,
  newDict,
  type PlainDict,
  pyStr,
  type StateModule,
  type StateResult,
  type Value,
} from 'halite/sdk';
import { loadYaml } from 'halite/sdk/codec';
import { runProgram } from '../modules/_testing.ts';
import { apply, type StateTestOptions } from './_testing.ts';
import { testFiles } from './_testing-files.ts';

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
  /** Paths below `{tmp}` → text, or `{dir|link|mode|text|user}`. Those below `roots/` are on the file server. */
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
  readonly test?: Expected;
  readonly apply?: Expected;
  readonly again?: Expected;
  /** Calls to replaced functions while applying: `[fun, [args], {kwargs}]`. */
  readonly called?: Value[];
  /** Paths below `{tmp}` afterwards: text, `{mode: …}`, `{link: …}`, or null for nothing there. */
  readonly left?: Record<string, Value>;
  /** Where Halite means to differ from what was recorded, and why. */
  readonly ours?: { readonly why: string } & Partial<Pick<StateCase, 'test' | 'apply' | 'again' | 'left'>>;
}

export function readCases(path: string): StateCase[] {
  return (loadYaml(readFileSync(path, 'utf8')) as unknown as StateCase[]) ?? [];
}

/** The execution modules of a folder by name, imported when needed. */
export async function loadModules(folder: string, names: readonly string[]): Promise<Module[]> {
  const found: Module[] = [];
  for (const name of names) {
    const file = existsSync(join(folder, name, 'index.ts')) ? `${name}/index.ts` : `${name}.ts`;
    found.push(((await import(join(folder, file))) as { default: Module }).default);
  }
  return found;
}

/** Puts the case's own folder in place of `{tmp}`. */
export function fill(value: Value, tmp: string): Value {
  if (typeof value === 'string') return value.replaceAll('{tmp}', tmp);
  if (Array.isArray(value)) return value.map((item) => fill(item, tmp));
  if (isDict(value) && value instanceof Map)
    return new Map([...value].map(([key, item]) => [fill(key, tmp), fill(item, tmp)]));
  return isDict(value)
    ? newDict(dictEntries(value).map(([key, item]) => [pyStr(fill(key, tmp)), fill(item, tmp)]))
    : value;
}

function place(root: string, path: string, what: Value): void {
  const target = join(root, path);
  mkdirSync(dirname(target), { recursive: true });
  const spec = (isDict(what) ? what : { text: what }) as {
    dir?: Value;
    link?: Value;
    text?: Value;
    mode?: Value;
    uid?: Value;
    hex?: Value;
  };
  if (spec.link !== undefined) {
    symlinkSync(pyStr(fill(spec.link, root)), target);
    return;
  }
  if (spec.dir) mkdirSync(target, { recursive: true });
  else
    writeFileSync(
      target,
      spec.hex === undefined ? pyStr(fill(spec.text ?? '', root)) : Buffer.from(pyStr(spec.hex), 'hex'),
    );
  if (spec.uid !== undefined) chownSync(target, Number(spec.uid), Number(spec.uid));
  if (spec.mode !== undefined) chmodSync(target, Number.parseInt(pyStr(spec.mode), 8));
}

/** What differs from run to run: process ids, names of temporary files, and the order in which Salt walks its sets. */
function steady(text: string): string {
  const named = text
    .replace(/\/tmp\/(?:__salt\.tmp\.\w+|halite-patch-\w+\/output)/g, '{temporary}')
    .replace(/(pid:\s+)\d+/g, '$1{pid}');
  if (!named.startsWith('#### ')) return named;
  const sections = named.split(/\n+(?=#### )/).map((section) => section.trim());
  return sections
    .map((section) => (section.startsWith('#### removed') ? section.split('\n').sort().join('\n') : section))
    .sort()
    .join('\n');
}

/** The outcome in comparable form: plain objects, and lists whose order Salt leaves to chance sorted. */
export function comparable(value: unknown): unknown {
  if (typeof value === 'string') return steady(value);
  if (value instanceof Map) return comparable(Object.fromEntries(value));
  if (Array.isArray(value)) return value.map(comparable);
  if (value === null || typeof value !== 'object' || value instanceof Date) return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [
        key,
        key === 'removed' && Array.isArray(item) ? [...item].sort() : key === 'pid' ? 0 : comparable(item),
      ]),
  );
}

export function outcome(result: StateResult): Record<string, unknown> {
  const { result: verdict, comment, changes, warnings } = result;
  return comparable({ result: verdict, comment, changes, ...(warnings === undefined ? {} : { warnings }) }) as Record<
    string,
    unknown
  >;
}

function found(root: string, path: string, expected: Value): unknown {
  const target = join(root, path);
  let stats: ReturnType<typeof lstatSync>;
  try {
    stats = lstatSync(target);
  } catch {
    return null;
  }
  if (!isDict(expected)) return stats.isDirectory() ? readdirSync(target).sort() : readFileSync(target, 'utf8');
  const about: Record<string, unknown> = {};
  for (const [key] of dictEntries(expected)) {
    if (key === 'mode') about[key] = (stats.mode & 0o7777).toString(8).padStart(4, '0');
    if (key === 'link') about[key] = stats.isSymbolicLink() ? readlinkSync(target) : null;
    if (key === 'text') about[key] = readFileSync(target, 'utf8');
    if (key === 'dir') about[key] = stats.isDirectory();
    if (key === 'uid') about[key] = stats.uid;
    if (key === 'hex') about[key] = readFileSync(target).toString('hex');
  }
  return about;
}

/** An answer that depends on the call: `each` one after another, `by` a keyword that is set, `compare` two versions. */
function answerOf(answer: Value): (args: readonly Value[], kwargs: PlainDict) => Value {
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

function fakes(given: Record<string, Value>, log: unknown[]): NonNullable<StateTestOptions['calls']> {
  return Object.fromEntries(
    Object.entries(given).map(([fun, answer]) => {
      const choose = answerOf(answer);
      return [
        fun,
        (args: readonly Value[], kwargs: PlainDict): Value => {
          log.push(comparable(Object.keys(kwargs).length > 0 ? [fun, args, kwargs] : [fun, args]));
          const now = choose(args, kwargs);
          if (isDict(now) && !(now instanceof Map) && typeof now['raise'] === 'string')
            throw new HaliteError('call.failed', now['raise']);
          return now;
        },
      ];
    }),
  );
}

/** As Salt names what was thrown. */
function raisedText(error: unknown): string {
  if (!(error instanceof Error)) throw error;
  if (!(error instanceof HaliteError)) return `${error.name}: ${error.message}`;
  return `${error.code === 'call.arguments' ? 'SaltInvocationError' : 'CommandExecutionError'}: ${error.message}`;
}

export interface CaseOutcome {
  test?: unknown;
  apply?: unknown;
  again?: unknown;
  called?: unknown;
  left?: unknown;
}

/** Puts in place what the case starts from. */
async function prepare(row: StateCase, tmp: string): Promise<void> {
  mkdirSync(join(tmp, 'roots/base'), { recursive: true });
  for (const [path, what] of Object.entries(row.files ?? {})) place(tmp, path, what);
  for (const command of row.run ?? []) {
    const done = await runProgram('/bin/sh', ['-ec', pyStr(fill(command, tmp))], { cwd: tmp });
    if (done.retcode !== 0) throw new Error(`${command}: ${done.stderr}`);
  }
}

function optionsOf(row: StateCase, tmp: string, log: unknown[]): Omit<StateTestOptions, 'states' | 'modules'> {
  return {
    pillar: (fill(row.pillar ?? newDict(), tmp) as PlainDict) ?? newDict(),
    grains: row.grains ?? newDict([['kernel', 'Linux']]),
    opts: { cachedir: join(tmp, 'cache'), user: 'root', hash_type: 'sha256', ...row.opts },
    low: fill(row.low ?? newDict(), tmp) as PlainDict,
    lowstate: (fill(row.lowstate ?? [], tmp) as PlainDict[]) ?? [],
    files: testFiles(join(tmp, 'roots'), join(tmp, 'cache/files')),
    calls: fakes(fill(row.calls ?? {}, tmp) as Record<string, Value>, log),
  };
}

/** Runs a case; only what the case expects is in the answer. */
export async function runCase(
  given: StateCase,
  states: readonly StateModule[],
  modules: readonly Module[],
): Promise<{ got: CaseOutcome; wanted: CaseOutcome }> {
  const { why: _why, ...ours } = given.ours ?? { why: '' };
  const row: StateCase = { ...given, ...ours };
  const tmp = mkdtempSync(join(tmpdir(), 'halite-case-'));
  try {
    await prepare(row, tmp);
    const log: unknown[] = [];
    const args = fill(row.args as Value, tmp) as Record<string, Value>;
    const attempt = async (test: boolean): Promise<unknown> => {
      try {
        return outcome(await apply({ ...optionsOf(row, tmp, log), states, modules, test }, row.state, args));
      } catch (error) {
        return { raised: raisedText(error) };
      }
    };
    const got: CaseOutcome = {};
    if (row.test) got.test = await attempt(true);
    log.length = 0;
    if (row.apply) got.apply = await attempt(false);
    if (row.called) got.called = [...log];
    if (row.again) got.again = await attempt(false);
    if (row.left) {
      got.left = Object.fromEntries(
        Object.entries(row.left).map(([path, expected]) => [path, found(tmp, path, expected)]),
      );
    }
    const { test, apply: applied, again, called, left } = row;
    const keys = Object.entries({ test, apply: applied, again, called, left }).filter(
      ([, value]) => value !== undefined,
    );
    return { got, wanted: comparable(fill(Object.fromEntries(keys) as Value, tmp)) as CaseOutcome };
  } finally {
    rmSync(tmp, { recursive: true, force: true });
  }
}
