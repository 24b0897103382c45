// Whether a service starts at boot, as `service.enabled`, `service.disabled` and the argument `enable` set it.
import { newDict, type PlainDict, type StateContext, type Value, withForecast } from 'halite/sdk';
import { failureOf, hasFunction, isExpected } from '../shared/calls.ts';

/** Fields that replace those of a result. */
export interface Toggled {
  result?: boolean | null;
  comment?: string;
  changes?: PlainDict;
}

/** true: it runs, false: it does not, null: not relevant. */
export type Started = boolean | null;

export async function isAvailable(name: string, ctx: StateContext): Promise<boolean> {
  if (await hasFunction(ctx, 'service.available')) return Boolean(await ctx.call('service.available', name));
  if (!(await hasFunction(ctx, 'service.get_all'))) return false;
  const all = await ctx.call('service.get_all');
  return Array.isArray(all) && all.includes(name);
}

export const notAvailable = (name: string): string => `The named service ${name} is not available`;

/** Only the arguments that the function accepts: other service managers have fewer. */
async function callWithKnown(fun: string, name: string, kwargs: PlainDict, ctx: StateContext): Promise<Value> {
  const params = (await ctx.registry.functionInfo('modules', fun))?.params ?? {};
  const takesAny = Object.values(params).some((param) => param.kind === 'kwargs');
  const known = Object.entries(kwargs).filter(([key]) => takesAny || key in params);
  return ctx.callWith(fun, [name], newDict(known));
}

const either = (started: Started, running: string, idle: string, dead: string): string =>
  started === true ? running : started === null ? idle : dead;

export async function enableAtBoot(
  name: string,
  started: Started,
  verdict: boolean,
  kwargs: PlainDict,
  ctx: StateContext,
): Promise<Toggled> {
  try {
    if (!(await isAvailable(name, ctx))) return { result: false, comment: notAvailable(name) };
  } catch (error) {
    return { result: false, comment: failureOf(error).message };
  }
  if (!(await hasFunction(ctx, 'service.enable')) || !(await hasFunction(ctx, 'service.enabled'))) {
    const what = either(started, 'started', 'is in the desired state', 'is dead');
    return { result: verdict, comment: `Enable is not available on this minion, service ${name} ${what}` };
  }
  const before = await callWithKnown('service.enabled', name, kwargs, ctx);
  if (before) {
    const what = either(started, 'running', 'in the desired state', 'dead');
    return {
      result: verdict,
      comment: `Service ${name} is already enabled, and is ${what}`,
      ...(started === null ? { changes: newDict() } : {}),
    };
  }
  return withForecast<Toggled>(
    ctx,
    () => ({ result: null, comment: `Service ${name} set to be enabled` }),
    () => enable(name, started, verdict, kwargs, ctx),
  );
}

async function enable(
  name: string,
  started: Started,
  verdict: boolean,
  kwargs: PlainDict,
  ctx: StateContext,
): Promise<Toggled> {
  let problem = '';
  try {
    if (await callWithKnown('service.enable', name, kwargs, ctx)) {
      const after = await callWithKnown('service.enabled', name, kwargs, ctx);
      const comment = `Service ${name} has been enabled, and is ${either(started, 'running', 'in the desired state', 'dead')}`;
      return { result: verdict, comment, changes: after ? newDict([[name, true]]) : newDict() };
    }
  } catch (error) {
    if (!isExpected(error)) throw error;
    problem = `. Additional information follows:\n\n${failureOf(error).message}`;
  }
  const what = either(
    started,
    'but the service is running',
    'but the service was already running',
    'and the service is dead',
  );
  return { result: false, comment: `Failed when setting service ${name} to start at boot, ${what}${problem}` };
}

export async function disableAtBoot(
  name: string,
  started: Started,
  verdict: boolean,
  kwargs: PlainDict,
  ctx: StateContext,
): Promise<Toggled> {
  try {
    if (!(await isAvailable(name, ctx))) return { result: true, comment: notAvailable(name) };
  } catch (error) {
    return { result: false, comment: failureOf(error).message };
  }
  if (!(await hasFunction(ctx, 'service.disable')) || !(await hasFunction(ctx, 'service.disabled'))) {
    const what = either(started, 'started', 'is in the desired state', 'is dead');
    return { result: verdict, comment: `Disable is not available on this minion, service ${name} ${what}` };
  }
  if (await ctx.call('service.disabled', name)) {
    const what = either(started, 'running', 'in the desired state', 'dead');
    return {
      result: verdict,
      comment: `Service ${name} is already disabled, and is ${what}`,
      ...(started === null ? { changes: newDict() } : {}),
    };
  }
  return withForecast<Toggled>(
    ctx,
    () => ({ result: null, comment: `Service ${name} set to be disabled` }),
    async () => {
      if (await callWithKnown('service.disable', name, kwargs, ctx)) {
        const after = await ctx.call('service.disabled', name);
        const comment = `Service ${name} has been disabled, and is ${either(started, 'running', 'in the desired state', 'dead')}`;
        return { result: verdict, comment, changes: after ? newDict([[name, true]]) : newDict() };
      }
      const what = either(started, 'and is running', 'but the service was already running', 'and the service is dead');
      return { result: false, comment: `Failed when setting service ${name} to not start at boot, ${what}` };
    },
  );
}
