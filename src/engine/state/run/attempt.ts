// One attempt of a prepared chunk: conditions before, the call, checks after. An exception of a state function becomes
// its result.
import { pyStr } from '../../../base/codec/python/index.ts';
import {
  asList,
  type Dict,
  dictEntries,
  isDict,
  newDict,
  oneOrMore,
  type PlainDict,
  type Value,
} from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import type { ModuleContext, StateContext } from '../../../extend/sdk/index.ts';
import { inReadOnly } from '../../../extend/sdk/read-only.ts';
import { type BoundArguments, bindArguments } from '../../exec/bind.ts';
import { isCommandNotFound, isHaliteError, pythonTraceback } from '../../exec/index.ts';
import type { Chunk } from '../data.ts';
import { type CheckHost, runCheckCommands, runChecks } from './checks.ts';
import type { PreparedCall } from './contexts.ts';
import { fillSlots } from './slots.ts';

/** The data for conditions. */
export interface AttemptScene {
  readonly grains: Dict;
  option(name: string): Value | undefined;
  context(): Pick<ModuleContext, 'match'>;
}

export interface AttemptOptions {
  /** `mock=True`: everything is checked, nothing is called. */
  readonly mocked: boolean;
  /** Calls the function: now, or in parallel to other states. */
  invoke(prepared: PreparedCall): Promise<PlainDict>;
}

export async function attempt(
  low: Chunk,
  prepared: PreparedCall,
  scene: AttemptScene,
  options: AttemptOptions,
): Promise<PlainDict> {
  const checks: CheckHost = { context: prepared.context, probe: prepared.probe, grains: scene.grains };
  try {
    let result = newDict([
      ['result', false],
      ['name', low['name'] ?? null],
      ['changes', newDict()],
    ]);
    if (['unless', 'onlyif', 'creates'].some((key) => key in low)) Object.assign(result, await runChecks(checks, low));
    if (result['result'] === false) result = await execute(low, prepared, scene, options);
    if ('check_cmd' in low && !('check_cmd' in prepared.found.fn.params)) {
      Object.assign(result, await runCheckCommands(checks, low));
    }
    return result;
  } catch (thrown) {
    return exceptionResult(low, thrown);
  }
}

async function execute(
  low: Chunk,
  prepared: PreparedCall,
  scene: AttemptScene,
  { mocked, invoke }: AttemptOptions,
): Promise<PlainDict> {
  if (mocked) return plainResult(low, true, 'Not called, mocked');
  if (!(await conditionsHold(low, prepared.full, scene))) {
    return plainResult(low, null, 'Failed to meet global state conditions. State not called.');
  }
  return invoke(prepared);
}

/** `global_state_conditions`: a state named there runs only where one of its targets matches. */
async function conditionsHold(low: Chunk, full: string, scene: AttemptScene): Promise<boolean> {
  const conditions = scene.option('global_state_conditions');
  if (conditions === undefined || !isDict(conditions)) return true;
  const targets = dictEntries(conditions)
    .filter(([state]) => state === '*' || state === full || state === low['state'])
    .flatMap(([, list]) => oneOrMore(list));
  if (targets.length === 0) return true;
  for (const target of targets) if (await scene.context().match(pyStr(target), 'compound')) return true;
  return false;
}

/** The function itself. */
export async function callNow({ full, found, kwargs, context }: PreparedCall): Promise<PlainDict> {
  const call = await fillSlots({ args: [], kwargs }, context);
  const bound = boundArguments(found, call.kwargs);
  const run = async (): Promise<PlainDict> => asPlain((await found.fn.run(bound as never, context)) ?? null);
  return context.test ? callInTestMode(full, context, run) : run();
}

/** What does not fit the declaration is a mistake in the state file: a trace through our code would not help. */
function boundArguments({ name, fn }: PreparedCall['found'], kwargs: PlainDict): BoundArguments {
  try {
    return bindArguments(name, fn.params, [], kwargs);
  } catch (error) {
    if (!(error instanceof HaliteError)) throw error;
    throw new HaliteError('state.arguments', error.message, { cause: error });
  }
}

/** Nothing may be changed inside; attempts are reported, even if the state caught the error. */
async function callInTestMode(full: string, { opts }: StateContext, run: () => Promise<PlainDict>): Promise<PlainDict> {
  const { cachedir } = opts;
  const { value, refused } = await inReadOnly(full, typeof cachedir === 'string' && cachedir ? [cachedir] : [], run);
  if (refused.length > 0 && isDict(value)) addWarnings(value, refused);
  return value;
}

export function addWarnings(result: PlainDict, warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  const before = result['warnings'];
  result['warnings'] = [...(asList(before) ?? []), ...warnings];
}

/** The same with the `umask` of the chunk, which applies to the whole process. */
export async function callWithUmask(low: Chunk, prepared: PreparedCall): Promise<PlainDict> {
  const umask = low['__umask__'];
  const before = typeof umask === 'number' ? process.umask(umask) : undefined;
  try {
    return await callNow(prepared);
  } finally {
    if (before !== undefined) process.umask(before);
  }
}

export function plainResult(low: Chunk, result: boolean | null, comment: string): PlainDict {
  return newDict([
    ['name', low['name'] ?? null],
    ['result', result],
    ['changes', newDict()],
    ['comment', comment],
  ]);
}

function asPlain(result: Value): PlainDict {
  // Users' own functions may return a Map, or objects with a prototype.
  if (result instanceof Map) return newDict([...result].map(([key, value]) => [pyStr(key), value] as const));
  return (isDict(result) ? newDict(Object.entries(result)) : result) as PlainDict;
}

export function exceptionResult(low: Chunk, thrown: unknown): PlainDict {
  return newDict([
    ['result', false],
    ['name', low['name'] ?? low['__id__'] ?? null],
    ['changes', newDict()],
    ['comment', exceptionText(low, thrown)],
  ]);
}

/** Errors whose message says what to change: in the state file, or in the declaration of an extension. */
const selfExplaining: ReadonlySet<string> = new Set(['state.read-only', 'state.arguments', 'extension.broken']);

function exceptionText({ state, fun }: Chunk, thrown: unknown): string {
  // The solution is clear without a stack trace.
  if (isCommandNotFound(thrown))
    return `Command required for '${pyStr(state)}.${pyStr(fun)}' not found: ${thrown.message}`;
  if (isHaliteError(thrown) && selfExplaining.has(thrown.code)) return thrown.message;
  return `An exception occurred in this state: ${pythonTraceback(withPythonName(thrown))}`;
}

/** Scripts around Salt search for the names of its exceptions. */
function withPythonName(thrown: unknown): unknown {
  if (!(thrown instanceof HaliteError) || (thrown.name !== 'HaliteError' && thrown.name !== 'ArgumentError'))
    return thrown;
  const name = thrown.code === 'call.arguments' ? 'SaltInvocationError' : 'CommandExecutionError';
  return Object.assign(new Error(thrown.message), { name: `salt.exceptions.${name}`, stack: thrown.stack });
}
