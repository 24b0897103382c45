// Runs the function (or functions) of a job and returns the outcome.
import { isTruthy } from '../../base/codec/python/index.ts';
import { asList, dictGet, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { docstring } from '../../extend/loader/index.ts';
import type { PublishedJob } from '../../protocol/job/job.ts';
import { execute, executorsOf } from './executors.ts';
import { splitArguments } from './job-arguments.ts';
import { failed, finished, type Outcome, thrownOutcome } from './outcome.ts';
import { createContext, type JobState, type Runtime, runFound, shownJob } from './runtime.ts';
import { pythonTraceback } from './traceback.ts';

/** Runs a published job. Never throws: every failure is an outcome. */
export async function executeJob(runtime: Runtime, state: JobState & { readonly job: PublishedJob }): Promise<Outcome> {
  const { fun, arg } = state.job;
  return typeof fun === 'string' ? callFunction(runtime, state, fun, arg) : runSeveral(runtime, state, fun, arg);
}

/** Runs one function with the arguments of a job. */
export async function callFunction(
  runtime: Runtime,
  state: JobState,
  fun: string,
  arg: readonly Value[],
): Promise<Outcome> {
  const found = await runtime.loader.find('modules', fun);
  if (!found) return missing(runtime, fun);
  state.retcode = 0;
  try {
    refuseInBlackout(runtime, fun);
    const executors = executorsOf(runtime.opts(), state.job);
    // A function that the master runs on itself was not published: it sees no job.
    const published = runtime.opts()['__role'] === 'master' ? undefined : () => shownJob(state);
    const { args, kwargs } = await splitArguments(found.fn.params, arg, published);
    const context = createContext(runtime, state);
    const run = (): Promise<Value> => runFound(found, args, kwargs, context);
    const value = executors
      ? await execute(executors, { fun, args, kwargs, run }, { runtime, job: state.job, context })
      : await run();
    return finished(value, state.retcode, found.fn.outputter);
  } catch (thrown) {
    return thrownOutcome(fun, thrown, docstring(found.fn));
  }
}

/** Salt returns the documentation of all functions with the same prefix, or the bare message. */
async function missing(runtime: Runtime, fun: string): Promise<Outcome> {
  const text = await runtime.loader.missingText('modules', fun);
  const module = await runtime.loader.get('modules', fun.split('.', 1)[0]!);
  const docs = newDict();
  if (module) {
    const start = fun.slice(module.name.length + 1);
    for (const [name, documented] of Object.entries(module.extension.functions)) {
      if (name.startsWith(start)) docs[`${module.name}.${name}`] = stripMarkup(docstring(documented));
    }
  }
  if (Object.keys(docs).length === 0) return failed(text);
  docs[fun] = text;
  return failed(docs);
}

function stripMarkup(doc: string): string {
  return doc.replace(/ *\.\. code-block:: \S+\n{1,2}/g, '');
}

/** One result per function; a failing one does not stop the next. */
async function runSeveral(
  runtime: Runtime,
  state: JobState,
  names: readonly string[],
  args: readonly Value[],
): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  for (const [at, fun] of names.entries()) {
    const arg = args[at];
    outcomes.push(await callFunction(runtime, state, fun, asList(arg) ?? []).catch(unexpected));
  }
  if (runtime.opts()['multifunc_ordered'] === true) {
    return {
      return: outcomes.map((item) => item.return),
      retcode: outcomes.map((item) => item.retcode),
      success: outcomes.map((item) => item.success),
    };
  }
  const byName = (pick: (item: Outcome) => Value): PlainDict =>
    newDict(names.map((name, at) => [name, pick(outcomes[at]!)] as const));
  return {
    return: byName((item) => item.return),
    retcode: byName((item) => item.retcode),
    success: byName((item) => item.success),
  };
}

function unexpected(thrown: unknown): Outcome {
  return failed(`The minion function caused an exception: ${pythonTraceback(thrown)}`);
}

/** `minion_blackout` in pillar or grains blocks everything except the function that ends it. */
function refuseInBlackout(runtime: Runtime, fun: string): void {
  if (fun === 'saltutil.refresh_pillar') return;
  for (const source of [runtime.pillar(), runtime.grains()]) {
    const blackout = dictGet(source, 'minion_blackout');
    if (blackout === undefined || !isTruthy(blackout)) continue;
    const allowed = dictGet(source, 'minion_blackout_whitelist');
    if (Array.isArray(allowed) && allowed.includes(fun)) continue;
    throw new HaliteError(
      'call.arguments',
      "Minion in blackout mode. Set 'minion_blackout' to False in pillar or grains to resume operations. Only saltutil.refresh_pillar allowed in blackout mode.",
    );
  }
}
