// The context of a state function: the execution context, the chunk, and builders for results.
import { pyStr } from '../../../base/codec/python/index.ts';
import { asText, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import type { ChangePlan, ModuleContext, StateContext, StateExtra, StateResult } from '../../../extend/sdk/index.ts';
import { isHaliteError } from '../../exec/index.ts';
import type { Chunk } from '../data.ts';

export interface StateCall {
  readonly base: ModuleContext;
  readonly low: Chunk;
  readonly test: boolean;
  readonly saltenv: string;
  readonly running: Readonly<Record<string, PlainDict>>;
  readonly lowstate: readonly Chunk[];
  readonly instanceId: string;
  /** Chunks of each requisite, while `mod_watch` runs. */
  readonly requisites: Readonly<Record<string, readonly Chunk[]>>;
  readonly callState: (fun: string, kwargs: PlainDict) => Promise<StateResult>;
}

const built = new WeakSet<object>();

export function createStateContext(call: StateCall): StateContext {
  const { base, low, test } = call;
  const name = pyStr(low['name']);
  const make: Make = (result, comment, extra = {}) => {
    const made = newDict([
      ['name', name],
      ['changes', newDict()],
      ['result', result],
      ['comment', comment],
    ]) as unknown as StateResult;
    for (const [key, value] of Object.entries(extra)) if (value !== undefined) made[key] = value;
    built.add(made);
    return made;
  };
  // The execution context is the prototype: its lazy properties must not be evaluated here.
  const context: StateContext = Object.assign(Object.create(base) as ModuleContext, {
    test,
    low,
    sls: pyStr(low['__sls__'] ?? ''),
    stateId: pyStr(low['__id__'] ?? low['name']),
    saltenv: call.saltenv,
    running: call.running,
    lowstate: call.lowstate,
    instanceId: call.instanceId,
    requisites: call.requisites,
    watchedFunction: asText(low['sfun']),
    ...builders(make, call, () => context),
  });
  return context;
}

type Builders = Pick<StateContext, 'ok' | 'fail' | 'result' | 'change' | 'state'>;
type Make = (result: boolean | null, comment: string | string[], extra?: StateExtra) => StateResult;

function builders(make: Make, call: StateCall, context: () => StateContext): Builders {
  return {
    ok: (comment, extra) => make(true, comment, extra),
    fail: (comment, extra) => make(false, comment, extra),
    result: (fields) => make(true, '', fields),
    change: (changes, comment, plan) => change(context(), changes, comment, plan),
    state: (fun, kwargs) => call.callState(fun, definedOnly(kwargs)),
  };
}

function definedOnly(fields: StateExtra): PlainDict {
  return newDict(Object.entries(fields).filter((entry): entry is [string, Value] => entry[1] !== undefined));
}

async function change(
  context: StateContext,
  changes: PlainDict | Map<Value, Value>,
  comment: string | string[],
  plan: ChangePlan,
): Promise<StateResult> {
  if (context.test) {
    return context.result({ result: null, comment: plan.test, changes: plan.testChanges ?? changes });
  }
  try {
    const made = await plan.apply();
    if (made !== null && typeof made === 'object' && built.has(made)) return made as StateResult;
  } catch (error) {
    if (!isHaliteError(error)) throw error;
    return plan.failed ? plan.failed(error) : context.fail(error.message);
  }
  return context.ok(comment, { changes });
}
