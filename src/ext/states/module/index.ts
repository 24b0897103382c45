// State module `module`: calls execution functions as part of a run.
import {
  defineState,
  dictEntries,
  type FunctionInfo,
  isDict,
  messageOf,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
  withForecast,
} from 'halite/sdk';

/** Whether an answer means success: `result: false` or a return code anywhere in it means failure. */
function succeeded(answer: Value): boolean {
  if (typeof answer === 'boolean') return answer;
  if (!isDict(answer)) return true;
  for (const [key, value] of dictEntries(answer)) {
    if ((key === 'result' && value === false) || (key === 'retcode' && value !== 0)) return false;
    if (isDict(value) && !succeeded(value)) return false;
  }
  return true;
}

/** Arguments with the name of a state keyword have the prefix `m_`. */
const reserved = ['name', 'fun', 'names', 'state', 'saltenv'];
const written = (name: string): string => (reserved.includes(name) ? `m_${name}` : name);

type Bound = { readonly args: Value[]; readonly kwargs: PlainDict } | { readonly problem: string };

/** The old form: arguments beside `name`. */
function bindOld(info: FunctionInfo, given: PlainDict): Bound {
  const args: Value[] = [];
  const missing: string[] = [];
  let kwargs = newDict();
  for (const [name, param] of Object.entries(info.params)) {
    const value = given[written(name)] ?? (reserved.includes(name) ? undefined : given[name]);
    if (param.kind === 'kwargs') {
      if (value === undefined) continue;
      if (!isDict(value)) return { problem: `'${name}' must be a dict.` };
      kwargs = textKeyed(value);
    } else if (param.kind === 'rest') {
      if (value === undefined) continue;
      if (!Array.isArray(value)) return { problem: `'${name}' must be a list.` };
      args.push(...value);
    } else if (value !== undefined) args.push(value);
    else if (param.required) missing.push(written(name));
    else args.push(param.default);
  }
  return missing.length > 0
    ? { problem: `The following arguments are missing: ${missing.join(' ')}` }
    : { args, kwargs };
}

async function runOld(name: string, given: PlainDict, ctx: StateContext): Promise<StateResult> {
  const info = await ctx.registry.functionInfo('modules', name);
  if (!info) return ctx.fail(`Module function ${name} is not available`, { name });
  return withForecast(
    ctx,
    () => ctx.result({ name, result: null, comment: `Module function ${name} is set to execute` }),
    async () => {
      const bound = bindOld(info, given);
      if ('problem' in bound) return ctx.fail(bound.problem, { name });
      try {
        const answer = await ctx.callWith(name, bound.args, bound.kwargs);
        const changes = newDict([['ret', answer]]);
        return ctx.result({ name, changes, result: succeeded(answer), comment: `Module function ${name} executed` });
      } catch (error) {
        return ctx.fail(`Module function ${name} threw an exception. Exception: ${messageOf(error)}`, { name });
      }
    },
  );
}

/** The new form: `- pkg.install: [vim, {refresh: true}]`. Dictionaries are named arguments, other items are positional. */
function bindNew(value: Value): { args: Value[]; kwargs: PlainDict } {
  const list = value === null ? [] : Array.isArray(value) ? value : [value];
  const kwargs = newDict();
  const args = list.filter((item) => {
    if (!isDict(item)) return true;
    for (const [key, argument] of dictEntries(item)) kwargs[pyStr(key)] = argument;
    return false;
  });
  return { args, kwargs };
}

/** Required arguments that are missing. */
async function missingArguments(
  fun: string,
  args: readonly Value[],
  kwargs: PlainDict,
  ctx: StateContext,
): Promise<string[]> {
  const params = Object.entries((await ctx.registry.functionInfo('modules', fun))?.params ?? {});
  return params.flatMap(([name, param], at) =>
    param.kind !== 'kwargs' && param.kind !== 'rest' && param.required && at >= args.length && !(name in kwargs)
      ? [name]
      : [],
  );
}

/** Existing and missing functions. */
async function known(functions: readonly string[], ctx: StateContext): Promise<{ there: string[]; missing: string[] }> {
  const [there, missing]: [string[], string[]] = [[], []];
  for (const fun of functions.map((name) => name.split(':')[0] as string)) {
    ((await ctx.registry.functionInfo('modules', fun)) ? there : missing).push(fun);
  }
  return { there, missing };
}

/** Salt's plural of "Function" is broken and contains the text True. */
const plural = (list: readonly string[]): string => (list.length > 1 ? 'True' : '');

async function runNew(given: PlainDict, ctx: StateContext): Promise<StateResult> {
  const functions = Object.keys(given).filter((key) => key.includes('.'));
  const name = Object.keys(given) as unknown as string;
  if (functions.length === 0) return ctx.fail('No function provided.', { name });
  const { there, missing } = await known(functions, ctx);
  // Functions that are missing are told in the same sentence, in both modes.
  const tests = ctx.test ? there : [];
  if (missing.length > 0 || tests.length > 0) {
    const parts = [
      missing.length > 0 ? `Unavailable function${plural(missing)}: ${missing.join(', ')}.` : '',
      tests.length > 0 ? `Function${plural(tests)} ${tests.join(', ')} to be executed.` : '',
    ];
    return ctx.result({ name, result: missing.length > 0 ? false : null, comment: parts.join(' ').trim() });
  }
  const [failures, successes]: [string[], string[]] = [[], []];
  const changes = newDict();
  for (const fun of functions) {
    try {
      const { args, kwargs } = bindNew(given[fun] ?? null);
      const absent = await missingArguments(fun.split(':')[0] as string, args, kwargs, ctx);
      if (absent.length > 0) {
        failures.push(`'${fun}' failed: Missing arguments: ${absent.join(', ')}`);
        continue;
      }
      const answer = await ctx.callWith(fun.split(':')[0] as string, args, kwargs);
      const comment = isDict(answer) ? (answer as PlainDict)['comment'] : undefined;
      if (succeeded(answer)) {
        successes.push(`${fun}: ${isDict(answer) ? pyStr(comment ?? 'Success') : pyStr(answer)}`);
        changes[fun] = answer;
      } else
        failures.push(
          isDict(answer) ? `'${fun}' failed: ${pyStr(comment ?? '(error message N/A)')}` : `'${fun}': ${pyStr(answer)}`,
        );
    } catch (error) {
      failures.push(`'${fun}' failed: ${messageOf(error)}`);
    }
  }
  return ctx.result({ name, changes, result: failures.length === 0, comment: [...failures, ...successes].join(', ') });
}

const run = state({
  doc: 'Calls execution functions. New form: a key per function; old form: the function as `name`, its arguments beside it.',
  examples: [
    'reload-units:\n  module.run:\n    - service.systemctl_reload:',
    'fetch:\n  module.run:\n    - name: network.ip_addrs\n    - interface: eth0',
  ],
  params: { kwargs: p.kwargs({ doc: 'functions with their arguments, or `name` and arguments' }) },
  run({ kwargs }, ctx) {
    const { name, __reqs__: _reqs, sfun: _sfun, ...given } = kwargs;
    const keys = Object.keys(given);
    const old = keys.some((key) => !key.includes('.')) || (keys.length === 0 && name !== undefined);
    return old
      ? runOld(pyStr(name ?? ctx.low['name'] ?? ''), newDict(Object.entries(given)), ctx)
      : runNew(newDict(Object.entries(given)), ctx);
  },
});

const wait = state({
  doc: 'Calls a function only when a watched state changed.',
  examples: [
    'reload-units:\n  module.wait:\n    - name: service.systemctl_reload\n    - watch:\n      - file: /etc/systemd/system/x.service',
  ],
  params: { name: p.string({ doc: 'the function' }), kwargs: p.kwargs({ doc: 'its arguments' }) },
  run: (_, ctx) => ctx.ok(''),
});

export default defineState({
  name: 'module',
  doc: 'Calls execution functions.',
  functions: { run, wait, watch: wait },
  modWatch: run,
});
