// What the states of InfluxDB share: a thing that is there or not, made and removed by functions.
import { isTruthy, newDict, type PlainDict, type StateContext, type StateResult, type Value } from 'halite/sdk';

export interface InfluxResource {
  readonly name: string;
  /** `Database x`, as it begins a sentence. */
  readonly what: string;
  readonly exists: () => Promise<Value>;
  readonly make: () => Promise<Value>;
  readonly planned: string;
}

const changed = (name: string, to: string): PlainDict => newDict([[name, to]]);
const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** Undefined when it is there already. */
export async function ensureMade(thing: InfluxResource, ctx: StateContext): Promise<StateResult | undefined> {
  if (isTruthy(await thing.exists())) return undefined;
  return ctx.change(changed(thing.name, 'Present'), `${thing.what} has been created`, {
    test: thing.planned,
    testChanges: newDict(),
    apply: async () => ((await thing.make()) ? undefined : ctx.fail(`Failed to create ${lower(thing.what)}`)),
  });
}

export async function ensureGone(thing: Omit<InfluxResource, 'planned'>, ctx: StateContext): Promise<StateResult> {
  if (!isTruthy(await thing.exists())) return ctx.ok(`${thing.what} is not present`);
  return ctx.change(changed(thing.name, 'Absent'), `${thing.what} has been removed`, {
    test: `${thing.what} is present and needs to be removed`,
    testChanges: newDict(),
    apply: async () => ((await thing.make()) ? undefined : ctx.fail(`Failed to remove ${lower(thing.what)}`)),
  });
}
