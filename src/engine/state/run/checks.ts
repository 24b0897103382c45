// `onlyif`, `unless`, `creates` and `check_cmd`: conditions that decide whether a state runs, or its result.
import { stat } from 'node:fs/promises';
import { isTruthy, pyRepr, pyStr } from '../../../base/codec/python/index.ts';
import {
  asList,
  type Dict,
  dictEntries,
  dictGet,
  isDict,
  newDict,
  oneOrMore,
  type PlainDict,
  type Value,
} from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { deepCopy } from '../../../base/util/deep-copy.ts';
import { traverse } from '../../../base/util/index.ts';
import type { ModuleContext } from '../../../extend/sdk/index.ts';
import { type Chunk, shown } from '../data.ts';
import { fillSlots } from './slots.ts';

/** What checks need from the run. */
export interface CheckHost {
  readonly context: ModuleContext;
  readonly grains: Dict;
  readonly probe: () => Probe;
}

/** A context with its own return code, and that return code. */
export interface Probe {
  readonly context: ModuleContext;
  readonly codes: { readonly retcode: number };
}

/** The outcome of one condition: whether the state is skipped, and why. */
interface Verdict {
  readonly skip: boolean;
  readonly comment: string;
  readonly skipWatch: boolean;
}

const runs = (comment: string): Verdict => ({ skip: false, comment, skipWatch: false });
const skips = (comment: string): Verdict => ({ skip: true, comment, skipWatch: true });

/** Result fields of `onlyif`, `unless` and `creates` together; `result` true means: do not run. */
export async function runChecks(host: CheckHost, low: Chunk): Promise<PlainDict> {
  const options = commandOptions(host, low);
  const verdicts: Verdict[] = [];
  if ('onlyif' in low) verdicts.push(await checkOnlyIf(host, low['onlyif']!, options));
  if ('unless' in low) verdicts.push(await checkUnless(host, low['unless']!, options));
  if ('creates' in low) verdicts.push(await checkCreates(low['creates']!));
  const result = newDict([
    ['result', verdicts.some((verdict) => verdict.skip)],
    ['comment', verdicts.map((verdict) => verdict.comment)],
    ...originOf(low),
  ]);
  if (verdicts.some((verdict) => verdict.skipWatch)) result['skip_watch'] = true;
  return result;
}

/** Result fields of `check_cmd`, which decides about success. */
export async function runCheckCommands(host: CheckHost, low: Chunk): Promise<PlainDict> {
  const shell = dictGet(host.grains, 'shell');
  const options = newDict(shell === undefined ? [] : [['shell', shell]]);
  const commands = oneOrMore(low['check_cmd']!);
  let success = false;
  for (const command of commands) {
    success = (await retcodeOf(host, command, options)) === 0;
    if (!success) break;
  }
  const comment = `check_cmd determined the state ${success ? 'succeeded' : 'failed'}`;
  const result = newDict([['result', success], ...originOf(low)]);
  if (commands.length > 0) result['comment'] = comment;
  return result;
}

const originOf = (low: Chunk): [string, Value][] =>
  ['__sls__', '__id__', 'name'].map((key): [string, Value] => [key, low[key] ?? null]);

/** Arguments of the state that also apply to its conditions, unless `cmd_opts_exclude` lists them. */
function commandOptions({ grains }: CheckHost, low: Chunk): PlainDict {
  const excluded = 'cmd_opts_exclude' in low ? oneOrMore(low['cmd_opts_exclude']!) : [];
  const options = newDict();
  for (const name of ['cwd', 'root', 'runas', 'env', 'prepend_path', 'umask', 'timeout', 'success_retcodes']) {
    if (!excluded.includes(name)) options[name] = low[name] ?? null;
  }
  const shell = dictGet(grains, 'shell');
  if ('shell' in low && !excluded.includes('shell')) options['shell'] = low['shell']!;
  else if (shell !== undefined) options['shell'] = shell;
  return options;
}

async function retcodeOf({ context }: CheckHost, command: Value, options: PlainDict): Promise<number> {
  const kwargs = newDict([...Object.entries(options), ['ignore_retcode', true], ['python_shell', true]]);
  const code = await context.callWith('cmd.retcode', [command], kwargs);
  return typeof code === 'number' ? code : isTruthy(code) ? 1 : 0;
}

/** A command that cannot be run at all counts as `failed`. */
async function tryRetcode(host: CheckHost, command: string, options: PlainDict, failed: number): Promise<number> {
  try {
    return await retcodeOf(host, command, options);
  } catch (error) {
    if (error instanceof HaliteError) return failed;
    throw error;
  }
}

/** Whether a `fun:` condition holds: by the return code its function set, else by what it returned. */
async function functionHolds(host: CheckHost, entry: Dict): Promise<boolean> {
  const given = deepCopy(entry);
  const kwargs = newDict();
  for (const [key, value] of dictEntries(given)) {
    if (key !== 'fun' && key !== 'args' && key !== 'get_return') kwargs[pyStr(key)] = value;
  }
  const args = dictGet(given, 'args');
  const call = await fillSlots({ args: asList(args) ?? [], kwargs }, host.context);
  const { context, codes } = host.probe();
  const fun = pyStr(dictGet(given, 'fun'));
  // Salt's message for a function that does not exist.
  if (!(await context.registry.functionInfo('modules', fun)))
    throw Object.assign(new Error(pyRepr(fun)), { name: 'KeyError' });
  let result: Value | undefined = await context.callWith(fun, call.args, call.kwargs);
  const path = dictGet(given, 'get_return');
  if (path !== undefined && isTruthy(path)) result = traverse(result, pyStr(path));
  return codes.retcode === 0 ? isTruthy(result ?? null) : false;
}

/** Every entry must hold for the state to run. */
async function checkOnlyIf(host: CheckHost, condition: Value, options: PlainDict): Promise<Verdict> {
  let verdict = runs('');
  for (const entry of oneOrMore(condition)) {
    if (isDict(entry) && dictGet(entry, 'fun') === undefined)
      return runs(`no \`fun\` argument in onlyif: ${shown(entry)}`);
    if (typeof entry !== 'string' && !isDict(entry)) return runs('onlyif execution failed, bad type passed');
    const holds =
      typeof entry === 'string'
        ? (await tryRetcode(host, entry, options, 100)) === 0
        : await functionHolds(host, entry);
    if (!holds) return skips('onlyif condition is false');
    verdict = runs('onlyif condition is true');
  }
  return verdict;
}

/** One entry that does not hold is enough for the state to run. */
async function checkUnless(host: CheckHost, condition: Value, options: PlainDict): Promise<Verdict> {
  let verdict = runs('');
  for (const entry of oneOrMore(condition)) {
    if (isDict(entry) && dictGet(entry, 'fun') === undefined) {
      return { ...verdict, comment: `no \`fun\` argument in unless: ${shown(entry)}` };
    }
    if (typeof entry !== 'string' && !isDict(entry)) {
      verdict = { ...verdict, skip: false, comment: 'unless condition is false, bad type passed' };
      continue;
    }
    const holds =
      typeof entry === 'string' ? (await tryRetcode(host, entry, options, 0)) === 0 : await functionHolds(host, entry);
    if (!holds) return runs('unless condition is false');
    verdict = skips('unless condition is true');
  }
  return verdict;
}

async function checkCreates(creates: Value): Promise<Verdict> {
  if (typeof creates === 'string' && (await exists(creates))) return skips(`${creates} exists`);
  if (Array.isArray(creates)) {
    const found = await Promise.all(creates.map((path) => (typeof path === 'string' ? exists(path) : false)));
    if (found.every(Boolean)) return skips('All files in creates exist');
  }
  return runs('Creates files not found');
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
