// Opens a state run with the arguments every function of `state` understands.
import {
  commandError,
  HaliteError,
  isDict,
  isTrue,
  type ModuleContext,
  type PlainDict,
  pyStr,
  type StateRun,
  type StateRunRequest,
  type Value,
} from 'halite/sdk';

export interface OpenOptions {
  readonly test?: Value;
  readonly stateEvents?: Value;
  /** Functions that name SLS files use `base` by default. */
  readonly needsEnvironment?: boolean;
  /** Further options of the run. */
  readonly opts?: Readonly<Record<string, Value>>;
}

/** Whether this is a test run: by argument, grains, pillar, or the minion's options. */
async function testValue(test: Value, kwargs: PlainDict, ctx: ModuleContext): Promise<Value> {
  if (test === false) return false;
  if (test !== null) return true;
  for (const [name, value] of Object.entries(kwargs)) if (name.toLowerCase() === 'test' && isTrue(value)) return true;
  const omitting = Object.assign(Object.create(null) as PlainDict, { omit_opts: true });
  if ((await ctx.callWith('config.get', ['test'], omitting)) === true) return true;
  return ctx.opts['test'] ?? null;
}

function environments(kwargs: PlainDict, ctx: ModuleContext): Record<string, Value> {
  const opts: Record<string, Value> = {};
  const saltenv = kwargs['saltenv'] ?? null;
  if (saltenv !== null) opts['saltenv'] = pyStr(saltenv);
  if ('pillarenv' in kwargs || ctx.opts['pillarenv_from_saltenv'] === true) {
    const pillarenv = kwargs['pillarenv'] || saltenv;
    opts['pillarenv'] = pillarenv === null ? null : pyStr(pillarenv);
  }
  return opts;
}

/** The run for a call. */
export async function openRun(kwargs: PlainDict, ctx: ModuleContext, options: OpenOptions = {}): Promise<StateRun> {
  if (!ctx.states) throw new HaliteError('call.failed', 'There is no state engine in this process');
  const opts = environments(kwargs, ctx);
  if (options.needsEnvironment && (opts['saltenv'] ?? ctx.opts['saltenv'] ?? null) === null) opts['saltenv'] = 'base';
  if (options.test !== undefined) opts['test'] = await testValue(options.test, kwargs, ctx);
  if ((options.stateEvents ?? null) !== null) opts['state_events'] = options.stateEvents!;
  const { pillar, pillar_enc: pillarEnc, localconfig, orchestration_jid: orchestrationJid } = kwargs;
  const request: StateRunRequest = {
    opts: { ...opts, ...options.opts },
    mock: isTrue(kwargs['mock']),
    ...((pillar ?? null) === null ? {} : { pillar: pillar! }),
    ...((pillarEnc ?? null) === null ? {} : { pillarEnc: pyStr(pillarEnc!) }),
    ...((localconfig ?? null) === null ? {} : { localConfig: pyStr(localconfig!) }),
    ...((orchestrationJid ?? null) === null ? {} : { orchestrationJid: orchestrationJid! }),
  };
  return ctx.states.open(request);
}

const intro = 'Pillar failed to render with the following messages:';

/** What a function that applies states returns for a pillar with errors; undefined when there are none. */
export function pillarProblem(run: StateRun, kwargs: PlainDict): Value[] | undefined {
  if (isTrue(kwargs['force']) || !run.pillarErrors) return undefined;
  return [intro, ...run.pillarErrors];
}

/** Functions that only show something fail on a pillar with errors. */
export function requirePillar(run: StateRun, kwargs: PlainDict): void {
  if (isTrue(kwargs['force']) || !run.pillarErrors) return;
  const list = run.pillarErrors.map((error) => `- ${pyStr(error)}`).join('\n');
  throw commandError(`Pillar failed to render. Additional info follows:\n\n${list}`);
}

/** Names in a list, or in one text with commas between. */
export function namesOf(value: Value): string[] {
  if (Array.isArray(value)) return value.map(pyStr);
  return pyStr(value)
    .split(',')
    .map((name) => name.trim());
}

/** `exclude`: names in a text, or a list that may contain `{id: …}` and `{sls: …}`. */
export function excludeOf(value: Value | undefined): Value[] {
  if (value === undefined || value === null || value === '') return [];
  if (Array.isArray(value)) return value;
  return isDict(value) ? [value] : namesOf(value);
}
