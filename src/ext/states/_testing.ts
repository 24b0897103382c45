// A context for tests of state modules: real programs, real execution modules, and the result builders of the engine.
import {
  type FunctionInfo,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type RenderRequest,
  type StateContext,
  type StateFunction,
  type StateModule,
  type StateResult,
  type Value,
} from 'halite/sdk';
import { bind, type TestContext, type TestContextOptions, testContext } from '../modules/_testing.ts';

export interface StateTestOptions extends TestContextOptions {
  readonly states: readonly StateModule[];
  readonly test?: boolean;
  readonly low?: PlainDict;
  readonly lowstate?: readonly PlainDict[];
  readonly saltenv?: string;
  readonly sls?: string;
  readonly instanceId?: string;
  /** Execution functions replaced by code of the test. */
  readonly calls?: Readonly<Record<string, (args: readonly Value[], kwargs: PlainDict) => Value | Promise<Value>>>;
}

export type StateTestContext = Omit<TestContext, 'state'> & StateContext;

function functionsOf(modules: readonly StateModule[]): Map<string, StateFunction> {
  const found = new Map<string, StateFunction>();
  for (const module of modules) {
    const name = module.virtualName ?? module.name;
    for (const [key, fn] of Object.entries(module.functions)) found.set(`${name}.${key}`, fn);
    for (const [alias, key] of Object.entries(module.aliases ?? {})) {
      const fn = module.functions[key];
      if (fn) found.set(`${name}.${alias}`, fn);
    }
  }
  return found;
}

/** Result builders as the engine has them. */
function builders(name: string, test: () => boolean) {
  const made = new WeakSet<object>();
  const build = (fields: Record<string, Value | undefined>): StateResult => {
    const result = Object.assign(
      newDict(),
      { name, changes: newDict(), result: true, comment: '' },
      fields,
    ) as StateResult;
    made.add(result);
    return result;
  };
  return {
    ok: (comment: string | string[], extra = {}) => build({ comment, ...extra }),
    fail: (comment: string | string[], extra = {}) => build({ comment, result: false, ...extra }),
    result: (fields: Record<string, Value | undefined>) => build(fields),
    async change(
      changes: Value,
      comment: string | string[],
      plan: Parameters<StateContext['change']>[2],
    ): Promise<StateResult> {
      if (test()) return build({ changes: plan.testChanges ?? changes, comment: plan.test, result: null });
      const done = (await plan.apply()) as StateResult | undefined;
      return done !== null && typeof done === 'object' && made.has(done) ? done : build({ changes, comment });
    },
  };
}

/** Stands for a template engine: `{{ name }}` and `{{ name.key }}` of the given names. */
async function renderNames(text: string, request: RenderRequest = {}): Promise<Value> {
  return text.replace(/\{\{ *([\w.]+) *\}\}/g, (_, path: string) => {
    let value: Value | undefined = request.context as Value;
    for (const key of path.split('.')) value = (value as PlainDict | undefined)?.[key];
    if (value === undefined) throw new Error(`Jinja variable '${path}' is undefined`);
    return pyStr(value);
  });
}

/** A replaced function takes whatever it is given. */
const anyFunction = (name: string): FunctionInfo => ({ name, doc: '', params: { args: p.rest(), kwargs: p.kwargs() } });

/** A context for one state; `run` binds arguments as the engine does. */
export function stateContext(options: StateTestOptions, name: string): StateTestContext {
  const base = testContext(options);
  const functions = functionsOf(options.states);
  const real = base.callWith.bind(base);
  const callWith: StateContext['callWith'] = async (fun, args, kwargs) => {
    const fake = options.calls?.[fun];
    return fake ? fake(args, kwargs) : real(fun, args, kwargs);
  };
  const { functionInfo } = base.registry;
  const registry: StateContext['registry'] = {
    ...base.registry,
    functionInfo: async (kind, fun) =>
      kind === 'modules' && options.calls && fun in options.calls ? anyFunction(fun) : functionInfo(kind, fun),
  };
  const ctx = Object.assign(base, {
    registry,
    test: options.test ?? false,
    render: renderNames,
    callWith,
    call: (fun: string, ...args: Value[]) => callWith(fun, args, newDict()),
    low: options.low ?? newDict(),
    sls: options.sls ?? '',
    stateId: (options.low?.['__id__'] as string | undefined) ?? name,
    saltenv: options.saltenv ?? 'base',
    running: {},
    lowstate: options.lowstate ?? [],
    instanceId: options.instanceId ?? 'test-instance',
    watchedFunction: undefined,
    ...builders(name, () => ctx.test),
    async state(fun: string, kwargs: Record<string, Value | undefined>): Promise<StateResult> {
      const fn = functions.get(fun);
      if (!fn) throw new Error(`no state ${fun}`);
      const given = newDict(Object.entries(kwargs).filter((entry): entry is [string, Value] => entry[1] !== undefined));
      const inner = stateContext({ ...options, test: ctx.test }, String(given['name'] ?? name));
      return (await fn.run(bind(fn as never, [], given) as never, inner)) as unknown as StateResult;
    },
  }) as unknown as StateTestContext;
  return ctx;
}

/** Applies one state function: `apply(options, 'file.absent', { name: '/x' })`. */
export async function apply(
  options: StateTestOptions,
  fun: string,
  kwargs: Record<string, Value>,
): Promise<StateResult> {
  return stateContext(options, String(kwargs['name'] ?? '')).state(fun, kwargs);
}
